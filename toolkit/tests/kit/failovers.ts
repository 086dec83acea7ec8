/**
 * Planned failovers of a primary that Sentinel watches, while suites use it, in the order that loses nothing: writes are paused
 * until the replicas have everything, Sentinel promotes one of them, and the old primary follows it. So suites may insist on all
 * that was acknowledged. What a crash may lose is the subject of the fault tests.
 */
import { Redis } from "ioredis";
import { systemClock } from "../../src/base/clock.ts";

export interface FailoversOptions {
  /** The ports of the sentinels; the primary is called "main". */
  readonly sentinels: readonly number[];
  /** The ports of the primary and all replicas. */
  readonly servers: readonly number[];
  /** The longest time between two; it is a random part of this. */
  readonly pauseMs?: number;
  readonly random?: () => number;
}

const POLL_MS = 10;
/** Longer than any failover takes; it is ended as soon as the old primary follows. */
const PAUSE_WRITES_MS = 60_000;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(come: () => Promise<boolean>): Promise<void> {
  while (!(await come())) await wait(POLL_MS);
}

export class Failovers {
  readonly #options: FailoversOptions;
  readonly #sentinel: Redis;
  readonly #servers: ReadonlyMap<number, Redis>;
  #running: Promise<void> | null = null;
  #stopped = false;
  count = 0;

  constructor(options: FailoversOptions) {
    this.#options = options;
    const connect = (port: number): Redis => new Redis(port, "127.0.0.1", { maxRetriesPerRequest: null });
    this.#sentinel = connect(options.sentinels[0]!);
    this.#servers = new Map(options.servers.map((port) => [port, connect(port)]));
  }

  start(): this {
    this.#running ??= this.#run();
    return this;
  }

  async #run(): Promise<void> {
    const random = this.#options.random ?? systemClock.random;
    while (!this.#stopped) {
      await this.#failOver();
      this.count++;
      for (let left = random() * (this.#options.pauseMs ?? 4_000); left > 0 && !this.#stopped; left -= POLL_MS) {
        await wait(POLL_MS);
      }
    }
  }

  async #primary(): Promise<number> {
    return Number(((await this.#sentinel.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")) as string[])[1]);
  }

  async #replication(port: number): Promise<Map<string, string>> {
    const lines = (await this.#servers.get(port)!.info("replication")).split("\r\n");
    return new Map(lines.map((line) => line.split(":", 2) as [string, string]));
  }

  /** Until both replicas follow this primary and have what it had when this was called. False if it is the primary no longer. */
  async #followed(primary: number): Promise<boolean> {
    const offset = Number((await this.#replication(primary)).get("master_repl_offset"));
    let isPrimary = true;
    for (const port of this.#servers.keys()) {
      if (port === primary) continue;
      await until(async () => {
        isPrimary = (await this.#primary()) === primary;
        const about = await this.#replication(port);
        const follows = about.get("master_port") === String(primary) && about.get("master_link_status") === "up";
        return !isPrimary || (follows && Number(about.get("slave_repl_offset")) >= offset);
      });
    }
    return isPrimary;
  }

  /** On a busy machine Sentinel may be quicker, for reasons of its own: then there is nothing left to do. */
  async #failOver(): Promise<void> {
    const old = await this.#primary();
    if (!(await this.#followed(old))) return;
    const demoted = this.#servers.get(old)!;
    await demoted.call("CLIENT", "PAUSE", PAUSE_WRITES_MS, "WRITE");
    try {
      if (!(await this.#followed(old))) return;
      await until(async () => {
        // Refused while one is under way, and until the sentinel has seen its replicas. One that takes too long is given up.
        await this.#sentinel.call("SENTINEL", "FAILOVER", "main").catch(() => {});
        return (await this.#primary()) !== old;
      });
      // Sentinel does it too, some seconds later.
      await demoted.call("REPLICAOF", "127.0.0.1", await this.#primary());
    } finally {
      await demoted.call("CLIENT", "UNPAUSE");
    }
  }

  /** Finishes the failover that is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    for (const client of [this.#sentinel, ...this.#servers.values()]) client.disconnect();
  }
}
