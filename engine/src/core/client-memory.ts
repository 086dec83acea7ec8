/**
 * What clients take, and which of them go when that is too much.
 *
 * A client's account is the sum of its buffers (input that is not complete, replies that are not taken), the words of the
 * command that is being read or waits, its MULTI queue, and a sum for each watched key, subscription and tracking prefix.
 * Replies count by their length: a large value that several replies refer to is there once (net/outbox.ts), but Redis counts
 * it for each, and limits should mean the same here.
 *
 * With `maxmemory-clients` or `maxmemory` every batch of commands brings its client's account up to date, and the sum is
 * kept. Past `maxmemory-clients` the largest clients are ended, those with CLIENT NO-EVICT, replicas and the primary excepted.
 * Eviction runs between commands, never inside one.
 *
 * Without a limit only clients with large input are counted, and two bounds hold that nobody can switch off, because past
 * them the process would end: unfinished commands and transactions may take a quarter of V8's heap, and all input together half
 * of the machine's memory.
 */

import type { Config } from "../config/config.ts";
import type { Stats } from "../observe/stats.ts";
import { heapFigures, memoryLimit } from "../platform/memory.ts";
import { soon } from "../platform/timers.ts";
import type { Client, QueuedCommand } from "./client.ts";
import type { Log } from "./log.ts";
import type { ClientBuffers } from "./transport.ts";

/** What a client takes beside its buffers, about. */
const CLIENT_BYTES = 1024;
/** What a watched key, a subscription or a prefix takes, about. */
const ITEM_BYTES = 100;
/** What a queued command and each of its words take beside the bytes. */
const QUEUED_BYTES = 64;
const WORD_BYTES = 24;
/** What `multi-mem` counts for a word beside its bytes: a pointer, as in Redis. */
const POINTER_BYTES = 8;
/** A lower maxmemory-clients would leave nobody to raise it again. */
const LOWEST_LIMIT = 128 * 1024;
/** Housekeeping looks at each client once in so many ticks, and at no fewer than so many clients in one. */
const TICKS = 10;
const FEWEST = 5;

export interface ClientAccount extends ClientBuffers {
  /** Commands that wait for EXEC or that it runs, -1 outside of a transaction; and their words as Redis counts them. */
  readonly queued: number;
  readonly queuedWordBytes: number;
  readonly total: number;
}

export const NO_BUFFERS: ClientBuffers = {
  query: 0,
  queryFree: 0,
  argv: 0,
  argvOverhead: 0,
  replyRoom: 0,
  replyPeak: 0,
  replyInBuffer: 0,
  replyParts: 0,
  replyBytes: 0,
};

const NOTHING = { total: 0, replyBytes: 0 };

/** Counts the words of a transaction. What was counted before is not counted again: a queue only grows. */
function countQueue(queue: readonly QueuedCommand[], account: Client["queueAccount"]): void {
  if (account.queue !== queue) {
    account.queue = queue;
    account.commands = 0;
    account.bytes = 0;
    account.wordBytes = 0;
  }
  for (; account.commands < queue.length; account.commands++) {
    account.bytes += QUEUED_BYTES;
    for (const { length } of queue[account.commands]!.argv) {
      account.bytes += length + WORD_BYTES;
      account.wordBytes += length + POINTER_BYTES;
    }
  }
}

/** Where a client's memory goes. */
export function accountOf(client: Client): ClientAccount {
  const buffers = client.transport.buffers?.() ?? NO_BUFFERS;
  const { queueAccount } = client;
  const queue = client.multi ?? client.transaction?.queue ?? null;
  if (queue !== null) countQueue(queue, queueAccount);
  const items = client.watched.length + client.subscriptions + (client.tracking?.prefixes.size ?? 0);
  const { query, queryFree, argv, argvOverhead, replyRoom, replyBytes } = buffers;
  const input = query + queryFree + argv + argvOverhead + (queue === null ? 0 : queueAccount.bytes);
  const total = CLIENT_BYTES + client.name.length + input + replyRoom + replyBytes + items * ITEM_BYTES;
  return {
    ...buffers,
    queued: queue?.length ?? -1,
    queuedWordBytes: queue === null ? 0 : queueAccount.wordBytes,
    total,
  };
}

/** What counting clients needs of the store around it. */
interface ClientMemoryHost {
  readonly config: Pick<Config, "values">;
  readonly clients: ReadonlyMap<number, Client>;
  readonly stats: Stats;
  readonly log: Log;
}

