/**
 * `store.health()`: whether a store can be used now, and what is wrong. Every server is asked for a sign of life, and those that give
 * one for what INFO says about them. A server that does not answer INFO, because the user may not ask, counts as sound: it has answered.
 */
import type { Clock } from "../base/clock.ts";
import { errorOf, ServerError } from "../base/errors.ts";
import type { Answer, Driver, Request, Topology } from "./port.ts";

/**
 * What is wrong, for programs. `CLOSED`: the store is closed; `NO_ANSWER`: a server is silent; the others are what a server says about
 * itself.
 */
export type HealthCode =
  | "CLOSED"
  | "NO_ANSWER"
  | "LOADING"
  | "READ_ONLY"
  | "PRIMARY_LINK_DOWN"
  | "SNAPSHOT_FAILED"
  | "AOF_FAILED"
  | "MEMORY_FULL"
  | "HEAP_FULL"
  | "CLUSTER_DOWN";

/** One thing that is wrong. */
export interface HealthReason {
  /** What is wrong, for programs. */
  readonly code: HealthCode;
  /** What is wrong and what it means, for people. */
  readonly message: string;
  /** Which server; null where there is only one. */
  readonly server: string | null;
}

/** What `store.health()` found. */
export interface Health {
  /**
   * `healthy`: every server answers, and nothing is wrong. `degraded`: some work is refused, may be lost, or waits, as the reasons
   * say. `unreachable`: no server answers.
   */
  readonly status: "healthy" | "degraded" | "unreachable";
  /** What is wrong; empty where nothing is. */
  readonly reasons: readonly HealthReason[];
  /** How long the slowest server took for its sign of life; null where none gave one. */
  readonly latencyMs: number | null;
}

/** How long `store.health()` may take. */
export interface HealthOptions {
  /** How long servers may take to answer; 2 000 by default. */
  readonly timeoutMs?: number;
}

const FULL = 0.95;

interface Asked {
  readonly server: string;
  readonly latencyMs: number | null;
  readonly error: Error | null;
}

export const CLOSED: Health = {
  status: "unreachable",
  reasons: [{ code: "CLOSED", message: "the store is closed", server: null }],
  latencyMs: null,
};

export async function healthOf(driver: Driver, clock: Clock, timeoutMs: number): Promise<Health> {
  const servers = driver.servers?.() ?? [""];
  const asked = await Promise.all(servers.map((server) => signOfLife(driver, server, { clock, timeoutMs })));
  const name = (server: string): string | null => (server === "" ? null : server);
  const reasons: HealthReason[] = asked.flatMap(({ server, error }) =>
    error === null ? [] : [{ code: "NO_ANSWER", message: `no answer: ${error.message}`, server: name(server) }],
  );
  const latencies = asked.flatMap(({ latencyMs }) => latencyMs ?? []);
  if (latencies.length === 0) return { status: "unreachable", reasons, latencyMs: null };
  if (reasons.length === 0) reasons.push(...(await toldBy(driver, servers.map(name), { clock, timeoutMs })));
  return { status: reasons.length === 0 ? "healthy" : "degraded", reasons, latencyMs: Math.max(...latencies) };
}

interface Limits {
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Any answer is one, an error of the server too. */
async function signOfLife(driver: Driver, server: string, limits: Limits): Promise<Asked> {
  const { clock } = limits;
  const begunMs = clock.monotonicMs();
  const ask = () => driver.probe?.(server) ?? driver.send(request("PING"));
  try {
    await within(limits, ask());
  } catch (error) {
    if (!(error instanceof ServerError)) return { server, latencyMs: null, error: errorOf(error) };
  }
  return { server, latencyMs: clock.monotonicMs() - begunMs, error: null };
}

async function toldBy(driver: Driver, servers: readonly (string | null)[], limits: Limits): Promise<HealthReason[]> {
  const ask = (...words: string[]): Promise<Answer[]> =>
    within(limits, driver.sendToAll(request(...words))).catch((): Answer[] => []);
  const [infos, clusters] = await Promise.all([
    ask("INFO"),
    driver.topology === ("cluster" satisfies Topology) ? ask("CLUSTER", "INFO") : [],
  ]);
  return servers.flatMap((server, at) => [
    ...reasonsIn(textOf(infos[at]), server),
    ...(/^cluster_state:(?!ok)/m.test(textOf(clusters[at]))
      ? [{ code: "CLUSTER_DOWN" as const, message: "slots of the Cluster are not served", server }]
      : []),
  ]);
}

const textOf = (answer: Answer | undefined): string =>
  typeof answer === "string" ? answer : Buffer.isBuffer(answer) ? answer.toString("utf8") : "";

/** What a server says about itself in INFO. */
function reasonsIn(info: string, server: string | null): HealthReason[] {
  const of = (field: string): string | undefined => new RegExp(`^${field}:([^\\r\\n]*)`, "m").exec(info)?.[1];
  const is = (field: string, value: string): boolean => of(field) === value;
  const isReplica = is("role", "slave");
  const most = Number(of("maxmemory") ?? 0);
  const isFull = most > 0 && Number(of("used_memory") ?? 0) >= FULL * most && is("maxmemory_policy", "noeviction");
  const rows: readonly (readonly [code: HealthCode, isSo: boolean, message: string])[] = [
    ["LOADING", is("loading", "1"), "the server loads its files; commands are refused until it has"],
    ["READ_ONLY", isReplica, "the server is a replica; writes are refused"],
    ["PRIMARY_LINK_DOWN", isReplica && is("master_link_status", "down"), "the replica has lost its primary"],
    ["SNAPSHOT_FAILED", is("rdb_last_bgsave_status", "err"), "the last snapshot failed; writes may be refused"],
    [
      "AOF_FAILED",
      is("aof_enabled", "1") && is("aof_last_write_status", "err"),
      "the append-only file cannot be written; writes are refused",
    ],
    ["MEMORY_FULL", isFull, "memory is nearly used up and nothing is evicted; writes are refused at maxmemory"],
    ["HEAP_FULL", is("heap_full", "1"), "the heap is full; commands that need memory are refused"],
  ];
  return rows.flatMap(([code, isSo, message]) => (isSo ? [{ code, message, server }] : []));
}

function request(...words: string[]): Request {
  return { words, key: undefined, buffers: false };
}

function within<T>({ clock, timeoutMs }: Limits, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(timeoutMs, () => reject(new Error(`nothing for ${timeoutMs} ms`)), { keepAlive: true });
    answer.then(resolve, reject).finally(() => timer.cancel());
  });
}
