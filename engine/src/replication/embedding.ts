/** Replication for a program that has the store in its own process: what it may ask, and what it is told. */
import type { Replication } from "./index.ts";

/** A replica as its primary sees it. */
export interface ReplicaStatus {
  /** The address that it is known by. */
  readonly host: string;
  /** The port where it listens; 0 where it has not told. */
  readonly port: number;
  /** Whether it has everything but the last moments, and gets the rest as it comes. */
  readonly online: boolean;
  /** The offset up to which it has said that it has everything. */
  readonly offset: number;
  /** Whole seconds since it was last heard of. */
  readonly lagSeconds: number;
}

/** Where replication stands, as `Engine.replication` has it. */
export interface ReplicationStatus {
  /** Whether it follows another store. */
  readonly role: "primary" | "replica";
  /** Names the history of the data; what has the same id and offset has the same data. */
  readonly id: string;
  /** How far it is in the stream of changes, in bytes. */
  readonly offset: number;
  /** Whom a replica follows, and whether the link is up. */
  readonly primary: { readonly host: string; readonly port: number; readonly up: boolean } | null;
  /** Those that follow it. */
  readonly replicas: readonly ReplicaStatus[];
}

export function statusOf(replication: Replication): ReplicationStatus {
  const { following, feed, id } = replication;
  return {
    role: following === null ? "primary" : "replica",
    id,
    offset: feed.offset,
    primary: following === null ? null : { ...following, up: replication.linkIsUp },
    replicas: Array.from(replication.replicas, ({ host, port, state, ackOffset, lagSeconds }) => ({
      host,
      port,
      online: state === "online",
      offset: ackOffset,
      lagSeconds,
    })),
  };
}

/** How long `Engine.replicaOf` waits. */
export interface FollowOptions {
  /** Gives up waiting, though not following, after so long; 0, the default, never. */
  readonly timeoutMs?: number;
}

/** Follows a primary; settles when the link is up and the data is the primary's. */
export function follow(
  replication: Replication,
  host: string,
  port: number,
  options: FollowOptions = {},
): Promise<void> {
  const { following } = replication;
  if (following?.host !== host || following.port !== port) replication.follow(host, port);
  if (replication.linkIsUp) return Promise.resolve();
  const { timeoutMs = 0 } = options;
  return new Promise((resolve, reject) => {
    const end = (error?: Error) => {
      clearTimeout(timer);
      replication.listeners.delete(listen);
      if (error === undefined) resolve();
      else reject(error);
    };
    const listen = () => {
      const { following: now } = replication;
      if (now?.host !== host || now.port !== port) end(new Error(`the store no longer follows ${host}:${port}`));
      else if (replication.linkIsUp) end();
    };
    const late = () => end(new Error(`no link to ${host}:${port} after ${timeoutMs} ms`));
    const timer = timeoutMs === 0 ? undefined : setTimeout(late, timeoutMs);
    replication.listeners.add(listen);
  });
}

/** What `Engine.waitForReplicas` waits for, and how long. */
export interface WaitForReplicasOptions {
  /** After so long it settles with the number that there are; 0, the default: never. */
  readonly timeoutMs?: number;
  /**
   * Wait until they have it on disk: replicas with an append-only file, and a version that tells (7.2, or this store). False by default.
   */
  readonly onDisk?: boolean;
}

/** Settles when so many replicas have everything that was written so far, with their number. */
export async function waitForReplicas(
  replication: Replication,
  count: number,
  { timeoutMs = 0, onDisk = false }: WaitForReplicasOptions = {},
): Promise<number> {
  if (replication.isReplica) throw new Error("the store is a replica: nothing that is written here goes to others");
  return (await replication.waits.until({ replicas: count, onDisk }, timeoutMs)).replicas;
}
