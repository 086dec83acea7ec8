/**
 * Replicas that are slow, and copies that break off: the primary goes on serving within its memory limits, and the replica is
 * there again afterwards with everything. (Links that stall or go silent are in silence.test.ts.)
 */
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { redisAvailable } from "../conformance/redis-server.ts";
import { Bystander } from "./bystander.ts";
import { compare } from "./content.ts";
import { Link } from "./link.ts";
import { caughtUp, figures, follow, linkUp, PATIENCE_MS, type Server, startAll, stopAll, until } from "./servers.ts";

vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });

const MB = 1024 * 1024;

afterEach(stopAll);

/** What the process holds in memory, by the system's account. */
function residentMb(pid: number): number {
  const kb = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kb) / 1024;
}

const connected = (primary: Server): Promise<number> => primary.number("connected_slaves");

/** Values of 100 kB, the same few keys again and again: much to replicate, little to keep. */
async function overwrite(server: Server, megabytes: number, each: () => void | Promise<void>): Promise<void> {
  const wire = await server.wire();
  for (let i = 0; i < megabytes * 10; i += 10) {
    const commands = Array.from({ length: 10 }, (_, j) => ["SET", `big:${j}`, `${i + j}`.padEnd(100_000, "x")]);
    const answers = await wire.pipeline(commands);
    expect(answers.every((answer) => answer.text === "OK")).toBe(true);
    await each();
  }
  await wire.close();
}

const LIMITS = {
  "client-output-buffer-limit": "replica 8mb 4mb 60",
  "repl-backlog-size": "1mb",
  "repl-timeout": "60",
};

describe.each([["ours"], ["redis"]] as const)("a replica (%s) that is too slow", (kind) => {
  const skip = kind === "redis" && !redisAvailable();

  it.skipIf(skip)(
    "is dropped at the limit: the primary's memory stays within it, and the replica comes back",
    async () => {
      const [primary, replica] = (await startAll(["ours", kind], LIMITS)) as [Server, Server];
      const link = await Link.to(primary);
      await follow(replica, link.port);
      // What the process needs for the work itself has been needed before it is measured.
      await overwrite(primary, 40, () => {});
      await caughtUp(primary, replica);
      const [before, made] = [residentMb(primary.pid), link.made];
      let [most, waiting, buffered, dropped] = [0, 0, 0, false];
      link.throttle(200_000);
      const bystander = new Bystander(primary);
      await overwrite(primary, 200, async () => {
        const info = await primary.info();
        waiting = Math.max(waiting, Number(info.mem_clients_slaves));
        buffered = Math.max(buffered, Number(info.mem_total_replication_buffers));
        dropped ||= info.connected_slaves === "0";
        most = Math.max(most, residentMb(primary.pid));
      });
      const seen = await bystander.stop();
      link.restore();
      await caughtUp(primary, replica);
      expect(dropped || link.made > made).toBe(true);
      expect(primary.log).toMatch(/output[- ]buffer[- ]limit/i);
      // A batch of a megabyte may come on top before anybody looks.
      expect(waiting).toBeLessThan(10 * MB);
      expect(buffered).toBeLessThan(12 * MB);
      expect(most - before).toBeLessThan(100);
      expect(await primary.number("sync_full")).toBeGreaterThan(1);
      expect((await compare(primary, replica)).differences).toEqual([]);
      figures(`slow ${kind}`, {
        "written MB": 200,
        "waiting at most MB": waiting / MB,
        "with the backlog MB": buffered / MB,
        "memory grown MB": most - before,
        connections: link.made,
        ...seen,
      });
    },
  );
});

/** So that a snapshot is as long as what is in it. */
const UNPACKED = { rdbcompression: "no" };

