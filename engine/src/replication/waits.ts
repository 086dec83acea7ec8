/**
 * WAIT and WAITAOF: clients that wait until enough replicas have what was written, or have it on disk.
 *
 * A client goes by where the stream stood after its last command. Replicas are asked for an acknowledgement in the stream
 * itself, once in a turn of the event loop for all who wait; every acknowledgement, and every sync of our own file, lets
 * those go on who have enough.
 */
import type { BlockRequest } from "../core/blocking.ts";
import type { Client } from "../core/client.ts";
import type { ReplicationReached, ReplicationWait } from "../core/ports.ts";
import type { Reply } from "../core/reply.ts";
import type { Replication } from "./index.ts";

interface Waiter extends ReplicationWait {
  readonly offset: number;
  /** Called once, when there is enough. */
  readonly done: (reached: ReplicationReached) => void;
  /** Nobody waits any more. */
  readonly over: () => boolean;
}

export class Waits {
  readonly #replication: Replication;
  #waiters: Waiter[] = [];

  constructor(replication: Replication) {
    this.#replication = replication;
  }

  /** What there is up to an offset. */
  reached(offset: number, onDisk: boolean): ReplicationReached {
    const { replicas, feed } = this.#replication;
    let count = 0;
    for (const replica of replicas) {
      if (replica.state !== "online") continue;
      if ((onDisk ? replica.diskOffset : replica.ackOffset) >= offset) count++;
    }
    return { replicas: count, localDisk: (feed.marks.offset ?? -1) >= offset };
  }

  #isEnough({ replicas, localDisk }: ReplicationReached, wanted: ReplicationWait): boolean {
    return replicas >= wanted.replicas && (localDisk || !wanted.localDisk);
  }

  /** Has a client wait, in its command, for what it wrote. */
  block(
    client: Client,
    wanted: ReplicationWait & { readonly timeoutMs: number },
    reply: (reached: ReplicationReached) => Reply,
  ): Reply {
    const offset = client.streamOffset;
    const look = () => this.reached(offset, wanted.onDisk);
    const now = look();
    if (client.inTransaction || this.#isEnough(now, wanted)) return reply(now);
    const request: BlockRequest = {
      type: "replicas",
      keys: [],
      timeoutMs: wanted.timeoutMs,
      get nothing(): Reply {
        return reply(look());
      },
      serve: () => undefined,
    };
    const done = (reached: ReplicationReached) => client.engine.blocking.release(client, reply(reached));
    this.#add({ ...wanted, offset, done, over: () => client.blocked !== request });
    return client.block(request);
  }

  /** Settles when there is enough of everything that was written so far, or the time is over (0: it never is). */
  until(wanted: ReplicationWait, timeoutMs: number): Promise<ReplicationReached> {
    const { offset } = this.#replication.feed;
    const now = this.reached(offset, wanted.onDisk);
    if (this.#isEnough(now, wanted)) return Promise.resolve(now);
    return new Promise((resolve) => {
      let over = false;
      const done = (reached: ReplicationReached) => {
        over = true;
        clearTimeout(timer);
        resolve(reached);
      };
      const stop = () => done(this.reached(offset, wanted.onDisk));
      const timer = timeoutMs === 0 ? undefined : setTimeout(stop, timeoutMs);
      this.#add({ ...wanted, offset, done, over: () => over });
    });
  }

  #add(waiter: Waiter): void {
    this.#waiters.push(waiter);
    this.#replication.feed.requestAcks();
  }

  /** More has been acknowledged, or come to be on disk. */
  check(): void {
    if (this.#waiters.length === 0) return;
    const ready: (() => void)[] = [];
    this.#waiters = this.#waiters.filter((waiter) => {
      if (waiter.over()) return false;
      const reached = this.reached(waiter.offset, waiter.onDisk);
      if (!this.#isEnough(reached, waiter)) return true;
      ready.push(() => waiter.done(reached));
      return false;
    });
    for (const go of ready) go();
  }
}
