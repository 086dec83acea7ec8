/**
 * Awaiting one call after the other: the engine in the process, against ioredis and a Redis on the same machine, and
 * against the stores that live in the process too.
 */
import { Engine } from "@cinnabar/engine";
import { Redis } from "ioredis";
import { median, startServer } from "./servers.ts";

export interface ProcessRow {
  readonly what: string;
  readonly set: number;
  readonly get: number;
  readonly eval: number;
}

interface Subject {
  readonly what: string;
  readonly calls: number;
  set(key: string, value: string): Promise<unknown>;
  get(key: string): Promise<unknown>;
  /** Runs SCRIPT on a key. */
  eval(key: string): Promise<unknown>;
  readonly evals: number;
  close(): Promise<unknown>;
}

async function rate(calls: number, call: (i: number) => Promise<unknown>): Promise<number> {
  const started = performance.now();
  for (let i = 0; i < calls; i++) await call(i);
  return calls / ((performance.now() - started) / 1000);
}

const SCRIPT = "return redis.call('GET', KEYS[1])";
const VALUE = "a value of thirty-two characters";

async function measure(subject: Subject): Promise<Omit<ProcessRow, "what">> {
  const keys = Array.from({ length: 1000 }, (_, i) => `key:${i}`);
  const set = await rate(subject.calls, (i) => subject.set(keys[i % 1000]!, VALUE));
  const get = await rate(subject.calls, (i) => subject.get(keys[i % 1000]!));
  const evals = await rate(subject.evals, (i) => subject.eval(keys[i % 1000]!));
  return { set, get, eval: evals };
}

export async function compareInProcess(rounds: number): Promise<ProcessRow[]> {
  const engine = await Engine.open();
  const client = engine.connect();
  const server = await startServer("redis");
  const redis = new Redis({ port: server.port, host: "127.0.0.1" });
  const { default: Mock } = await import("ioredis-mock");
  const mock = new Mock();
  const subjects: Subject[] = [
    {
      what: "cinnabar, in process",
      calls: 1_000_000,
      set: (key, value) => client.call("SET", key, value),
      get: (key) => client.call("GET", key),
      eval: (key) => client.call("EVAL", SCRIPT, 1, key),
      evals: 300_000,
      close: () => engine.close(),
    },
    {
      what: "ioredis → redis-server on loopback",
      calls: 20_000,
      set: (key, value) => redis.set(key, value),
      get: (key) => redis.get(key),
      eval: (key) => redis.eval(SCRIPT, 1, key),
      evals: 20_000,
      close: () => redis.quit().then(() => server.stop()),
    },
    {
      what: "ioredis-mock, in process",
      calls: 200_000,
      set: (key, value) => mock.set(key, value),
      get: (key) => mock.get(key),
      eval: (key) => mock.eval(SCRIPT, 1, key),
      evals: 1_000,
      close: async () => mock.disconnect(),
    },
  ];
  const figures = subjects.map(() => ({ set: [] as number[], get: [] as number[], eval: [] as number[] }));
  for (let round = 0; round <= rounds; round++) {
    for (const [i, subject] of subjects.entries()) {
      const { set, get, eval: evals } = await measure(subject);
      // The first round warms up.
      if (round === 0) continue;
      figures[i]!.set.push(set);
      figures[i]!.get.push(get);
      figures[i]!.eval.push(evals);
    }
    process.stderr.write(".");
  }
  process.stderr.write("\n");
  for (const subject of subjects) await subject.close();
  return subjects.map(({ what }, i) => ({
    what,
    set: median(figures[i]!.set),
    get: median(figures[i]!.get),
    eval: median(figures[i]!.eval),
  }));
}
