/**
 * Waiting until replicas have what was written, in memory or on disk.
 *
 *   await store.call("SET", "order:17", "paid");
 *   const { enough } = await waitForReplicas(store, { replicas: 2, onDisk: true });
 *
 *   const { answer, enough } = await writeToReplicas(store, ["SET", "order:17", "paid"], { replicas: 1 });
 *
 * The first speaks of everything that the primary has done before it is asked; the second of one write, and cannot be misled by
 * a failover between the write and the wait.
 */
import { aStore } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { InputError, ServerError } from "../../base/errors.ts";
import { type Checks, callback, choice, defineOptions, flag, prefix, text, whole } from "../../base/options.ts";
import { asNumbers } from "../../base/replies.ts";
import type { ScriptCall } from "../../base/script.ts";
import { onOwnConnection } from "../../connection/acknowledged.ts";
import type { BlockingConnection } from "../../connection/blocking.ts";
import type { Reply, Word } from "../../connection/port.ts";
import { routingKey } from "../../connection/routing.ts";
import type { Item, Store } from "../../connection/store.ts";
import { field, onDisks, type Replica, replicasOf, urlOf } from "./disks.ts";
import { markKey } from "./keys.ts";

const MARK_MS = 60_000;

/** What must have a write, and how long to wait for it. */
export interface ReplicationOptions {
  /** How many replicas must have it (default 1). */
  readonly replicas?: number;
  /** For how long to wait; a second by default, five with `onDisk`. */
  readonly timeoutMs?: number;
  /** Whether they must have it on disk (default false). */
  readonly onDisk?: boolean;
  /**
   * How it is found out what is on disk. "acknowledged": by WAITAOF. "inspected": by asking each replica. By default the
   * first where the primary has that command; it needs replicas that have it too.
   */
  readonly proof?: "acknowledged" | "inspected";
  /** Where a replica is reached, if not where it says, with the primary's credentials, which is the default. */
  readonly replicaUrl?: (replica: Replica) => string;
}

/** What `waitForReplicas` may be given. */
export interface WaitForReplicasOptions extends ReplicationOptions {
  /** How the key of its mark begins (default "replication"). */
  readonly prefix?: string;
  /** In a Cluster, where it is needed: a key of the node whose writes are meant. None by default. */
  readonly key?: string;
}

/** How many replicas have it. */
export interface Replicated {
  /** Replicas that have it in memory. */
  readonly replicas: number;
  /** Replicas that have it on disk; null if that was not asked for. */
  readonly onDisk: number | null;
  /** Whether these are as many as were asked for. */
  readonly enough: boolean;
}

export type { Replica };

const waiting: Checks<ReplicationOptions> = {
  replicas: whole(1, 1_000),
  timeoutMs: whole(1),
  onDisk: flag,
  proof: choice("acknowledged", "inspected"),
  replicaUrl: callback,
};

const WAIT_FOR_REPLICAS_OPTIONS = defineOptions<WaitForReplicasOptions>("waitForReplicas", {
  ...waiting,
  prefix,
  key: text,
});

/**
 * Waits until replicas have everything that the primary did before. Too few in time is an outcome, not an error.
 *
 * @example
 * await db.set("order:17", "paid");
 * await waitForReplicas(db, { replicas: 1, timeoutMs: 50 }); // → { replicas: 0, onDisk: null, enough: false }
 */
export async function waitForReplicas(store: Store, options: WaitForReplicasOptions = {}): Promise<Replicated> {
  aStore("waitForReplicas", store);
  WAIT_FOR_REPLICAS_OPTIONS.check(options);
  const { key, prefix = "replication" } = options;
  if (key === undefined && store.topology === "cluster") {
    throw new InputError("in a Cluster, key must say which node is meant");
  }
  const mark = markKey(prefix, store.topology === "cluster" ? key : undefined);
  const { answer: _, ...replicated } = await write(store, ["SET", mark, randomToken(), "PX", MARK_MS], mark, options);
  return replicated;
}

const WRITE_TO_REPLICAS_OPTIONS = defineOptions<ReplicationOptions>("writeToReplicas", waiting);

