/**
 * Client-side caching: telling clients that a key they may have cached is not what it was.
 *
 * Two ways. By default the server remembers which client read which key, in a table of key → client ids bounded by
 * tracking-table-max-keys, and tells each reader once; the entry is then gone until the key is read again. With BCAST the
 * server remembers nothing but prefixes, and tells everybody who asked for a prefix about every key that begins with it.
 *
 * When things are said:
 * - to another client, at once, from inside the change;
 * - to the client whose own command made the change, after that command's reply (`tell`), so that the two never mix;
 * - for BCAST, once per batch of commands, all keys of a prefix in one message, in the order of their bytes. A microtask
 *   ends the batch: a connection runs all commands that it has before it lets go of the thread.
 *
 * The table holds ids and not clients: a client that leaves is not looked for in it, its id just leads nowhere.
 */

import type { Config } from "../config/config.ts";
import { type Command, READONLY } from "../table/command-table.ts";
import { keysOf } from "../table/key-extraction.ts";
import { own } from "../types/packed.ts";
import type { Client } from "./client.ts";
import { Push, type Reply } from "./reply.ts";

export const INVALIDATE_CHANNEL = "__redis__:invalidate";

export interface TrackingOptions {
  /** The id of the client that is told instead; 0 for the client itself. */
  readonly redirect: number;
  readonly bcast: boolean;
  readonly optin: boolean;
  readonly optout: boolean;
  readonly noloop: boolean;
}

/** What a client has asked for. */
export interface ClientTracking extends TrackingOptions {
  /** CLIENT CACHING was called for the next command. */
  caching: boolean;
  /** The client to redirect to was gone when it was needed. */
  redirectBroken: boolean;
  readonly prefixes: Set<string>;
}

/** What tracking needs of the store around it. */
interface TrackingHost {
  readonly config: Pick<Config, "values">;
  readonly clients: ReadonlyMap<number, Client>;
  /** The client whose command is running. */
  readonly current: Client | null;
  /** Sends a message that must not come between a client's own command and its reply. */
  tell(client: Client, message: Reply): void;
}

interface Broadcast {
  readonly clients: Set<Client>;
  /** Keys changed in this batch, with the client that changed each last. */
  readonly keys: Map<string, Client | null>;
}

/** A key's readers: one id, or several. */
type Readers = number | Set<number>;

export class Tracking {
  /** Whether any client tracks. */
  active = false;

  readonly #host: TrackingHost;
  readonly #table = new Map<string, Readers>();
  readonly #prefixes = new Map<string, Broadcast>();
  readonly #clients = new Set<Client>();
  #items = 0;
  #flushed = false;
  #broadcastDue = false;

  constructor(host: TrackingHost) {
    this.#host = host;
  }

  /** What INFO reports. */
  get clientCount(): number {
    return this.#clients.size;
  }

  get keyCount(): number {
    return this.#table.size;
  }

  get itemCount(): number {
    return this.#items;
  }

  get prefixCount(): number {
    return this.#prefixes.size;
  }

  // ---------------------------------------------------------------------------------------------- on and off

  /** Turns tracking on for a client, or changes its options. New prefixes join the old ones. */
  enable(client: Client, options: TrackingOptions, prefixes: readonly string[]): void {
    const kept = client.tracking?.prefixes ?? new Set<string>();
    const caching = client.tracking?.caching ?? false;
    client.tracking = { ...options, caching, redirectBroken: false, prefixes: kept };
    this.#clients.add(client);
    this.active = true;
    if (!options.bcast) return;
    for (const prefix of prefixes.length === 0 ? [""] : prefixes) {
      kept.add(prefix);
      const broadcast = this.#prefixes.get(prefix);
      if (broadcast === undefined) this.#prefixes.set(prefix, { clients: new Set([client]), keys: new Map() });
      else broadcast.clients.add(client);
    }
  }

  disable(client: Client): void {
    const { tracking } = client;
    if (tracking === null) return;
    for (const prefix of tracking.prefixes) {
      const broadcast = this.#prefixes.get(prefix);
      if (broadcast === undefined) continue;
      broadcast.clients.delete(client);
      if (broadcast.clients.size === 0) this.#prefixes.delete(prefix);
    }
    client.tracking = null;
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    this.active = false;
    this.#table.clear();
    this.#items = 0;
  }

  // ---------------------------------------------------------------------------------------------- remembering

  /** Remembers the keys that a command has read, and ends what CLIENT CACHING said. */
  afterCommand(client: Client, command: Command, argv: readonly string[]): void {
    const { tracking } = client;
    if (tracking === null) return;
    // Scripts that only read: what they read is remembered while they run.
    if ((command.flags & READONLY) !== 0 && command.group !== "scripting") this.remember(client, command, argv);
    if (tracking.caching && client.multi === null && !client.inTransaction && !command.parent?.row.keepsCaching) {
      tracking.caching = false;
    }
  }

