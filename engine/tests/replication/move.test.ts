/**
 * The move, as docs/moving-to-redis.md walks it: a program writes without pause to the store in its own process, a real
 * Redis is attached, catches up, and the program is switched to it. Counters and lists show that no write was lost and none
 * was made twice. And the way back, and the same with the store as a primary of clients over TCP.
 */
import { Redis } from "ioredis";
import { afterEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { Engine } from "../../src/index.ts";
import { redisAvailable } from "../conformance/redis-server.ts";
import { figures, PATIENCE_MS, pause, Server, stopAll, stopLater, until, YARDSTICK_ONLY } from "./servers.ts";

vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });

afterEach(stopAll);

type Call = (name: string, ...words: (string | number)[]) => Promise<unknown>;

interface Store {
  readonly port: number;
  readonly call: Call;
  /** Where the store is in this process. */
  readonly engine?: Engine;
}

/** The store in this process, open to others on a port. */
async function openStore(): Promise<Store> {
  if (YARDSTICK_ONLY) return openRedis(await Server.start("redis"));
  const engine = await Engine.open({ config: { "repl-diskless-sync-delay": "0" } });
  stopLater({ stop: () => engine.close() });
  const { port } = await engine.listen({ port: 0 });
  const client = engine.connect();
  return { port, call: (name, ...words) => client.call(name, ...words), engine };
}

/** What a program does that uses a Redis: a client over TCP. */
async function openRedis(server: { readonly port: number }): Promise<Store> {
  const redis = new Redis(server.port, "127.0.0.1", { maxRetriesPerRequest: 0, retryStrategy: () => 50 });
  redis.on("error", () => {});
  stopLater({ stop: async () => redis.disconnect() });
  return { port: server.port, call: (name, ...words) => redis.call(name, ...words.map(String)) };
}

async function infoOf({ call }: Store): Promise<Record<string, string>> {
  const lines = String(await call("INFO", "replication")).split("\r\n");
  return Object.fromEntries(lines.map((line) => [line.split(":", 1)[0]!, line.slice(line.indexOf(":") + 1)]));
}

/**
 * The program: workers that count, append and keep an account in a transaction-like script, one after the other without
 * pause. They know what they were answered. `held` is the program's own gate before every write.
 */
class Program {
  store: Store;
  readonly done: number[];
  longestWaitMs = 0;
  readonly #workers: Promise<void>[];
  #gate: Promise<void> | null = null;
  #open: () => void = () => {};
  #inside = 0;
  #stopped = false;
  readonly #retry: (error: Error) => boolean;
  readonly #name: string;

