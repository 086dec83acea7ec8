/**
 * One replica as its primary sees it: what it has said of itself, how far it is, and what it has yet to get.
 *
 *   handshake ── PSYNC, can be continued ───────────────────────────────► online
 *       └────── SYNC, PSYNC ──► waiting ──► snapshot ──► (file) ──► online
 *
 * From the moment its snapshot begins it has a place in the stream (`cursor`). It is given the stream from there when the
 * snapshot has gone, and, where its end is marked rather than its length told, not before it has said that it found the mark:
 * it would not find it otherwise. What it has not been given waits in one buffer for all replicas (stream-buffer.ts), so ten
 * of them cost no more memory than one.
 */

import type { Client } from "../core/client.ts";
import { clientLine } from "../core/client-info.ts";
import { ReplyError } from "../core/errors.ts";
import type { ReplicaState } from "../core/ports.ts";
import { RDB_FILTER_QUOTES, unknownRdbFilter } from "../core/rare-errors.ts";
import { NO_REPLY, type Reply } from "../core/reply.ts";
import { Buffer } from "../platform/bytes.ts";
import { splitWords } from "../resp/split-words.ts";
import type { Feed } from "./feed.ts";
import type { ReplicationHost } from "./host.ts";

export type Stage = "handshake" | "waiting" | "snapshot" | "file" | "online";

/** INFO's words for the states. */
export const STATE_NAMES: Readonly<Record<Stage, string>> = {
  handshake: "",
  waiting: "wait_bgsave",
  snapshot: "wait_bgsave",
  file: "send_bulk",
  online: "online",
};

/** What a replica's socket may have queued of the stream; the rest stays where all replicas share it. */
const MOST_QUEUED = 256 * 1024;

/** What a replica needs of the store around it. */
type ReplicaHost = Pick<ReplicationHost, "clock" | "config" | "log" | "removeClient" | "stats">;

export class Replica implements ReplicaState {
  readonly client: Client;
  readonly #store: ReplicaHost;
  readonly #feed: Feed;
  state: Stage = "handshake";

  // What REPLCONF has said.
  port = 0;
  ip = "";
  capaEof = false;
  capaPsync2 = false;
  rdbOnly = false;
  /** rdb-filter-only: whether the snapshot has keys, and functions. */
  wantsData = true;
  wantsFunctions = true;
  /** It asked with SYNC, which knows neither ids nor acknowledgements. */
  old = false;

  /** What it has said that it has, and on its disk. */
  ackOffset = 0;
  diskOffset = 0;
  /** Since when it waits for a snapshot. */
  waitingSince = 0;
  /** Whether the stream goes on only when it has acknowledged the snapshot. */
  awaitsAck = false;
  /** The offset up to which it was given the stream. */
  cursor = 0;
  /** Whether it gets the stream as it comes. */
  #flows = false;
  #overSoftLimitSince = 0;
  // When the peer last took something of what is queued for it.
  #queuedBytes = 0;
  #tookAt = 0;

  constructor(client: Client, store: ReplicaHost, feed: Feed) {
    this.client = client;
    this.#store = store;
    this.#feed = feed;
  }

  get attached(): boolean {
    return this.state !== "handshake";
  }

  /** What of the stream it has not been given. */
  get behindBytes(): number {
    return this.follows ? this.#feed.handedOn - this.cursor : 0;
  }

  /** What waits for it, here or in its socket. */
  get pendingBytes(): number {
    return this.behindBytes + this.client.transport.outputBytes;
  }

  /** The address by which others reach it: as announced, or as it came. */
  get host(): string {
    if (this.ip !== "") return this.ip;
    const { address } = this.client.transport;
    const host = address.slice(0, address.lastIndexOf(":"));
    return host.startsWith("[") ? host.slice(1, -1) : host;
  }

  get name(): string {
    return `${this.host}:${this.port === 0 ? "<unknown-replica-port>" : this.port}`;
  }

