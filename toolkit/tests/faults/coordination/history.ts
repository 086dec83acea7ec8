/**
 * Histories of elections, barriers and topics on a real redis-server, while processes are killed and stopped, connections are cut, and
 * every process has a clock of its own. Processes reach the server through a proxy.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { nodeWords } from "../../../../scripts/program.ts";
import { ConnectionError } from "../../../src/base/errors.ts";
import { DurableTopic } from "../../../src/components/topics/index.ts";
import { open } from "../../../src/connection/open.ts";
import type { Store } from "../../../src/connection/store.ts";
import { FaultyProxy } from "../../kit/proxy.ts";
import { startRedis } from "../../kit/servers.ts";
import { LeaseJudge, type LeaseRecord } from "../histories/lease-judge.ts";
import { micros, randomFrom } from "../leases/player.ts";
import type { Plan } from "./actor.ts";
import { BarrierJudge } from "./barrier-judge.ts";

export interface HistoryOptions {
  readonly seconds: number;
  readonly seed: number;
  readonly onProgress?: (summary: Summary) => void;
}

export interface Summary {
  terms: number;
  handOvers: number;
  generations: number;
  messages: number;
  kills: number;
  pauses: number;
  cuts: number;
  seconds: number;
  violations: string[];
}

const LEASE_MS = 800;
const PARTIES = 4;
const ELECTIONS = ["indexer", "poller"];
const BARRIERS = ["step", "round"];
const TOPICS = ["orders"];
/** After the end: how long what is left may take. */
const DRAIN_MS = 60_000;
const BACKLOG = 500;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function runHistory(options: HistoryOptions): Promise<Summary> {
  const redis = await startRedis();
  const proxy = await FaultyProxy.open(redis.port);
  try {
    return await new History(options, proxy, await open(`redis://127.0.0.1:${redis.port}`)).run();
  } finally {
    await proxy.close();
    await redis.stop();
  }
}

interface Actor {
  readonly name: string;
  readonly party: number;
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  readonly over: Promise<void>;
  killedAt: number | null;
}

class History {
  readonly #options: HistoryOptions;
  readonly #proxy: FaultyProxy;
  /** Past the proxy: for what must not fail. */
  readonly #store: Store;
  readonly #random: () => number;
  readonly #leases = new LeaseJudge(() => 1);
  /** Terms that have not ended, and those that are being handed over, with when that began. */
  readonly #terms = new Map<string, LeaseRecord>();
  readonly #perhapsOver = new Map<string, number>();
  readonly #barriers = new Map(BARRIERS.map((name) => [name, new BarrierJudge(name, PARTIES)]));
  readonly #worked = new Map(TOPICS.map((name) => [name, new Set<number>()]));
  readonly #published = new Map(TOPICS.map((name) => [name, 0]));
  readonly #actors: Actor[] = [];
  readonly #failures: string[] = [];
  readonly #summary: Summary;
  #started = 0;
  #isOver = false;

  constructor(options: HistoryOptions, proxy: FaultyProxy, store: Store) {
    this.#options = options;
    this.#proxy = proxy;
    this.#store = store;
    this.#random = randomFrom(options.seed);
    const counts = { terms: 0, handOvers: 0, generations: 0, messages: 0, kills: 0, pauses: 0, cuts: 0, seconds: 0 };
    this.#summary = { ...counts, violations: [] };
  }