/**
 * Runs a command or a script, and waits until replicas have what it wrote. It is written whether or not they do.
 *
 * @example
 * const { answer, enough } = await writeToReplicas(db, ["SET", "order:17", "paid"], { replicas: 1, timeoutMs: 50 });
 * [answer, enough]; // → ["OK", false]
 */
export async function writeToReplicas<T = Reply>(
  store: Store,
  item: ScriptCall<T> | readonly Word[],
  options: ReplicationOptions = {},
): Promise<Replicated & { readonly answer: T }> {
  aStore("writeToReplicas", store);
  WRITE_TO_REPLICAS_OPTIONS.check(options);
  const key = isCall(item) ? item.keys[0] : routingKey(item);
  if (key === undefined) throw new InputError("what is written must have a key");
  return write<T>(store, item, key, options);
}

async function write<T>(
  store: Store,
  item: Item,
  key: string,
  options: ReplicationOptions,
): Promise<Replicated & { readonly answer: T }> {
  const { onDisk = false } = options;
  const replicas = options.replicas ?? 1;
  const timeoutMs = options.timeoutMs ?? (onDisk ? 5_000 : 1_000);
  return onOwnConnection(store, key, {
    write: (connection) => runOn<T>(connection, item),
    wait: async (connection, answer) => {
      const deadlineMs = store.clock.monotonicMs() + timeoutMs;
      const count = Number(await connection.call(["WAIT", replicas, timeoutMs], { timeoutMs }));
      if (!onDisk) return { answer, replicas: count, onDisk: null, enough: count >= replicas };
      const left = Math.floor(deadlineMs - store.clock.monotonicMs());
      if (count < replicas || left < 1) return { answer, replicas: count, onDisk: 0, enough: false };
      const disks =
        (options.proof === "inspected"
          ? null
          : await acknowledgedDisks(store, connection, { replicas, timeoutMs: left, proof: options.proof })) ??
        (await inspectedDisks(store, connection, { count: replicas, deadlineMs, replicaUrl: options.replicaUrl }));
      return { answer, replicas: count, onDisk: disks, enough: disks >= replicas };
    },
  });
}

async function runOn<T>(connection: BlockingConnection, item: Item): Promise<T> {
  if (isCall(item)) return connection.run(item as ScriptCall<T>, { timeoutMs: 0 });
  return (await connection.call(item, { timeoutMs: 0 })) as T;
}

/** Stores whose primary does not have WAITAOF. */
const withoutWaitaof = new WeakSet<Store>();

/** By WAITAOF; null where there is no such command. */
async function acknowledgedDisks(
  store: Store,
  connection: BlockingConnection,
  {
    replicas,
    timeoutMs,
    proof,
  }: { readonly replicas: number; readonly timeoutMs: number; readonly proof: ReplicationOptions["proof"] },
): Promise<number | null> {
  if (withoutWaitaof.has(store) && proof === undefined) return null;
  try {
    const reply = asNumbers(await connection.call(["WAITAOF", 0, replicas, timeoutMs], { timeoutMs }));
    return Number(reply[1]);
  } catch (error) {
    const isUnknown = error instanceof ServerError && /unknown command/i.test(error.message);
    if (!isUnknown || proof !== undefined) throw error;
    withoutWaitaof.add(store);
    return null;
  }
}

async function inspectedDisks(
  store: Store,
  connection: BlockingConnection,
  {
    count,
    deadlineMs,
    replicaUrl,
  }: { readonly count: number; readonly deadlineMs: number; readonly replicaUrl: ReplicationOptions["replicaUrl"] },
): Promise<number> {
  const info = String(await connection.call(["INFO", "replication"], { timeoutMs: 0 }));
  const address = store.workerAddress;
  return onDisks({
    count,
    offset: Number(field(info, "master_repl_offset")),
    deadlineMs,
    urls: replicasOf(info).map((replica) => replicaUrl?.(replica) ?? urlOf(replica, address)),
    address,
    clock: store.clock,
    signal: store.closeSignal,
  });
}

function isCall(item: Item | ScriptCall<unknown>): item is ScriptCall {
  return "script" in item;
}
