/** A Cluster behind the console: one list of keys, figures that are sums. */
import parse from "parse-prometheus-text-format";
import { expect, test } from "vitest";
import { describeBackends } from "../../toolkit/tests/kit/index.ts";
import { serve } from "./support.ts";

describeBackends("the console", { backends: ["cluster"], audit: false }, (backend) => {
  test("lists the keys of all nodes, each once, and shows and edits them", async () => {
    for (let nth = 0; nth < 60; nth++) await backend.store.call("SET", `key:${nth}`, nth);
    const served = await serve(backend.store);
    try {
      const seen: string[] = [];
      let cursor = "0";
      do {
        const { body } = await served.get(`/api/keys?count=10&cursor=${encodeURIComponent(cursor)}`);
        for (const { key, type } of body.keys) {
          expect(type).toBe("string");
          seen.push(key);
        }
        cursor = body.cursor;
      } while (cursor !== "0");
      expect(new Set(seen).size).toBe(60);
      expect((await served.get("/api/info")).body.nodes).toHaveLength(3);
      const { circuits } = (await served.get("/api/circuits")).body;
      expect(circuits).toHaveLength(3);
      for (const circuit of circuits) {
        expect(circuit).toEqual({
          server: expect.stringMatching(/:\d+$/),
          state: "closed",
          failures: 0,
          openForMs: 0,
          error: null,
        });
      }
      expect((await served.get("/api/key?key=key:7")).body.rows).toEqual([["7"]]);
      await served.send("PUT", "/api/key", { key: "key:7", action: "set", value: "seven" });
      expect((await served.send("POST", "/api/command", { words: ["GET", "key:7"] })).body.value).toBe("seven");
      expect((await served.send("POST", "/api/keys/delete", { keys: ["key:1", "key:2", "key:3"] })).body.removed).toBe(
        3,
      );
      await served.console.live.sample();
      await expect.poll(() => served.console.live.history(1).at(-1)?.keys, { timeout: 10_000 }).toBe(57);
      const { id } = (await served.send("POST", "/api/surveys", { separator: ":" })).body;
      const survey = async () => (await served.get(`/api/surveys/${id}`)).body;
      await expect.poll(survey).toMatchObject({ state: "done", done: 57, total: 57, matched: 57 });
      const selection = { filter: { match: "key:1*" } };
      const rename = { action: "rename", selection, from: "key:*", to: "other:*" };
      const bulk = (await served.send("POST", "/api/keys/bulk", rename)).body;
      const state = async () => (await served.get(`/api/keys/bulk/${bulk.id}`)).body;
      await expect.poll(async () => (await state()).state).toBe("done");
      // A new name may belong to another node: then the key keeps its name, and the reason is told.
      const { changed, failed, failures } = await state();
      expect(changed + failed).toBe(10);
      for (const { reason } of failures) expect(reason).toMatch(/slot/i);
    } finally {
      await served.console.close();
    }
  });

  test("has metrics of every primary, told apart by its address", async () => {
    const served = await serve(backend.store);
    try {
      const families = parse(await (await fetch(`${served.url}/metrics`)).text());
      const up = families.find(({ name }) => name === "redis_up")?.metrics ?? [];
      expect(up.map(({ value }) => value)).toEqual(["1", "1", "1"]);
      const nodes = new Set(up.map(({ labels }) => labels?.node));
      expect(nodes).toEqual(new Set(backend.store.servers().map(({ server }) => server)));
      expect((await fetch(`${served.url}/readyz`)).status).toBe(200);
    } finally {
      await served.console.close();
    }
  });
});
