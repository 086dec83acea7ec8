/** Details of the protocol that only some configurations of a real Redis, or some tools, bring out. */
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { redisAvailable } from "../conformance/redis-server.ts";
import { compare, shortLivedGone } from "./content.ts";
import { Load } from "./load.ts";
import { caughtUp, type Directives, follow, linkUp, PATIENCE_MS, Server, startAll, stopAll, until } from "./servers.ts";

vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });

afterEach(stopAll);

async function filled(server: Server, seed: number): Promise<void> {
  const load = await Load.start(server, { seed });
  await load.goesOn(60);
  await load.stop();
}

async function expectSame(primary: Server, replica: Server): Promise<void> {
  await shortLivedGone(primary);
  await caughtUp(primary, replica);
  expect((await compare(primary, replica)).differences.slice(0, 5)).toEqual([]);
}

async function pair(
  from: "ours" | "redis",
  to: "ours" | "redis",
  first: Directives,
  second: Directives,
): Promise<[Server, Server]> {
  return Promise.all([Server.start(from, first), Server.start(to, second)]);
}

describe.skipIf(!redisAvailable())("with a real Redis", () => {
  it("a snapshot of a real primary arrives, of known length from its disk, and of unknown length without", async () => {
    const [primary, replica] = await pair("redis", "ours", {}, {});
    await filled(primary, 7);
    for (const diskless of ["no", "yes"]) {
      await primary.ask("CONFIG", "SET", "repl-diskless-sync", diskless);
      await replica.ask("SET", "of a former life", "yes");
      await follow(replica, primary.port);
      await expectSame(primary, replica);
      await replica.ask("REPLICAOF", "NO", "ONE");
    }
    expect(await primary.number("sync_full")).toBe(2);
  });

  it("our snapshot is taken by a real replica, however it loads it (repl-diskless-load)", async () => {
    const [primary, replica] = await pair("ours", "redis", {}, {});
    await filled(primary, 8);
    for (const load of ["disabled", "on-empty-db", "swapdb"]) {
      await replica.ask("FLUSHALL");
      if (load === "swapdb") await replica.ask("SET", "of a former life", "yes");
      await replica.ask("CONFIG", "SET", "repl-diskless-load", load);
      await follow(replica, primary.port);
      await expectSame(primary, replica);
      await replica.ask("REPLICAOF", "NO", "ONE");
    }
  });

  it.each([
    ["ours", "redis"],
    ["redis", "ours"],
  ] as const)("%s → %s with a password: refused without it, followed with it", async (from, to) => {
    const [primary, replica] = await pair(from, to, { requirepass: "secret" }, { masterauth: "wrong" });
    await primary.call("AUTH", "secret");
    await primary.ask("SET", "k", "v");
    await replica.ask("REPLICAOF", "127.0.0.1", String(primary.port));
    await until("it has been refused", () => /WRONGPASS|invalid password|Unable to AUTH/i.test(replica.log));
    expect((await replica.info()).master_link_status).toBe("down");
    await replica.ask("CONFIG", "SET", "masterauth", "secret");
    await linkUp(replica);
    expect(await replica.ask("GET", "k")).toBe("v");
  });

  it.each([
    ["ours", "redis"],
    ["redis", "ours"],
    ["ours", "ours"],
  ] as const)("%s → %s as a user who may do nothing but follow", async (from, to) => {
    const [primary, replica] = await pair(from, to, {}, { masteruser: "follower", masterauth: "secret" });
    await primary.ask("ACL", "SETUSER", "follower", "on", ">secret", "+psync", "+replconf", "+ping");
    await primary.ask("SET", "k", "v");
    await follow(replica, primary.port);
    await primary.ask("EVAL", "return redis.call('SET', KEYS[1], 'v')", "1", "k2");
    await caughtUp(primary, replica);
    expect(await replica.ask("GET", "k2")).toBe("v");
    // What the primary sends is obeyed whatever users may do here.
    await replica.ask("ACL", "SETUSER", "default", "-set");
    await primary.ask("SET", "k", "w");
    await caughtUp(primary, replica);
    expect(await replica.ask("GET", "k")).toBe("w");
    expect(await primary.ask("CLIENT", "LIST")).toMatch(/cmd=replconf user=follower/);
    expect(await replica.ask("CLIENT", "LIST")).toMatch(/flags=M .*user=\(superuser\)/);
    await primary.ask("ACL", "SETUSER", "follower", "-psync");
    await primary.ask("CLIENT", "KILL", "TYPE", "replica");
    await until("it is refused", () => /NOPERM .* run the 'psync' command/.test(replica.log));
  });
});