describe("a full resynchronisation", () => {
  it("that breaks off halfway is begun again", async () => {
    const [primary, replica] = (await startAll(["ours", "ours"], { "repl-timeout": "2", ...UNPACKED })) as [
      Server,
      Server,
    ];
    await primary.ask("EVAL", "for i = 1, 3000 do redis.call('SET', 'k' .. i, string.rep(i, 400)) end", "0");
    await replica.ask("SET", "of a former life", "yes");
    const link = await Link.to(primary);
    link.throttle(300_000);
    await replica.ask("REPLICAOF", "127.0.0.1", String(link.port));
    await until("the transfer has begun", () => link.bytesBack > 200_000);
    link.cut();
    await until("it has begun again", () => link.bytesBack > 500_000);
    expect((await replica.info()).master_link_status).toBe("down");
    const made = link.made;
    link.swallow();
    await until("the silence is noticed", () => link.made > made);
    link.restore();
    await linkUp(replica);
    await caughtUp(primary, replica);
    expect((await compare(primary, replica)).differences).toEqual([]);
    await until("the primary has dropped the dead ones", async () => (await connected(primary)) === 1);
  });

  it("holds what is written meanwhile, and serves writers and readers at both ends", async () => {
    const [primary, replica] = (await startAll(["ours", "ours"], UNPACKED)) as [Server, Server];
    await primary.ask("EVAL", "for i = 1, 2000 do redis.call('SET', 'k' .. i, string.rep(i, 400)) end", "0");
    const link = await Link.to(primary);
    await replica.ask("SET", "of a former life", "yes");
    link.throttle(1_500_000);
    await replica.ask("REPLICAOF", "127.0.0.1", String(link.port));
    await until("the transfer has begun", () => link.bytesBack > 200_000);
    const bystander = new Bystander(primary);
    for (let i = 0; i < 200; i++) await primary.ask("RPUSH", "meanwhile", String(i));
    expect(await replica.ask("PING")).toBe("PONG");
    await linkUp(replica);
    await bystander.stop();
    await caughtUp(primary, replica);
    expect(await replica.ask("LLEN", "meanwhile")).toBe("200");
    expect((await compare(primary, replica)).differences).toEqual([]);
    expect(await primary.number("sync_full")).toBe(1);
  });

  it("to a slow replica does not pile up in the primary, nor does what is written meanwhile", async () => {
    const [primary, replica] = (await startAll(["ours", "ours"], { ...LIMITS, ...UNPACKED })) as [Server, Server];
    // 60 MB, of which nothing is like the other; nothing is packed anyway.
    const FILL = "for i = 1, 6000 do redis.call('SET', 'k' .. i, string.rep(ARGV[1] .. i, 1000)) end";
    await primary.ask("EVAL", FILL, "0", "first");
    await primary.ask("EVAL", FILL, "0", "again");
    const link = await Link.to(primary);
    link.throttle(2_000_000);
    const before = residentMb(primary.pid);
    let most = 0;
    const bystander = new Bystander(primary);
    await replica.ask("REPLICAOF", "127.0.0.1", String(link.port));
    await until("a part has gone through", () => {
      most = Math.max(most, residentMb(primary.pid));
      return link.bytesBack > 3_000_000;
    });
    const quiet = most - before;
    expect(quiet).toBeLessThan(60);
    const wire = await primary.wire();
    for (let i = 1; i <= 6000; i += 10) {
      await wire.pipeline(Array.from({ length: 10 }, (_, j) => ["SET", `k${i + j}`, `${i}`.padEnd(10_000, "z")]));
      most = Math.max(most, residentMb(primary.pid));
    }
    await wire.close();
    const seen = await bystander.stop();
    expect(most - before).toBeLessThan(150);
    link.restore();
    await linkUp(replica);
    await caughtUp(primary, replica);
    expect((await compare(primary, replica)).differences.slice(0, 5)).toEqual([]);
    figures("slow copy of 60 MB", {
      "memory grown MB": quiet,
      "and with 60 MB written meanwhile": most - before,
      connections: link.made,
      ...seen,
    });
  });
});
