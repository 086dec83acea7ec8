/** A primary that Sentinel watches, behind the console: it goes on with the new one when the old one dies. */
import { open } from "cinnabar";
import { expect, test } from "vitest";
import { installed, startSentinel } from "../../toolkit/tests/kit/servers.ts";
import { serve } from "./support.ts";

const HAS = installed("redis-server") && installed("redis-sentinel") && installed("redis-cli");

test.skipIf(!HAS)(
  "the console follows a failover by itself",
  async () => {
    const servers = await startSentinel();
    const store = await open(servers.url, { retryMs: 500 });
    const served = await serve(store, { backend: "sentinel" });
    try {
      const info = (await served.get("/api/info")).body;
      expect(info.topology).toBe("sentinel");
      expect(info.nodes).toHaveLength(1);
      await served.send("POST", "/api/command", { words: ["SET", "key", "value"] });
      expect(await store.call("WAIT", 2, 5_000)).toBe(2);
      await servers.primary.kill();
      const ask = async () => {
        const { status, body } = await served.get("/api/key?key=key");
        return status === 200 ? body.rows : status;
      };
      await expect.poll(ask, { timeout: 60_000, interval: 100 }).toEqual([["value"]]);
      const write = async () =>
        (await served.send("POST", "/api/command", { words: ["SET", "key", "after"] })).body.value;
      await expect.poll(write, { timeout: 60_000, interval: 100 }).toBe("OK");
      expect((await served.get("/api/key?key=key")).body.rows).toEqual([["after"]]);
    } finally {
      await served.console.close();
      await store.close();
      await servers.stop();
    }
  },
  120_000,
);