export class ClientMemory {
  /** Whether every client is counted. */
  active = false;
  /** maxmemory-clients in bytes; 0 means that there is none. */
  limit = 0;
  /** What the counted clients take, and how much of that is input, and in V8's heap. Replicas do not count: see eviction.ts. */
  totalBytes = 0;
  #inputBytes = 0;
  #heapBytes = 0;
  /** What unfinished commands and transactions may take of V8's heap. */
  heapShare = Math.floor(heapFigures().limit / 4);
  readonly #machineShare = Math.floor(memoryLimit() / 2);
  readonly #host: ClientMemoryHost;
  /** Whether clients have to go; they do before the next command, or between commands. */
  isOver = false;
  #next: IterableIterator<Client> | null = null;

  constructor(host: ClientMemoryHost) {
    this.#host = host;
  }

  /** Takes over the directives; a limit that was lowered acts after the command that lowered it. */
  configure(): void {
    const { values } = this.#host.config;
    const wanted = values["maxmemory-clients"];
    const limit = wanted < 0 ? Math.floor((values.maxmemory * -wanted) / 100) : wanted;
    this.limit = limit === 0 ? 0 : Math.max(limit, LOWEST_LIMIT);
    this.active = this.limit > 0 || values.maxmemory > 0;
    if (!this.active) return;
    for (const client of this.#host.clients.values()) this.update(client);
  }

  /** Brings a client's account up to date. */
  update(client: Client): void {
    if (client.closed) return;
    const counts = !client.replica?.attached && !client.isPrimary;
    const { total, replyBytes } = counts ? accountOf(client) : NOTHING;
    const heapBytes = counts ? (client.transport.heapBytes ?? 0) + client.queueAccount.bytes : 0;
    this.#count(client, total, total - replyBytes, heapBytes);
    if (this.isOver || !this.#exceeds) return;
    this.isOver = true;
    soon(() => this.evict());
  }

  forget(client: Client): void {
    this.#count(client, 0, 0, 0);
  }

  #count(client: Client, bytes: number, inputBytes: number, heapBytes: number): void {
    this.totalBytes += bytes - client.countedBytes;
    this.#inputBytes += inputBytes - client.countedInputBytes;
    this.#heapBytes += heapBytes - client.countedHeapBytes;
    client.countedBytes = bytes;
    client.countedInputBytes = inputBytes;
    client.countedHeapBytes = heapBytes;
  }

  get #exceeds(): boolean {
    if (this.limit > 0 && this.totalBytes > this.limit) return true;
    return this.#heapBytes > this.heapShare || this.#inputBytes > this.#machineShare;
  }

  /** Ends the largest clients until the rest fits. */
  evict(): void {
    this.isOver = false;
    if (!this.#exceeds) return;
    const heapFirst = this.#heapBytes > this.heapShare;
    const size = (client: Client) => (heapFirst ? client.countedHeapBytes : client.countedBytes);
    const candidates = [...this.#host.clients.values()].filter(
      (client) =>
        size(client) > 0 &&
        (heapFirst || !client.noEvict) &&
        client.transport.buffers !== undefined &&
        !client.isPrimary,
    );
    candidates.sort((a, b) => size(b) - size(a));
    for (const client of candidates) {
      if (!this.#exceeds) return;
      this.#host.log("notice", `Evicting client: id=${client.id} tot-mem=${client.countedBytes}`);
      this.#host.stats.evictedClients++;
      client.transport.close(false);
    }
  }

  /** What all clients but replicas take as of now, whether they are counted or not. */
  sum(): number {
    let bytes = 0;
    for (const client of this.#host.clients.values()) if (!client.replica?.attached) bytes += accountOf(client).total;
    return bytes;
  }

  /** Called by every tick: some of the clients, so that each has its turn in a second. */
  cron(): void {
    const { clients } = this.#host;
    for (let left = Math.max(FEWEST, Math.ceil(clients.size / TICKS)); left > 0 && clients.size > 0; left--) {
      this.#next ??= clients.values();
      const { value: client, done } = this.#next.next();
      if (done) {
        this.#next = null;
        if (clients.size <= FEWEST) return;
        continue;
      }
      client.transport.cron?.();
      if (this.active || client.countedBytes > 0) this.update(client);
    }
  }
}