  async run(): Promise<Summary> {
    const begin = micros();
    try {
      this.#actors.push(...Array.from({ length: PARTIES }, (_, party) => this.#start(party)));
      await Promise.all(this.#actors.map(({ ready }) => ready));
      const beside = [this.#interrupt(), ...TOPICS.map((name) => this.#publish(name))];
      const end = micros() + this.#options.seconds * 1e6;
      while (micros() < end && this.#failures.length === 0) {
        await pause(500);
        this.#options.onProgress?.(this.#current(begin));
      }
      this.#isOver = true;
      await Promise.all(beside);
      await this.#drained();
      for (const { child } of this.#actors) child.kill("SIGTERM");
      await Promise.all(this.#actors.map(({ over }) => over));
    } finally {
      for (const { child } of this.#actors) child.kill("SIGKILL");
      await this.#store.close();
    }
    const barriers = [...this.#barriers.values()].flatMap((judge) => judge.verdict());
    const violations = [...this.#failures, ...this.#leases.verdict(), ...barriers, ...this.#unworked()];
    return { ...this.#current(begin), violations };
  }

  #current(begin: number): Summary {
    const generations = [...this.#barriers.values()].reduce((sum, judge) => sum + judge.generations, 0);
    const seconds = Math.round((micros() - begin) / 1e6);
    return { ...this.#summary, terms: this.#leases.count, generations, seconds };
  }

  // ---------------------------------------------------------------------------------------------- processes

  #start(party: number): Actor {
    const name = `a${this.#started++}`;
    const seed = Math.floor(this.#random() * 2 ** 31);
    const plan: Plan = {
      ...{ url: this.#proxy.url, actor: name, party, parties: PARTIES, seed, leaseMs: LEASE_MS },
      ...{ elections: ELECTIONS, barriers: BARRIERS, topics: TOPICS },
    };
    const env = Object.fromEntries(Object.entries(process.env).filter(([word]) => !word.startsWith("VITEST")));
    const program = join(import.meta.dirname, "actor.ts");
    const args = [...nodeWords(program), JSON.stringify(plan)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env });
    let isReady = (): void => {};
    const ready = new Promise<void>((resolve) => {
      isReady = resolve;
    });
    createInterface(child.stdout!).on("line", (line) => {
      if (line === "ready") isReady();
      else this.#heard(actor, line);
    });
    const over = new Promise<void>((resolve) => {
      child.once("close", (code, signal) => {
        this.#gone(actor);
        if (actor.killedAt === null && code !== 0) this.#failures.push(`${name} ended with ${code ?? signal}`);
        isReady();
        resolve();
      });
    });
    const actor: Actor = { name, party, child, ready, over, killedAt: null };
    return actor;
  }

  /** All that it has said is known. What it was handing over it believes in no longer; the rest it had until it was killed. */
  #gone(actor: Actor): void {
    for (const [id, at] of this.#perhapsOver) {
      if (id.startsWith(`${actor.name}-`)) {
        const until = this.#terms.get(id)?.until ?? at;
        this.#ended(actor, id, at, { until, refused: false });
      }
    }
    if (actor.killedAt !== null) this.#leases.killed(actor.name, actor.killedAt);
  }

  #ended(actor: Actor, id: string, at: number, how: { readonly until: number; readonly refused: boolean }): void {
    this.#perhapsOver.delete(id);
    this.#terms.delete(id);
    this.#leases.ended(actor.name, id, at, how.until, how.refused);
  }

  #heard(actor: Actor, line: string): void {
    const [what, a = "", b = "", ...rest] = line.split(" ");
    const [c = 0, d = 0, e = 0, f = 0] = rest.map(Number);
    switch (what) {
      case "g":
        this.#elected(actor, { id: a, name: b, weight: 1, fence: c, start: d, got: e, until: f });
        break;
      case "v":
        this.#stillValid(a, Number(b));
        break;
      case "p":
        this.#summary.handOvers += 1;
        this.#perhapsOver.set(a, Number(b));
        break;
      case "c":
        this.#summary.handOvers -= 1;
        this.#perhapsOver.delete(a);
        break;
      case "e":
        this.#ended(actor, a, Number(b), { until: c, refused: d === 1 });
        break;
      case "a":
        this.#barriers.get(a)!.arrived(b, actor.party, c);
        break;
      case "r":
        this.#barriers.get(a)!.released(b, c, d === 1, e);
        break;
      case "x":
        this.#barriers.get(a)!.left(b);
        break;
      case "m":
        this.#worked.get(a)!.add(Number(b));
        break;
      default:
        this.#failures.push(`${actor.name} said "${line}"`);
    }
  }

  #elected(actor: Actor, term: LeaseRecord): void {
    this.#terms.set(term.id, term);
    this.#leases.got(actor.name, term);
  }

  #stillValid(id: string, until: number): void {
    const term = this.#terms.get(id);
    if (term !== undefined) term.until = Math.max(term.until, until);
  }

  // ---------------------------------------------------------------------------------------------- faults

  async #interrupt(): Promise<void> {
    while (!this.#isOver) {
      await pause(200 + this.#random() * 600);
      const at = Math.floor(this.#random() * this.#actors.length);
      const actor = this.#actors[at]!;
      const luck = this.#random();
      if (luck < 0.3) {
        actor.child.kill("SIGKILL");
        // After the signal: what it did until now, it may have believed in.
        actor.killedAt = micros();
        await actor.over;
        this.#summary.kills += 1;
        this.#actors[at] = this.#start(actor.party);
        await this.#actors[at]!.ready;
      } else if (luck < 0.75) {
        actor.child.kill("SIGSTOP");
        await pause(this.#random() * LEASE_MS * 2);
        actor.child.kill("SIGCONT");
        this.#summary.pauses += 1;
      } else {
        this.#proxy.cut();
        this.#summary.cuts += 1;
      }
    }
  }

  // ---------------------------------------------------------------------------------------------- topics

  async #publish(name: string): Promise<void> {
    const topic = new DurableTopic<number>(this.#store, name, { keepCount: 10_000_000 });
    const worked = this.#worked.get(name)!;
    while (!this.#isOver) {
      const from = this.#published.get(name)!;
      if (from - worked.size > BACKLOG) {
        await pause(20);
        continue;
      }
      const many = Array.from({ length: 50 }, (_, n) => ({ data: from + n, id: `n${from + n}` }));
      await topic.publishMany(many).catch((error) => {
        if (!(error instanceof ConnectionError)) throw error;
      });
      this.#published.set(name, from + many.length);
      this.#summary.messages += many.length;
      await pause(10);
    }
  }

  async #drained(): Promise<void> {
    const end = micros() + DRAIN_MS * 1_000;
    while (micros() < end) {
      const states = await Promise.all(TOPICS.map((name) => new DurableTopic(this.#store, name).inspect("workers")));
      if (states.every((state) => state !== null && state.lag + state.pending === 0)) return;
      await pause(50);
    }
    this.#failures.push("messages were left");
  }

  #unworked(): string[] {
    return [...this.#worked].flatMap(([name, worked]) => {
      const left = this.#published.get(name)! - worked.size;
      return left === 0 ? [] : [`${name}: ${left} messages were not worked on`];
    });
  }
}