  /** Remembers the keys of a call, for a client that tracks. */
  remember(client: Client, command: Command, argv: readonly string[]): void {
    const { tracking } = client;
    if (tracking === null || tracking.bcast) return;
    if (tracking.optin ? !tracking.caching : tracking.optout && tracking.caching) return;
    for (const index of keysOf(command, argv)) {
      const key = argv[index];
      if (key !== undefined) this.#addReader(key, client.id);
    }
  }

  #addReader(key: string, id: number): void {
    const readers = this.#table.get(key);
    if (readers === undefined) this.#table.set(own(key), id);
    else if (typeof readers === "number") {
      if (readers === id) return;
      this.#table.set(key, new Set([readers, id]));
    } else {
      if (readers.has(id)) return;
      readers.add(id);
    }
    this.#items++;
  }

  /** Before each command, past tracking-table-max-keys: tells the readers of the oldest entries that they are no longer watched over. */
  shrink(): void {
    const max = this.#host.config.values["tracking-table-max-keys"];
    if (max === 0 || this.#table.size <= max) return;
    for (const key of this.#table.keys()) {
      if (this.#table.size <= max) return;
      this.#tellReaders(key);
    }
  }

  // ---------------------------------------------------------------------------------------------- telling

  /** From the door: a key was changed, by the running command or by itself: by expiry or eviction. */
  keyChanged(key: string, byItself: boolean): void {
    if (this.#prefixes.size > 0) this.#addToBroadcasts(key, byItself ? null : this.#host.current);
    if (this.#table.size > 0) this.#tellReaders(key);
  }

  #tellReaders(key: string): void {
    const readers = this.#table.get(key);
    if (readers === undefined) return;
    this.#table.delete(key);
    if (typeof readers === "number") {
      this.#items--;
      this.#tellReader(readers, key);
      return;
    }
    this.#items -= readers.size;
    for (const id of readers) this.#tellReader(id, key);
  }

  #tellReader(id: number, key: string): void {
    const client = this.#host.clients.get(id);
    const tracking = client?.tracking;
    if (client === undefined || tracking == null || tracking.bcast) return;
    if (tracking.noloop && client === this.#host.current) return;
    this.#send(client, tracking, [key]);
  }

  /** From the door: a database was emptied. Said once for all databases that one command empties. */
  databaseCleared(): void {
    this.#flushed = true;
  }

  #tellOfFlush(): void {
    this.#flushed = false;
    for (const client of this.#clients) if (client.tracking !== null) this.#send(client, client.tracking, null);
    this.#table.clear();
    this.#items = 0;
  }

  #addToBroadcasts(key: string, by: Client | null): void {
    for (const [prefix, broadcast] of this.#prefixes) {
      if (!key.startsWith(prefix)) continue;
      broadcast.keys.set(key, by);
      if (this.#broadcastDue) continue;
      this.#broadcastDue = true;
      queueMicrotask(() => this.broadcast());
    }
  }

  /** Sends what the prefixes have gathered. */
  broadcast(): void {
    this.#broadcastDue = false;
    for (const { clients, keys } of this.#prefixes.values()) {
      if (keys.size === 0) continue;
      const sorted = [...keys.keys()].sort(byBytes);
      for (const client of clients) {
        const { tracking } = client;
        if (tracking === null) continue;
        const told = tracking.noloop ? sorted.filter((key) => keys.get(key) !== client) : sorted;
        if (told.length > 0) this.#send(client, tracking, told);
      }
      keys.clear();
    }
  }

  #send(client: Client, tracking: ClientTracking, keys: readonly string[] | null): void {
    let target = client;
    if (tracking.redirect !== 0) {
      const found = this.#host.clients.get(tracking.redirect);
      if (found === undefined) {
        tracking.redirectBroken = true;
        if (client.protocol === 3) this.#host.tell(client, new Push(["tracking-redir-broken", tracking.redirect]));
        return;
      }
      target = found;
    }
    if (target.protocol === 3) this.#host.tell(target, new Push(["invalidate", keys]));
    else if (target !== client && target.subscriptions > 0) {
      this.#host.tell(target, new Push(["message", INVALIDATE_CHANNEL, keys]));
    }
  }

  // ---------------------------------------------------------------------------------------------- the end of a command

  /** Whether `flush` has something to say. */
  get hasPending(): boolean {
    return this.#flushed;
  }

  /** Says what waits for the end of a command. */
  flush(): void {
    if (this.#flushed) this.#tellOfFlush();
  }
}

const byBytes = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
