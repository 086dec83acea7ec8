/**
 * Locks against redlock and redis-semaphore, on one Redis, and ours on the embedded store.
 *
 * Alone: acquire and release of a free lock, one after the other; then of 50 free locks at once. Contended: 50 callers of one process want the same lock over
 * and over, for a millisecond each; the wait of each section is measured, and the commands that the server got for it. The
 * ideal wait is that of a line: everybody else once, with no time lost between two sections.
 *
 * The others poll; both are told to do so every 10 ms (redis-semaphore's default; redlock's is 200).
 */
import { open, type Store } from "cinnabar";
import { Locks } from "cinnabar/locks";
import { Redis } from "ioredis";
import { Mutex } from "redis-semaphore";
import { type BenchServer, median, run, startServer } from "./servers.ts";

export interface LockRow {
  readonly what: string;
  /** Acquire and release of a free lock, a second. */
  readonly cycles: number;
  /** The same with a lock for each of 50 callers. */
  readonly wide: number;
  /** Commands that the server got, for each contended section; null where there is no server. */
  readonly commands: number | null;
  readonly medianMs: number;
  readonly worstMs: number;
  readonly idealMs: number;
}

const WAITERS = 50;
const LEASE_MS = 30_000;

interface Subject {
  readonly what: string;
  /** How many cycles to measure. */
  readonly cycles: number;
  /** The commands that it sends; those that only its scripts call do not count. */
  readonly sends: readonly string[] | null;
  acquire(name: string): Promise<() => Promise<unknown>>;
  close(): Promise<unknown>;
}

function ours(what: string, cycles: number, sends: readonly string[] | null, store: Store): Subject {
  const locks = new Locks(store, { leaseMs: LEASE_MS, waitMs: 60_000 });
  return {
    what,
    cycles,
    sends,
    acquire: async (name) => {
      const lease = await locks.acquire(name);
      if (lease === null) throw new Error(`${what} did not get its lock`);
      return () => lease.release();
    },
    close: () => store.close(),
  };
}

/** What is used of redlock, which comes without types. */
interface Redlock {
  lock(name: string, ttlMs: number): Promise<{ unlock(): Promise<unknown> }>;
}

async function subjects(server: BenchServer, quick: boolean): Promise<Subject[]> {
  const cycles = quick ? 500 : 5_000;
  const connect = () => new Redis({ port: server.port, host: "127.0.0.1" });
  const forRedlock = connect();
  const forMutex = connect();
  // @ts-expect-error It has no types.
  const { default: Redlock } = await import("redlock");
  const redlock: Redlock = new Redlock([forRedlock], { retryCount: -1, retryDelay: 10, retryJitter: 5 });
  const remote = await open(`redis://127.0.0.1:${server.port}`);
  return [
    ours("cinnabar", cycles, ["eval", "evalsha"], remote),
    {
      what: "redlock 4",
      cycles,
      sends: ["eval", "evalsha"],
      acquire: async (name) => {
        const lock = await redlock.lock(name, LEASE_MS);
        return () => lock.unlock();
      },
      close: () => forRedlock.quit(),
    },
    {
      what: "redis-semaphore 5, Mutex",
      cycles,
      sends: ["eval", "evalsha", "set"],
      acquire: async (name) => {
        const mutex = new Mutex(forMutex, name, { lockTimeout: LEASE_MS, acquireTimeout: 60_000, retryInterval: 10 });
        await mutex.acquire();
        return () => mutex.release();
      },
      close: () => forMutex.quit(),
    },
    ours("cinnabar, embedded", cycles * 10, null, await open()),
  ];
}

async function alone(subject: Subject): Promise<number> {
  for (let i = 0; i < subject.cycles / 2; i++) await (await subject.acquire("warm"))();
  const started = performance.now();
  for (let i = 0; i < subject.cycles; i++) await (await subject.acquire("alone"))();
  return subject.cycles / ((performance.now() - started) / 1000);
}