  constructor(store: Store, workers: number, retry: (error: Error) => boolean = () => false, name = "") {
    this.store = store;
    this.#name = name;
    this.#retry = retry;
    this.done = Array.from({ length: workers }, () => 0);
    this.#workers = this.done.map((_, worker) => this.#work(worker));
    for (const worker of this.#workers) worker.catch(() => {});
  }

  async #work(worker: number): Promise<void> {
    while (!this.#stopped) {
      const n = this.done[worker]! + 1;
      const started = systemClock.monotonic();
      await this.#write("INCR", `count:${this.#name}${worker}`);
      await this.#write("RPUSH", `list:${this.#name}${worker}`, n);
      await this.#write(
        "EVAL",
        "redis.call('HINCRBY', KEYS[1], 'from', -1) return redis.call('HINCRBY', KEYS[1], 'to', 1)",
        1,
        `account:${this.#name}${worker}`,
      );
      await this.#write("SET", `session:${this.#name}${worker}:${n % 50}`, n, "EX", 1000);
      this.done[worker] = n;
      this.longestWaitMs = Math.max(this.longestWaitMs, systemClock.monotonic() - started);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #write(...words: [string, ...(string | number)[]]): Promise<void> {
    for (;;) {
      while (this.#gate !== null) await this.#gate;
      this.#inside++;
      try {
        await this.store.call(...words);
        return;
      } catch (error) {
        if (!this.#retry(error as Error)) throw error;
        await pause(5);
      } finally {
        this.#inside--;
      }
    }
  }

  /** Lets no further write begin, and returns when those that have begun are over. */
  async hold(): Promise<void> {
    this.#gate = new Promise((resolve) => {
      this.#open = resolve;
    });
    await until("the last writes are answered", () => this.#inside === 0);
  }

  release(): void {
    this.#gate = null;
    this.#open();
  }

  get steps(): number {
    return this.done.reduce((sum, n) => sum + n, 0);
  }

  async goesOn(steps: number): Promise<void> {
    const goal = this.steps + steps;
    while (this.steps < goal) await Promise.race([pause(2), ...this.#workers]);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#workers);
  }

  /** Everything that is not as if all had been written once, to one store. */
  async faults({ call }: Store): Promise<string[]> {
    const faults: string[] = [];
    for (const [worker, n] of this.done.entries()) {
      const count = Number(await call("GET", `count:${this.#name}${worker}`));
      if (count !== n) faults.push(`worker ${worker} counted to ${n}, the store to ${count}`);
      const list = (await call("LRANGE", `list:${this.#name}${worker}`, 0, -1)) as string[];
      if (list.length !== n) faults.push(`worker ${worker} appended ${n}, the store has ${list.length}`);
      const wrong = list.findIndex((item, i) => Number(item) !== i + 1);
      if (wrong >= 0) faults.push(`list:${this.#name}${worker} has ${list[wrong]} in place of ${wrong + 1}`);
      const account = (await call("HMGET", `account:${this.#name}${worker}`, "from", "to")) as string[];
      if (account.join() !== `${-n},${n}`)
        faults.push(`account:${this.#name}${worker} is ${account.join()} after ${n} steps`);
      const last = await call("GET", `session:${this.#name}${worker}:${n % 50}`);
      if (Number(last) !== n) faults.push(`session:${this.#name}${worker}:${n % 50} is ${last}, not ${n}`);
    }
    return faults;
  }
}

/** `to` follows `from`: it has the copy, and gets what is written as it is written. */
async function attach(to: Store, from: Store): Promise<void> {
  if (to.engine !== undefined) await to.engine.replicaOf("127.0.0.1", from.port);
  else await to.call("REPLICAOF", "127.0.0.1", from.port);
  await until("the new store is connected", async () => (await infoOf(to)).master_link_status === "up");
  await until("the old store sends it what is written", async () =>
    /state=online/.test((await infoOf(from)).slave0 ?? ""),
  );
}

/** Returns when `to` has everything that was written to `from`. */
async function caughtUp(from: Store, to: Store): Promise<void> {
  if (from.engine !== undefined) expect(await from.engine.waitForReplicas(1, { timeoutMs: 20_000 })).toBe(1);
  await until("the new store has everything", async () => {
    const [theirs, own] = await Promise.all([infoOf(from), infoOf(to)]);
    return theirs.master_repl_offset === own.slave_repl_offset;
  });
}

/** The steps of the document: hold, wait until the other has everything, promote it, switch, go on. */
async function switchOver(program: Program, from: Store, to: Store): Promise<number> {
  const started = systemClock.monotonic();
  await program.hold();
  await caughtUp(from, to);
  if (to.engine !== undefined) to.engine.promote();
  else await to.call("REPLICAOF", "NO", "ONE");
  program.store = to;
  program.release();
  return systemClock.monotonic() - started;
}

describe.skipIf(!redisAvailable())("a program that writes without pause", () => {
  it("moves from the store in its process to a real Redis: nothing is lost, nothing made twice", async () => {
    const embedded = await openStore();
    const program = new Program(embedded, 8);
    await program.goesOn(500);
    const redis = await openRedis(await Server.start("redis"));
    const before = program.steps;
    await attach(redis, embedded);
    await program.goesOn(200);
    const during = program.steps - before;
    const heldMs = await switchOver(program, embedded, redis);
    const moved = program.steps;
    await program.goesOn(500);
    await program.stop();
    expect(await program.faults(redis)).toEqual([]);
    // What came after the move is in the Redis alone.
    expect(await program.faults(embedded)).not.toEqual([]);
    expect((await infoOf(redis)).role).toBe("master");
    figures("the move", {
      "steps before": moved,
      "during the copy": during,
      after: program.steps - moved,
      "writes held ms": heldMs,
      "longest step ms": program.longestWaitMs,
    });
  });

  it("moves with one FAILOVER, its clients over TCP too: who is refused tries again at the new one", async () => {
    const embedded = await openStore();
    const server = await Server.start("redis");
    const redis = await openRedis(server);
    // Held by the store itself, then refused by what has become a replica: not written, so to be tried again.
    const again = (error: Error) => error.message.startsWith("READONLY");
    const programs = [new Program(embedded, 3, again, "in"), new Program(await openRedis(embedded), 3, again, "out")];
    await Promise.all(programs.map((program) => program.goesOn(300)));
    await attach(redis, embedded);
    expect(await embedded.call("FAILOVER", "TO", "127.0.0.1", server.port, "TIMEOUT", 20_000)).toBe("OK");
    await until("the Redis is the primary", async () => (await infoOf(redis)).role === "master");
    for (const program of programs) program.store = redis;
    await Promise.all(programs.map((program) => program.goesOn(300)));
    await Promise.all(programs.map((program) => program.stop()));
    for (const program of programs) expect(await program.faults(redis)).toEqual([]);
    await until("the store follows the Redis", async () => {
      const [theirs, own] = await Promise.all([infoOf(redis), infoOf(embedded)]);
      return own.role === "slave" && theirs.master_repl_offset === own.slave_repl_offset;
    });
    for (const program of programs) expect(await program.faults(embedded)).toEqual([]);
    figures("the move by FAILOVER", {
      "longest step ms": Math.max(...programs.map((program) => program.longestWaitMs)),
    });
  });

  it("moves back from a Redis to the store in its process", async () => {
    const redis = await openRedis(await Server.start("redis"));
    const program = new Program(redis, 4);
    await program.goesOn(300);
    const embedded = await openStore();
    await attach(embedded, redis);
    await program.goesOn(100);
    const heldMs = await switchOver(program, redis, embedded);
    await program.goesOn(1000);
    await program.stop();
    expect(await program.faults(embedded)).toEqual([]);
    figures("the way back", { steps: program.steps, "writes held ms": heldMs });
  });
});
