/** The reasons not to run a command that depend on the client's and the server's state. */
import {
  ALLOW_BUSY,
  type Command,
  DENYOOM,
  MAY_REPLICATE,
  NO_AUTH,
  NO_MULTI,
  READONLY,
  WHILE_LOADING,
  WHILE_SUBSCRIBED,
  WRITE,
} from "../table/command-table.ts";
import type { Client } from "./client.ts";
import type { Db } from "./db.ts";
import {
  LOADING,
  NOAUTH,
  notAllowedInMulti,
  notInSubscribedMode,
  OOM,
  REPLICA_KEYSPACE,
  type ReplyError,
} from "./errors.ts";
import type { ClusterGate } from "./ports.ts";

/** What of the store decides. */
interface RefusingHost {
  readonly acl: { refusal(client: Client, command: Command, argv: readonly string[]): ReplyError | null };
  /** Data is being read from files. */
  readonly loading: boolean;
  readonly scripts: { readonly running: object | null; readonly busyError: ReplyError };
  readonly clientMemory: { readonly isOver: boolean; evict(): void };
  readonly eviction: { readonly limit: number; makeRoom(): boolean };
  readonly heapGuard: { readonly full: boolean; isShort(db: Db): boolean };
  readonly persistence: { readonly troubled: boolean; refusal(): ReplyError | null };
  readonly replication: { readonly guarded: boolean; refusal(client: Client, command: Command): ReplyError | null };
  readonly cluster: { readonly gate: Pick<ClusterGate, "refusal"> } | null;
}

/** Why this call is not run; null if it is. */
export function refusalOf(
  store: RefusingHost,
  client: Client,
  command: Command,
  argv: readonly string[],
): ReplyError | null {
  const { flags } = command;
  if (client.isPrimary) return null;
  if (!client.authenticated && (flags & NO_AUTH) === 0) return NOAUTH;
  if (client.multi !== null && (flags & NO_MULTI) !== 0) return notAllowedInMulti(command.name);
  if (client.user.limited) {
    const refusal = store.acl.refusal(client, command, argv);
    if (refusal !== null) return refusal;
  }
  // Before what a script says: a file may hold one that takes long.
  if (store.loading && needsData(client, command)) return LOADING;
  if (store.scripts.running !== null && (flags & ALLOW_BUSY) === 0) return store.scripts.busyError;
  if (store.cluster !== null) {
    const refusal = store.cluster.gate.refusal(client, command, argv);
    if (refusal !== null) return refusal;
  }
  // Clients before keys: what the last command has made of its client's buffers must cost nobody's data.
  if (store.clientMemory.isOver) {
    store.clientMemory.evict();
    // Nobody hears it.
    if (client.closed) return OOM;
  }
  if (mayLackRoom(store, client, command) && !store.eviction.makeRoom() && needsRoom(client, command)) return OOM;
  if (store.persistence.troubled && needsFiles(client, command)) {
    const refusal = store.persistence.refusal();
    if (refusal !== null) return refusal;
  }
  if (store.replication.guarded) {
    const refusal = store.replication.refusal(client, command);
    if (refusal !== null) return refusal;
  }
  if (client.protocol === 2 && (flags & WHILE_SUBSCRIBED) === 0 && client.subscriptions > 0) {
    return notInSubscribedMode(command.name);
  }
  if ((client.monitoring || client.replica?.attached) && (flags & (WRITE | READONLY | MAY_REPLICATE)) !== 0)
    return REPLICA_KEYSPACE;
  return null;
}

/** What is refused while data is loaded: EXEC too, when anything in its queue is. */
function needsData(client: Client, command: Command): boolean {
  if ((command.flags & WHILE_LOADING) === 0) return true;
  return client.queuedFor(command).some((queued) => (queued.command.flags & WHILE_LOADING) === 0);
}

/** Whether to look for room: always with maxmemory; else for what needs some, and while the heap is full. */
function mayLackRoom({ eviction, heapGuard }: RefusingHost, client: Client, command: Command): boolean {
  if (eviction.limit > 0 || heapGuard.full) return true;
  return (command.flags & DENYOOM) !== 0 && heapGuard.isShort(client.db);
}

/** EXEC needs room when anything in its queue does. */
function needsRoom(client: Client, command: Command): boolean {
  if ((command.flags & DENYOOM) !== 0) return true;
  return client.queuedFor(command).some((queued) => (queued.command.flags & DENYOOM) !== 0);
}

/** What is refused while files cannot be written. */
function needsFiles(client: Client, command: Command): boolean {
  if ((command.flags & WRITE) !== 0 || command.row.refusedWithoutFiles) return true;
  return client.queuedFor(command).some((queued) => (queued.command.flags & WRITE) !== 0);
}