  /** Whole seconds since it was last heard of. */
  get lagSeconds(): number {
    return Math.max(0, Math.floor((this.#store.clock.now() - this.client.lastActiveAt) / 1000));
  }

  /** REPLCONF rdb-filter-only: the snapshot has only what is named. */
  filter(text: string): void {
    const names = splitWords(text);
    if (names === undefined) throw RDB_FILTER_QUOTES;
    this.wantsData = false;
    this.wantsFunctions = false;
    for (const name of names) {
      if (name.toLowerCase() !== "functions") throw unknownRdbFilter(name);
      this.wantsFunctions = true;
    }
  }

  /** Bytes that are not part of the stream: lines, snapshots. */
  send(bytes: Buffer): void {
    this.client.transport.sendBytes!(bytes);
  }

  line(text: string): void {
    this.send(Buffer.from(text, "latin1"));
  }

  /** Whether it has a place in the stream. */
  get follows(): boolean {
    return this.state !== "handshake" && this.state !== "waiting";
  }

  /** There is more of the stream. */
  fed(): void {
    if (!this.follows) return;
    if (this.#flows) this.#pump();
    this.checkLimit();
  }

  /** Takes as much of the stream as its socket may have queued, and goes on when that is gone. */
  #pump(): void {
    const { transport } = this.client;
    const { buffer } = this.#feed;
    while (transport.outputBytes < MOST_QUEUED) {
      const view = buffer.after(this.cursor);
      if (view === undefined) return;
      this.cursor += view.length;
      this.send(view);
    }
  }

  /** Its snapshot begins, as of the end of the stream: what comes behind that waits. */
  hold(): void {
    this.state = "snapshot";
    this.#flows = false;
    this.cursor = this.#feed.handedOn;
    this.#tookAt = this.#store.clock.monotonic();
  }

  /** Gets the stream from where it stands, as it comes. */
  release(): void {
    this.awaitsAck = false;
    this.#flows = true;
    this.client.transport.onDrain = () => {
      if (this.client.closed) return;
      this.#pump();
      this.#feed.trim();
    };
    this.#pump();
  }

  /** It has reported how far it is. */
  acknowledge(offset: number, diskOffset: number | undefined): void {
    if (offset > this.ackOffset) this.ackOffset = offset;
    if (diskOffset !== undefined && diskOffset > this.diskOffset) this.diskOffset = diskOffset;
    if (this.awaitsAck && this.state === "online") this.release();
  }

  /**
   * client-output-buffer-limit replica, over what is held and what is queued. Not below the backlog's size: a replica that
   * could still catch up from there would otherwise be cut off only to come back and ask for it.
   */
  checkLimit(): void {
    const { config, clock } = this.#store;
    const { hard, soft, softSeconds } = config.values["client-output-buffer-limit"].replica;
    const backlog = config.values["repl-backlog-size"];
    // The snapshot itself comes no faster than it is taken, so what is queued of it does not count.
    const pending = this.state === "snapshot" || this.state === "file" ? this.behindBytes : this.pendingBytes;
    if (hard > 0 && pending > Math.max(hard, backlog)) this.#overLimit();
    else if (soft === 0 || pending <= Math.max(soft, backlog)) this.#overSoftLimitSince = 0;
    else if (this.#overSoftLimitSince === 0) this.#overSoftLimitSince = clock.monotonic();
    else if (clock.monotonic() - this.#overSoftLimitSince > softSeconds * 1000) this.#overLimit();
  }

  #overLimit(): void {
    this.#store.stats.outputLimitDisconnections++;
    this.drop(`it has ${this.pendingBytes} bytes waiting, more than client-output-buffer-limit allows`);
  }

  /** Milliseconds for which it has taken nothing of what is queued for it; 0 when nothing is. */
  stalledMs(): number {
    const now = this.#store.clock.monotonic();
    const { outputBytes } = this.client.transport;
    if (outputBytes === 0 || outputBytes < this.#queuedBytes) this.#tookAt = now;
    this.#queuedBytes = outputBytes;
    return now - this.#tookAt;
  }

  /**
   * Its own commands are answered by nothing: an answer would stand in the middle of the stream. One that has asked for
   * something is cut off; true if it was.
   */
  mayNotHear(reply: Reply): boolean {
    if (!this.attached || reply === NO_REPLY) return false;
    const name = this.client.lastCommand?.name ?? "?";
    if (reply instanceof ReplyError) {
      this.#store.log(
        "warning",
        `== CRITICAL == This master is sending an error to its replica: '${reply.text}' after processing the command '${name}'`,
      );
      this.#store.stats.unexpectedErrors++;
    }
    this.#store.log(
      "warning",
      `Replica generated a reply to command '${name}', disconnecting it: ${clientLine(this.client)}`,
    );
    this.drop("it is no ordinary client");
    return true;
  }

  drop(reason: string): void {
    if (this.client.closed) return;
    this.#store.log("warning", `Disconnecting replica ${this.name}: ${reason}`);
    this.#store.removeClient(this.client);
    this.client.transport.close(false);
  }
}