describe("configuration", () => {
  it("follows from the start as the file says, also a primary that is not there yet", async () => {
    const primary = await Server.start("ours", { "replica-announced": "yes" });
    await primary.ask("SET", "k", "v");
    const replica = await Server.start("ours", {
      replicaof: `127.0.0.1 ${primary.port}`,
      "replica-priority": "42",
      "replica-announce-ip": "10.1.2.3",
      "replica-announce-port": "7777",
    });
    await linkUp(replica);
    expect(await replica.ask("GET", "k")).toBe("v");
    expect((await replica.info()).slave_priority).toBe("42");
    expect((await primary.info()).slave0).toMatch(/^ip=10\.1\.2\.3,port=7777,/);
    await primary.kill();
    await until("the link is down", async () => (await replica.info()).master_link_status === "down");
    await primary.restart();
    await primary.ask("SET", "k", "after the restart");
    await linkUp(replica);
    await caughtUp(primary, replica);
    expect(await replica.ask("GET", "k")).toBe("after the restart");
  });

  it("is rewritten by CONFIG REWRITE: a replica that restarts is a replica, a promoted one a primary", async () => {
    const [primary, replica] = (await startAll(["ours", "ours"])) as [Server, Server];
    await follow(replica, primary.port);
    await replica.ask("CONFIG", "REWRITE");
    await replica.restart();
    await linkUp(replica);
    await replica.ask("REPLICAOF", "NO", "ONE");
    await replica.ask("CONFIG", "REWRITE");
    await replica.restart();
    expect((await replica.info()).role).toBe("master");
  });
});

describe.skipIf(spawnSync("redis-cli", ["--version"]).error !== undefined)("redis-cli", () => {
  it("--rdb fetches a snapshot that redis-check-rdb finds whole", async () => {
    const server = await Server.start("ours");
    await filled(server, 9);
    const file = join(server.folder, "fetched.rdb");
    const run = spawnSync("redis-cli", ["-p", String(server.port), "--rdb", file], {
      encoding: "utf8",
      timeout: 20_000,
    });
    expect(run.stderr + run.stdout).toMatch(/Transfer finished with success/);
    const check = spawnSync("redis-check-rdb", [file], { encoding: "utf8", timeout: 20_000 });
    expect(check.stdout).toContain("RDB looks OK!");
    expect(check.status).toBe(0);
  });

  it("--replica shows the stream of effects", async () => {
    const server = await Server.start("ours");
    const cli = spawn("redis-cli", ["-p", String(server.port), "--replica"], { stdio: ["ignore", "pipe", "pipe"] });
    try {
      let shown = "";
      cli.stdout.on("data", (chunk: Buffer) => (shown += chunk));
      cli.stderr.on("data", (chunk: Buffer) => (shown += chunk));
      await until("it has the snapshot", () => /SYNC done|Logging commands/i.test(shown));
      await server.ask("SADD", "set", "only");
      await server.ask("SPOP", "set");
      await server.ask("SET", "k", "v", "EX", "100");
      await until("it has been told", () => /"PXAT"/i.test(shown), { state: async () => shown });
      expect(shown).toMatch(/"SREM","set","only"|"DEL","set"|"UNLINK","set"/i);
    } finally {
      cli.kill("SIGKILL");
    }
  });
});
