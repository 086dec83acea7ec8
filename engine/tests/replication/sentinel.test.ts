/**
 * Three real redis-sentinels watch a primary and two replicas. The primary is killed with -9 under load; a client that
 * follows Sentinel (ioredis) goes on at the new one; the old one comes back as a replica. Prints the time without a primary
 * and the writes lost, of which none may be one that WAIT had confirmed.
 *
 * Confirmed means by both replicas: Sentinel promotes the one that, as far as it has heard, has most, so only what both have
 * is sure to be there.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, describe, expect, it, vi } from "vitest";
import { full } from "../../../scripts/full.ts";
import { systemClock } from "../../src/core/clock.ts";
import { freePort, realProgram, redisAvailable } from "../conformance/redis-server.ts";
import { openWire } from "../conformance/target.ts";
import type { Wire } from "../conformance/wire.ts";
import { compare } from "./content.ts";
import { Link } from "./link.ts";
import {
  caughtUp,
  figures,
  fileOf,
  follow,
  type Kind,
  PATIENCE_MS,
  Process,
  pause,
  type Server,
  startAll,
  stopAll,
  stopLater,
  until,
} from "./servers.ts";

vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });

const available = redisAvailable() && spawnSync(realProgram("sentinel"), ["--version"]).error === undefined;
if (!available) console.warn("skipped: redis-sentinel is not installed (node scripts/ensure-redis.js)");

afterAll(stopAll);

class Sentinel {
  readonly port: number;
  readonly #folder: string;
  readonly #process: Process;
  #wire: Wire | null = null;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
    this.#process = new Process("sentinel", folder, join(folder, "sentinel.conf"));
  }

  static async watch(primary: number): Promise<Sentinel> {
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), "cinnabar-sentinel-"));
    const file = fileOf({
      port: String(port),
      bind: "127.0.0.1",
      dir: folder,
      "sentinel monitor": `main 127.0.0.1 ${primary} 2`,
      "sentinel down-after-milliseconds": "main 1500",
      "sentinel failover-timeout": "main 6000",
      "sentinel parallel-syncs": "main 2",
    });
    writeFileSync(join(folder, "sentinel.conf"), file);
    const sentinel = stopLater(new Sentinel(port, folder));
    await until("the sentinel watches", () => sentinel.#process.log.includes("+monitor master"), {
      state: async () => sentinel.#process.log,
    });
    return sentinel;
  }

  get log(): string {
    return this.#process.log;
  }

  async #call(...words: string[]): Promise<string[]> {
    this.#wire ??= await openWire(this.port);
    return (await this.#wire.call(...words)).items.map((item) => item.text);
  }

  /** What it knows of the primary, by name. */
  async primary(): Promise<Record<string, string>> {
    const words = await this.#call("SENTINEL", "MASTER", "main");
    return Object.fromEntries(words.flatMap((word, i) => (i % 2 === 0 ? [[word, words[i + 1]!]] : [])));
  }

  async stop(): Promise<void> {
    await this.#process.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A program that writes through Sentinel: one number after the other, acknowledged or not, confirmed by both or not. */
class Program {
  readonly acknowledged = new Set<number>();
  readonly confirmed = new Set<number>();
  /** The longest time between two writes that were acknowledged. */
  longestGapMs = 0;
  #lastAckAt = systemClock.monotonic();
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #waits: boolean;
  #stopped = false;
  readonly #done: Promise<void>;

  constructor(sentinels: readonly Sentinel[], prefix: string, waits: boolean) {
    this.#prefix = prefix;
    this.#waits = waits;
    this.#redis = new Redis({
      sentinels: sentinels.map(({ port }) => ({ host: "127.0.0.1", port })),
      name: "main",
      // What was not answered counts as not written: it is rejected when the connection is lost, not sent again.
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => 100,
      sentinelRetryStrategy: () => 100,
      reconnectOnError: (error) => (error.message.startsWith("READONLY") ? 1 : false),
    });
    this.#redis.on("error", () => {});
    this.#done = this.#run();
  }

  key(n: number): string {
    return `${this.#prefix}:${n}`;
  }

  async #run(): Promise<void> {
    for (let n = 0; !this.#stopped; n++) {
      try {
        if (this.#waits) {
          const answers = await this.#redis.pipeline().set(this.key(n), n).wait(2, 500).exec();
          const [[setError], [waitError, replicas]] = answers as [[Error | null], [Error | null, number]];
          if (setError !== null) throw setError;
          this.#ack(n);
          if (waitError === null && replicas >= 2) this.confirmed.add(n);
        } else {
          await this.#redis.set(this.key(n), n);
          this.#ack(n);
        }
      } catch {
        await pause(10);
      }
      await pause(1);
    }
  }

  #ack(n: number): void {
    const now = systemClock.monotonic();
    this.acknowledged.add(n);
    this.longestGapMs = Math.max(this.longestGapMs, now - this.#lastAckAt);
    this.#lastAckAt = now;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#done;
    this.#redis.disconnect();
  }

  /** Which of these numbers the server does not have. */
  async missing(server: Server, numbers: Iterable<number>): Promise<number[]> {
    const all = [...numbers];
    const wire = await server.wire();
    const answers = await wire.pipeline(all.map((n) => ["EXISTS", this.key(n)]));
    await wire.close();
    return all.filter((_, i) => answers[i]!.text !== "1");
  }
}

