/** The backends themselves: each is what it says, is empty for each test, and notices scripts that touch undeclared keys. */
import { expect, test } from "vitest";
import { defineScript } from "../../src/base/script.ts";
import { KeyAudit } from "./audit.ts";
import { describeBackends } from "./index.ts";

describeBackends("a backend", (backend) => {
  test("has the topology that its name says", () => {
    const expected = {
      embedded: "embedded",
      tcp: "single",
      redis: "single",
      cluster: "cluster",
      "embedded-cluster": "cluster",
      sentinel: "sentinel",
    };
    expect(backend.store.topology).toBe(expected[backend.name]);
  });

  test("takes a key that the next test must not see", async () => {
    expect(await backend.store.call("SET", "left", "over")).toBe("OK");
  });

  test("is empty at the beginning of each test", async () => {
    expect(await backend.store.call("GET", "left")).toBeNull();
  });

  test("opens further stores that see the same data", async () => {
    const other = await backend.open();
    await backend.store.call("SET", "seen", "by all");
    expect(await other.call("GET", "seen")).toBe("by all");
    await other.close();
    expect(await backend.store.call("GET", "seen")).toBe("by all");
  });
});

describeBackends("the audit of keys", { backends: ["redis"], audit: false }, (backend) => {
  const honest = defineScript({ name: "honest", keys: ["a"], lua: `return redis.call("SET", a, 1)` });
  const sly = defineScript({ name: "sly", keys: ["a"], lua: `return redis.call("MGET", a, a .. ":ü")` });

  test("finds nothing when keys are declared", async () => {
    const audit = await KeyAudit.begin(backend.ports[0]!);
    await backend.store.run(honest, { a: "k" });
    expect(await audit.end()).toEqual([]);
  });

  test("names the command and the key that was not declared", async () => {
    const audit = await KeyAudit.begin(backend.ports[0]!);
    await backend.store.run(sly, { a: "k" });
    expect(await audit.end()).toEqual([`MGET ${Buffer.from("k:ü").toString("latin1")}`]);
  });
});
