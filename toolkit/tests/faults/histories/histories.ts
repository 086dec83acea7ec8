/**
 * Histories of locks, semaphores and queues on a real Cluster, while processes are killed and stopped, connections are cut, slots move
 * from node to node, and every process has a clock of its own. Three nodes, each behind a proxy that it announces as itself, so that
 * clients reach it through nothing else.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { nodeWords } from "../../../../scripts/program.ts";
import { ConnectionError } from "../../../src/base/errors.ts";
import { Queue } from "../../../src/components/queues/index.ts";
import { open } from "../../../src/connection/open.ts";
import { slotOf } from "../../../src/connection/slots.ts";
import type { Store } from "../../../src/connection/store.ts";
import { WHOLE_LOCK } from "../../../src/leases/scripts.ts";
import { FaultyProxy } from "../../kit/proxy.ts";
import { type ClusterProcesses, cli, startCluster } from "../../kit/servers.ts";
import { SlotMoves } from "../../kit/slot-moves.ts";
import { micros, randomFrom } from "../leases/player.ts";
import type { Plan, Task } from "./actor.ts";
import { LeaseJudge } from "./lease-judge.ts";
import { QueueJudge } from "./queue-judge.ts";

export interface HistoryOptions {
  readonly operations: number;
  readonly seed: number;
  readonly actors?: number;
  readonly onProgress?: (summary: Summary) => void;
}

export interface Summary {
  operations: number;
  leases: number;
  jobs: number;
  kills: number;
  pauses: number;
  cuts: number;
  slotMoves: number;
  seconds: number;
  violations: string[];
}

const LEASE_MS = 800;
const LIMIT = 3;
const BACKLOG = 1_000;
const BATCH = 100;
/** Adding it, beginning it, ending it. */
const OPERATIONS_PER_JOB = 3;
/** After the last operation: how long what is left may take. */
const DRAIN_MS = 60_000;
const named = (what: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${what}-${n}`);
const LOCKS = named("lock", 24);
const SEMAPHORES = named("semaphore", 12);
const QUEUES = named("queue", 6);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function runHistories(options: HistoryOptions): Promise<Summary> {
  const cluster = await startCluster({ replicas: 0 });
  const proxies: FaultyProxy[] = [];
  try {
    for (const { port } of cluster.nodes) proxies.push(await FaultyProxy.open(port));
    await announce(cluster, proxies);
    return await new Histories(options, cluster, proxies).run();
  } finally {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await cluster.stop();
  }
}

/** Until every node tells clients to come through the proxies. */
async function announce(cluster: ClusterProcesses, proxies: readonly FaultyProxy[]): Promise<void> {
  cluster.nodes.forEach(({ port }, nth) => {
    cli(port, "CONFIG", "SET", "cluster-announce-port", String(proxies[nth]!.port));
  });
  const isTold = ({ port }: { readonly port: number }): boolean => {
    const slots = cli(port, "CLUSTER", "SLOTS");
    return proxies.every((proxy) => slots.includes(String(proxy.port)));
  };
  while (!cluster.nodes.every(isTold)) await pause(50);
}

interface Actor {
  readonly name: string;
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  readonly over: Promise<void>;
  killedAt: number | null;
}

class Histories {
  readonly #options: HistoryOptions;
  readonly #cluster: ClusterProcesses;
  readonly #proxies: readonly FaultyProxy[];
  readonly #random: () => number;
  readonly #leases = new LeaseJudge((name) => (LOCKS.includes(name) ? WHOLE_LOCK : LIMIT));
  readonly #queues = new Map(QUEUES.map((name) => [name, new QueueJudge(name)]));
  readonly #actors: Actor[] = [];
  readonly #failures: string[] = [];
  readonly #summary: Summary;
  #started = 0;
  #jobs = 0;
  #over = false;

  constructor(options: HistoryOptions, cluster: ClusterProcesses, proxies: readonly FaultyProxy[]) {
    this.#options = options;
    this.#cluster = cluster;
    this.#proxies = proxies;
    this.#random = randomFrom(options.seed);
    const counts = { operations: 0, leases: 0, jobs: 0, kills: 0, pauses: 0, cuts: 0, slotMoves: 0, seconds: 0 };
    this.#summary = { ...counts, violations: [] };
  }

  async run(): Promise<Summary> {
    const begin = micros();
    const url = `redis+cluster://${this.#proxies.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
    const store = await open(url);
    const reading = new AbortController();
    try {
      const readers = QUEUES.map((name) => this.#follow(store, name, reading.signal));
      const count = this.#options.actors ?? 4;
      this.#actors.push(...Array.from({ length: count }, () => this.#start(url)));
      await Promise.all(this.#actors.map(({ ready }) => ready));
      const faults = [this.#interrupt(url), this.#moveSlots(), ...QUEUES.map((name) => this.#feed(store, name))];
      while (this.#summary.operations < this.#options.operations && this.#failures.length === 0) {
        await pause(1_000);
        this.#options.onProgress?.(this.#current(begin));
      }
      this.#over = true;
      await Promise.all(faults);
      await this.#drained();
      reading.abort();
      await Promise.all(readers);
      for (const { child } of this.#actors) child.kill("SIGTERM");
      await Promise.all(this.#actors.map(({ over }) => over));
    } finally {
      reading.abort();
      for (const { child } of this.#actors) child.kill("SIGKILL");
      await store.close();
    }
    const queues = [...this.#queues.values()].flatMap((judge) => judge.verdict());
    return { ...this.#current(begin), violations: [...this.#failures, ...this.#leases.verdict(), ...queues] };
  }

  #current(begin: number): Summary {
    const seconds = Math.round((micros() - begin) / 1e6);
    return { ...this.#summary, leases: this.#leases.count, jobs: this.#jobs, seconds };
  }

  // ---------------------------------------------------------------------------------------------- processes

  #start(url: string): Actor {
    const name = `a${this.#started++}`;
    const seed = Math.floor(this.#random() * 2 ** 31);
    const plan: Plan = {
      ...{ url, actor: name, seed, locks: LOCKS, semaphores: SEMAPHORES, limit: LIMIT, queues: QUEUES },
      ...{ players: 16, leaseMs: LEASE_MS },
    };
    const env = Object.fromEntries(Object.entries(process.env).filter(([word]) => !word.startsWith("VITEST")));
    const program = join(import.meta.dirname, "actor.ts");
    const child = spawn(process.execPath, [...nodeWords(program), JSON.stringify(plan)], {
      stdio: ["ignore", "pipe", "inherit"],
      env,
    });
    let isReady = (): void => {};
    const ready = new Promise<void>((resolve) => {
      isReady = resolve;
    });
    createInterface(child.stdout!).on("line", (line) => {
      if (line === "ready") isReady();
      else this.#heard(name, line);
    });
    const over = new Promise<void>((resolve) => {
      child.once("close", (code, signal) => {
        if (actor.killedAt !== null) this.#leases.killed(name, actor.killedAt);
        else if (code !== 0) this.#failures.push(`${name} ended with ${code ?? signal}`);
        isReady();
        resolve();
      });
    });
    const actor: Actor = { name, child, ready, over, killedAt: null };
    return actor;
  }

  #heard(actor: string, line: string): void {
    const [what, a, b, ...rest] = line.split(" ") as [string, string, string, ...string[]];
    const summary = this.#summary;
    if (what === "o") summary.operations += Number(a);
    else if (what === "g") {
      const [weight, fence, start, got, until] = rest.map(Number) as [number, number, number, number, number];
      this.#leases.got(actor, { id: a, name: b, weight, fence, start, got, until });
    } else if (what === "e") {
      const [until, operations, refused] = rest.map(Number) as [number, number, number];
      summary.operations += operations;
      this.#leases.ended(actor, a, Number(b), until, refused === 1);
    } else if (what === "s") {
      summary.operations += 1;
      this.#queues.get(a)!.began(Number(rest[0]));
    } else if (what === "d") {
      summary.operations += 1;
      this.#queues.get(a)!.cameToEnd(b, Number(rest[0]));
    }
  }

  // ---------------------------------------------------------------------------------------------- faults

  async #interrupt(url: string): Promise<void> {
    while (!this.#over) {
      await pause(200 + this.#random() * 600);
      const at = Math.floor(this.#random() * this.#actors.length);
      const actor = this.#actors[at]!;
      const luck = this.#random();
      if (luck < 0.25) {
        actor.killedAt = micros();
        actor.child.kill("SIGKILL");
        await actor.over;
        this.#summary.kills += 1;
        this.#actors[at] = this.#start(url);
        await this.#actors[at]!.ready;
      } else if (luck < 0.7) {
        actor.child.kill("SIGSTOP");
        await pause(this.#random() * LEASE_MS * 2);
        actor.child.kill("SIGCONT");
        this.#summary.pauses += 1;
      } else {
        this.#proxies[Math.floor(this.#random() * this.#proxies.length)]!.cut();
        this.#summary.cuts += 1;
      }
    }
  }

  async #moveSlots(): Promise<void> {
    const ports = this.#cluster.nodes.map(({ port }) => port);
    const portOf = (announced: number) => ports[this.#proxies.findIndex(({ port }) => port === announced)] ?? announced;
    const moves = new SlotMoves({ ports, random: this.#random, portOf });
    const slots = [...LOCKS, ...SEMAPHORES, ...QUEUES].map((name) => slotOf(`{${name}}`));
    while (!this.#over) {
      const moving = await moves.begin(slots[Math.floor(this.#random() * slots.length)]!);
      do await pause(this.#random() * 5);
      while ((await moving.carry(2)) > 0);
      await moving.finish();
      this.#summary.slotMoves += 1;
      await pause(50 + this.#random() * 150);
    }
    await moves.stop();
  }

  // ---------------------------------------------------------------------------------------------- queues

  async #feed(store: Store, name: string): Promise<void> {
    const queue = new Queue<Task, number>(store, name);
    const judge = this.#queues.get(name)!;
    await persistently(() => queue.configure({ keepDone: 20_000, stalledLimit: 1_000, maxEvents: 100_000 }));
    for (let n = 0; !this.#over; ) {
      // Half of all operations are for leases.
      const isEnough = this.#jobs * OPERATIONS_PER_JOB > this.#summary.operations / 2 + BACKLOG;
      if (judge.unfinished > BACKLOG || isEnough) {
        await pause(20);
        continue;
      }
      const jobs = Array.from({ length: BATCH }, () => {
        const group = this.#random() < 0.5 ? `g${Math.floor(this.#random() * 20)}` : null;
        const id = `${name}-${n}`;
        judge.added(id, { n, group });
        const data: Task = { n, ...(group === null ? {} : { group }), failFirst: this.#random() < 0.05 };
        const options = { id, attempts: 2, backoff: 20, ...(group === null ? {} : { group }) };
        n += 1;
        return { data, options };
      });
      await persistently(() => queue.addMany(jobs));
      this.#jobs += jobs.length;
      this.#summary.operations += jobs.length;
    }
  }

  async #follow(store: Store, name: string, signal: AbortSignal): Promise<void> {
    const queue = new Queue<Task, number>(store, name);
    const judge = this.#queues.get(name)!;
    const { data } = queue.shards[0]!.keys;
    let done: string[] = [];
    const note = async (): Promise<void> => {
      const ids = done.splice(0);
      const fields = ids.map((id) => `r${id}`);
      const endings = (await persistently(() => store.call("HMGET", data, ...fields))) as (string | null)[];
      endings.forEach((ending, at) => {
        if (ending !== null) judge.took(ids[at]!, Number.parseInt(ending, 10));
      });
    };
    try {
      for await (const event of await queue.events({ from: "start", signal })) {
        judge.event(event);
        if (event.kind === "done" && done.push(event.id) >= BATCH) await note();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    if (done.length > 0) await note();
    done = [];
  }

  async #drained(): Promise<void> {
    const end = micros() + DRAIN_MS * 1_000;
    const isLeft = (): boolean => [...this.#queues.values()].some(({ unfinished }) => unfinished > 0);
    while (isLeft() && micros() < end) await pause(50);
  }
}

/** Connections are cut; what is asked here may be asked again. */
async function persistently<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      await pause(50);
    }
  }
}
