/** The end of the server: signals, SHUTDOWN, what is called off and what fails. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Peer } from "../../tests/kit/test-peer.ts";
import { EmbeddedEngine } from "../embed/embedded.ts";
import type { LocalClient } from "../embed/local-client.ts";
import { infoText } from "../observe/info.ts";
import { Shutdown } from "./shutdown.ts";

let dir: string;
let engine: EmbeddedEngine;
let client: LocalClient;
let shutdown: Shutdown;
let cleanedUp = false;
let log: string[];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "cinnabar-shutdown-"));
  engine = await EmbeddedEngine.open({ config: { dir, save: "3600 1", "repl-diskless-sync-delay": "0" } });
  engine.core.persistence.active = true;
  log = [];
  engine.core.log = (_level, text) => void log.push(text);
  cleanedUp = false;
  shutdown = new Shutdown(engine, () => {
    cleanedUp = true;
  });
  client = engine.connect();
  await client.call("SET", "k", "v");
});
afterEach(async () => {
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A replica that takes nothing more, and lacks something. */
async function laggingReplica(): Promise<EmbeddedEngine> {
  const { port } = await engine.listen({ port: 0 });
  const replica = await EmbeddedEngine.open();
  await replica.replicaOf("127.0.0.1", port);
  await engine.waitForReplicas(0);
  client.callSync("SET", "k", "w");
  return replica;
}

it("a signal ends it with the next housekeeping", async () => {
  shutdown.signal("SIGTERM");
  expect(cleanedUp).toBe(false);
  engine.core.tick();
  // The snapshot is written with the event loop alive.
  expect(await shutdown.begin({ save: undefined, now: false, force: false })).toBe(true);
  expect(cleanedUp).toBe(true);
  expect(existsSync(join(dir, "dump.rdb"))).toBe(true);
  await engine.close();
  expect(log).toContain("Received SIGTERM scheduling shutdown...");
  expect(log).toContain("User requested shutdown...");
  expect(log.at(-1)).toBe("Cinnabar is now ready to exit, bye bye...");
});

it("SHUTDOWN ABORT calls a signal off", async () => {
  engine.core.cronPaused = true;
  shutdown.signal("SIGTERM");
  expect(await client.call("SHUTDOWN", "ABORT")).toBe("OK");
  expect(log).toContain("Shutdown manually aborted.");
  engine.core.cronPaused = false;
  engine.core.tick();
  expect(cleanedUp).toBe(false);
  await expect(client.call("SHUTDOWN", "ABORT")).rejects.toThrow("No shutdown in progress");
});

it("goes on where the snapshot cannot be saved, unless it is forced", async () => {
  mkdirSync(join(dir, "dump.rdb"));
  await expect(client.call("SHUTDOWN")).rejects.toThrow("Errors trying to SHUTDOWN. Check logs.");
  expect(log).toContain("Error trying to save the DB, can't exit.");
  expect(log).toContain("Errors trying to shut down the server. Check the logs for more information.");
  expect(await client.call("PING")).toBe("PONG");
  shutdown.signal("SIGINT");
  engine.core.tick();
  expect(await shutdown.begin({ save: undefined, now: false, force: true })).toBe(false);
  expect(cleanedUp).toBe(false);
  expect(readdirSync(dir)).toEqual(["dump.rdb"]);
  expect(await shutdown.begin({ save: undefined, now: false, force: true })).toBe(true);
  expect(log).toContain("Error trying to save the DB. Exit anyway.");
  expect(cleanedUp).toBe(true);
});

it("waits for replicas once for all who ask, says so, and gives them one outcome", async () => {
  const replica = await laggingReplica();
  const asked = [engine.connect(), engine.connect()].map((one) => one.call("SHUTDOWN").catch((error) => String(error)));
  expect(infoText(engine.core, ["server"])).toMatch(/shutdown_in_milliseconds:\d+\r\n/);
  expect(infoText(engine.core, ["clients"])).toContain("blocked_clients:2");
  expect(client.callSync("SHUTDOWN", "ABORT")).toBe("OK");
  for (const outcome of await Promise.all(asked)) expect(outcome).toContain("Errors trying to SHUTDOWN");
  expect(infoText(engine.core, ["server"])).not.toContain("shutdown_in_milliseconds");
  // Writers go on.
  expect(await client.call("SET", "k", "x")).toBe("OK");
  await replica.close();
});

it("says who had everything at the end", async () => {
  const replica = await laggingReplica();
  const outcome = shutdown.begin({ save: false, now: false, force: false });
  expect(await outcome).toBe(true);
  expect(log).toContain("Waiting for replicas before shutting down.");
  expect(log).toContain("1 of 1 replicas are in sync when shutting down.");
  await replica.close();
});

it("ends when shutdown-timeout is over although a replica lags, and says so in INFO until then", async () => {
  const { port } = await engine.listen({ port: 0 });
  // It takes the snapshot, and never says again how far it is.
  const silent = new Peer(port).write("REPLCONF listening-port 7777 capa eof capa psync2\r\n");
  await silent.take(5);
  silent.write("PSYNC ? -1\r\n");
  await silent.until(() => silent.received.includes("REDIS0"));
  silent.write("REPLCONF ACK 0\r\n");
  const { replicas } = engine.core.replication;
  await expect.poll(() => [...replicas].map(({ state }) => state)).toEqual(["online"]);
  await client.call("CONFIG", "SET", "shutdown-timeout", "1");
  client.callSync("SET", "k", "w");
  const begun = performance.now();
  const outcome = shutdown.begin({ save: false, now: false, force: false });
  const [, left] = /shutdown_in_milliseconds:(\d+)\r\n/.exec(infoText(engine.core, ["server"])) ?? [];
  expect(Number(left)).toBeGreaterThan(0);
  expect(Number(left)).toBeLessThanOrEqual(1000);
  // Nobody writes meanwhile.
  const late = engine
    .connect()
    .call("SET", "k", "late")
    .catch((error) => String(error));
  expect(await outcome).toBe(true);
  expect(performance.now() - begun).toBeGreaterThanOrEqual(999);
  expect(log).toContain("Waiting for replicas before shutting down.");
  expect(log.join("\n")).toMatch(
    /Lagging replica 127\.0\.0\.1:7777 reported offset \d+ behind master, lag=\d+, state=online\./,
  );
  expect(log).toContain("0 of 1 replicas are in sync when shutting down.");
  silent.socket.destroy();
  await engine.close();
  expect(await late).not.toBe("OK");
});

it("SHUTDOWN NOW names those that lag", async () => {
  const replica = await laggingReplica();
  expect(shutdown.begin({ save: false, now: true, force: false })).toBe(true);
  expect(log.join("\n")).toMatch(
    /Lagging replica 127\.0\.0\.1:\d+ reported offset \d+ behind master, lag=\d+, state=online\./,
  );
  expect(log).toContain("0 of 1 replicas are in sync when shutting down.");
  await replica.close();
});

it("does not end while the append-only file has nothing in it yet", async () => {
  await client.call("CONFIG", "SET", "rdb-key-save-delay", "30000000");
  await client.call("CONFIG", "SET", "appendonly", "yes");
  expect(shutdown.begin({ save: false, now: false, force: false })).toBe(false);
  expect(log).toContain("Writing initial AOF, can't exit.");
  expect(shutdown.begin({ save: false, now: false, force: true })).toBe(true);
});