async function setUp(
  kinds: readonly [Kind, Kind, Kind],
): Promise<{ servers: Server[]; links: Link[]; sentinels: Sentinel[] }> {
  const servers = await startAll(kinds, { "repl-timeout": "10" });
  const links: Link[] = [];
  // The stream takes a while, as it does between machines: so there is something to lose.
  for (const replica of servers.slice(1)) {
    const link = await Link.to(servers[0]!);
    await follow(replica, link.port);
    link.delay(15);
    links.push(link);
  }
  const sentinels = await Promise.all([0, 1, 2].map(() => Sentinel.watch(servers[0]!.port)));
  await until("the sentinels know of each other and of the replicas", async () => {
    const known = await Promise.all(sentinels.map((sentinel) => sentinel.primary()));
    return known.every((main) => main["num-slaves"] === "2" && main["num-other-sentinels"] === "2");
  });
  return { servers, links, sentinels };
}

/** Kills the primary under load, and waits until another is one. */
async function killPrimary(
  servers: readonly Server[],
  links: readonly Link[],
  programs: readonly Program[],
): Promise<Server> {
  const [old, ...others] = servers;
  // What was on its way goes down with the machine.
  for (const link of links) link.refuse();
  await old!.kill();
  let next: Server | undefined;
  await until("a replica is the primary", async () => {
    for (const server of others) if ((await server.info("replication")).role === "master") next = server;
    return next !== undefined;
  });
  const written = programs.map(({ acknowledged }) => acknowledged.size);
  await until("all programs write again", () =>
    programs.every(({ acknowledged }, i) => acknowledged.size > written[i]!),
  );
  return next!;
}

async function failOver(kinds: readonly [Kind, Kind, Kind]): Promise<void> {
  const { servers, links, sentinels } = await setUp(kinds);
  const programs = ["plain a", "plain b", "waits a", "waits b"].map(
    (name) => new Program(sentinels, name, name.startsWith("waits")),
  );
  await until("some writes are confirmed", () =>
    programs.every(({ acknowledged, confirmed }, i) => acknowledged.size > 100 && (i < 2 || confirmed.size > 15)),
  );
  const next = await killPrimary(servers, links, programs);
  const [old] = servers;
  const third = servers.find((server) => server !== old && server !== next)!;
  await until("the third follows the new primary", async () => {
    const info = await third.info("replication");
    return info.master_port === String(next.port) && info.master_link_status === "up";
  });
  await old!.restart();
  await until(
    "the old primary follows the new one",
    async () => {
      const info = await old!.info("replication");
      return info.role === "slave" && info.master_port === String(next.port) && info.master_link_status === "up";
    },
    { ms: 60_000, state: async () => `${sentinels[0]!.log.slice(-3000)}\n${old!.log.slice(-2000)}` },
  );
  for (const program of programs) await program.stop();
  await caughtUp(next, old!);
  await caughtUp(next, third);
  for (const server of [old!, third]) expect((await compare(next, server)).differences.slice(0, 5)).toEqual([]);

  let [acknowledged, confirmed, lost] = [0, 0, 0];
  for (const program of programs) {
    acknowledged += program.acknowledged.size;
    confirmed += program.confirmed.size;
    lost += (await program.missing(next, program.acknowledged)).length;
    expect(await program.missing(next, program.confirmed)).toEqual([]);
  }
  expect(confirmed).toBeGreaterThan(30);
  const gaps = programs.map(({ longestGapMs }) => longestGapMs);
  figures(`sentinel, ${kinds.join(" + ")}`, {
    acknowledged,
    "confirmed by WAIT": confirmed,
    lost,
    "of those confirmed": 0,
    "without a primary, shortest ms": Math.min(...gaps),
    "longest ms": Math.max(...gaps),
  });
}

describe.skipIf(!available).concurrent("three redis-sentinels, the primary killed under load", () => {
  it.runIf(full)("three of ours", () => failOver(["ours", "ours", "ours"]));
  it("ours, with a replica of ours and a real one", () => failOver(["ours", "redis", "ours"]));
});