/** Each caller has a lock of its own. */
async function atOnce(subject: Subject): Promise<number> {
  const each = Math.ceil(subject.cycles / 10);
  const caller = async (nth: number): Promise<void> => {
    for (let i = 0; i < each; i++) await (await subject.acquire(`free ${nth}`))();
  };
  const callers = () => Promise.all(Array.from({ length: WAITERS }, (_, nth) => caller(nth)));
  await callers();
  const started = performance.now();
  await callers();
  return (each * WAITERS) / ((performance.now() - started) / 1000);
}

function commandsOf(server: BenchServer, names: readonly string[]): number {
  const stats = run("redis-cli", ["-p", String(server.port), "INFO", "commandstats"]);
  return names.reduce((sum, name) => sum + Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0), 0);
}

async function contended(
  subject: Subject,
  server: BenchServer,
  sections: number,
): Promise<Omit<LockRow, "what" | "cycles" | "wide">> {
  const before = subject.sends === null ? 0 : commandsOf(server, subject.sends);
  const waits: number[] = [];
  let heldMs = 0;
  const waiter = async (): Promise<void> => {
    for (let i = 0; i < sections; i++) {
      const asked = performance.now();
      const release = await subject.acquire("contended");
      const got = performance.now();
      waits.push(got - asked);
      await new Promise((resolve) => setTimeout(resolve, 1));
      heldMs += performance.now() - got;
      await release();
    }
  };
  await Promise.all(Array.from({ length: WAITERS }, waiter));
  const total = WAITERS * sections;
  const commands = subject.sends === null ? null : (commandsOf(server, subject.sends) - before) / total;
  return { commands, medianMs: median(waits), worstMs: Math.max(...waits), idealMs: ((WAITERS - 1) * heldMs) / total };
}

export async function compareLocks(quick: boolean): Promise<LockRow[]> {
  const server = await startServer("redis");
  const all = await subjects(server, quick);
  const rounds = quick ? 1 : 5;
  const rows = new Map<Subject, LockRow[]>(all.map((subject) => [subject, []]));
  for (let round = 0; round < rounds; round++) {
    for (const subject of round % 2 === 0 ? all : [...all].reverse()) {
      const cycles = await alone(subject);
      const wide = await atOnce(subject);
      rows
        .get(subject)!
        .push({ what: subject.what, cycles, wide, ...(await contended(subject, server, quick ? 4 : 20)) });
      process.stderr.write(".");
    }
  }
  process.stderr.write("\n");
  for (const subject of all) await subject.close();
  await server.stop();
  return all.map((subject) => {
    const measured = rows.get(subject)!;
    const middle = (field: "cycles" | "wide" | "medianMs" | "worstMs" | "idealMs") =>
      median(measured.map((row) => row[field]));
    const commands = subject.sends === null ? null : median(measured.map((row) => row.commands!));
    return {
      what: subject.what,
      cycles: middle("cycles"),
      wide: middle("wide"),
      commands,
      medianMs: middle("medianMs"),
      worstMs: middle("worstMs"),
      idealMs: middle("idealMs"),
    };
  });
}

export function lockTable(rows: readonly LockRow[]): string {
  const whole = (value: number) => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
  return [
    `**Locks**: alone, then ${WAITERS} callers who hold it for a millisecond each`,
    "",
    "| locks | alone, cycles/s | 50 free locks at once, cycles/s | commands per section | median wait, ms | worst wait, ms | worst ÷ ideal |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ...rows.map(
      ({ what, cycles, wide, commands, medianMs, worstMs, idealMs }) =>
        `| ${what} | ${whole(cycles)} | ${whole(wide)} | ${commands?.toFixed(1) ?? "–"} | ${medianMs.toFixed(1)} | ${worstMs.toFixed(1)} | ${(worstMs / idealMs).toFixed(1)} |`,
    ),
  ].join("\n");
}
