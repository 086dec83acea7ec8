/** `--read-only`: whatever could change the store is refused by the server, and looking changes nothing. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { ROUTES } from "../src/routes.ts";
import { type Backend, backends, type Served, serve } from "./support.ts";

const ACTING = ROUTES.filter(({ method, reads, commandsOf }) => method !== "GET" && !reads && commandsOf === undefined);

describe.each(backends(installed("redis-server") ? startRedis : undefined))(
  "a read-only console on %s",
  (_name, start) => {
    let backend: Backend;
    let served: Served;
    const run = (...words: string[]) => served.send("POST", "/api/command", { words, confirm: true });
    const stateOf = async () =>
      JSON.stringify([await backend.store.call("DBSIZE"), await backend.store.call("HGETALL", "h")]);

    beforeAll(async () => {
      backend = await start();
      await backend.store.call("HSET", "h", "field", "value");
      served = await serve(backend.store, { readOnly: true });
    });
    afterAll(async () => {
      await served?.console.close();
      await backend?.stop();
    });

    test("refuses every route that acts", async () => {
      const before = await stateOf();
      for (const { method, url } of ACTING) {
        const path = url.replace(/:\w+/g, "1");
        const { status, body } = await served.send(method, path, {});
        // What its schema does not let in does not reach the route at all; examples are not there.
        expect([400, 403, 404], `${method} ${url}`).toContain(status);
        if (status === 403) expect(body.code).toBe("READ_ONLY");
      }
      const { status, body } = await served.send("POST", "/api/keys/delete", { keys: ["h"] });
      expect([status, body.code]).toEqual([403, "READ_ONLY"]);
      expect(
        (await served.send("PUT", "/api/key", { key: "h", action: "setField", field: "a", value: "b" })).status,
      ).toBe(403);
      expect(await stateOf()).toBe(before);
    });

    test.each([
      [["HGETALL", "h"]],
      [["memory", "usage", "h"]],
      [["OBJECT", "ENCODING", "h"]],
      [["INFO", "server"]],
      [["PING"]],
      [["CONFIG", "GET", "maxmemory"]],
      [["EVAL_RO", "return redis.call('EXISTS', KEYS[1])", "1", "h"]],
    ])("runs %j", async (words) => {
      expect(await run(...words)).toMatchObject({ status: 200 });
    });

    test.each([
      [["SET", "k", "v"]],
      [["hset", "h", "a", "b"]],
      [["DEL", "h"]],
      [["FLUSHALL"]],
      [["CONFIG", "SET", "maxmemory", "1mb"]],
      [["CLIENT", "KILL", "ID", "1"]],
      [["EVAL", "return redis.call('DEL', KEYS[1])", "1", "h"]],
      [["FUNCTION", "FLUSH"]],
      [["SCRIPT", "FLUSH"]],
      [["SORT", "h", "STORE", "other"]],
      [["PUBLISH", "channel", "message"]],
      [["NOSUCH"]],
      [["get|x"]],
    ])("does not run %j", async (words) => {
      const before = await stateOf();
      expect(await run(...words)).toMatchObject({ status: 403, body: { code: "READ_ONLY" } });
      expect(await stateOf()).toBe(before);
    });

    test("says that it is read-only, and lists no examples", async () => {
      expect((await served.get("/api/session")).body).toMatchObject({ readOnly: true });
      expect((await served.get("/api/examples")).status).toBe(404);
      expect((await served.get("/api/openapi.json")).body.paths).not.toHaveProperty("/api/examples");
    });

    test("keys are scanned, analysed and exported, but neither changed nor imported", async () => {
      const before = await stateOf();
      const survey = await served.send("POST", "/api/surveys", { separator: ":" });
      expect(survey.status).toBe(200);
      await expect
        .poll(async () => (await served.get(`/api/surveys/${survey.body.id}`)).body)
        .toMatchObject({ state: "done", matched: 1 });
      const file = await served.send("POST", "/api/exports", { format: "jsonl", selection: { keys: ["h"] } });
      expect((await served.get(`/api/exports/${file.body.id}/file`)).body).toContain('"key":"h"');
      const selection = { filter: { match: "*" } };
      const rename = { selection, from: "*", to: "x:*" };
      expect((await served.send("POST", "/api/keys/rename-preview", rename)).status).toBe(200);
      for (const action of ["delete", "expire", "persist", "rename"]) {
        const { status, body } = await served.send("POST", "/api/keys/bulk", { ...rename, action, ttlMs: 1 });
        expect([status, body.code], action).toEqual([403, "READ_ONLY"]);
      }
      const imported = await fetch(`${served.url}/api/imports?format=commands&existing=replace`, {
        method: "POST",
        headers: { "x-cinnabar": "1", "content-type": "application/octet-stream" },
        body: "DEL h",
      });
      expect(imported.status).toBe(403);
      const group = { key: "h", group: "g", action: "create" };
      expect((await served.send("POST", "/api/key/groups", group)).status).toBe(403);
      expect(await stateOf()).toBe(before);
    });

    test("every page can be looked at", async () => {
      const before = await stateOf();
      for (const path of [
        "info",
        "keys",
        "key?key=h",
        "slowlog",
        "clients",
        "config",
        "persistence",
        "queues",
        "locks",
        "elections",
        "topics",
        "components",
        "pubsub",
        "commandstats",
        "latency",
        "keyspace-events",
        "caches",
      ]) {
        expect((await served.get(`/api/${path}`)).status, path).toBe(200);
      }
      expect(await stateOf()).toBe(before);
    });
  },
);
