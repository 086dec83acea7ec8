/**
 * The replication stream: what a primary writes, as bytes with an offset, to its backlog and its replicas.
 *
 * Effects are encoded once, when the command that caused them is over, and gather until the turn of the event loop ends;
 * then one chunk goes to the backlog, and to the buffer from which all replicas take it (stream-buffer.ts). `offset` counts
 * what has gathered too, since WAIT must know at once where a write stands.
 *
 * A replica has no stream of its own: what its primary sent goes to its own replicas unchanged (`pass`), so that ids and
 * offsets mean the same all along a chain, and any member can take the place of any other.
 */

import { EffectEncoder } from "../core/effect-encoder.ts";
import type { EffectListener } from "../core/effects.ts";
import { FOR_REPLICAS } from "../core/propagation.ts";
import type { Buffer } from "../platform/bytes.ts";
import { soon } from "../platform/timers.ts";
import { CommandWriter } from "../resp/command-writer.ts";
import { Backlog } from "./backlog.ts";
import { DiskMarks } from "./disk-marks.ts";
import type { ReplicationHost } from "./host.ts";
import type { Replica } from "./replica.ts";
import { StreamBuffer } from "./stream-buffer.ts";

/** More than this is not gathered, however long the turn. */
const MOST_GATHERED = 1024 * 1024;

const PING = ["PING"];
const GETACK = ["REPLCONF", "GETACK", "*"];

type FeedHost = Pick<ReplicationHost, "config" | "persistence">;

export class Feed {
  backlog: Backlog | null = null;
  /** What replicas have yet to get. */
  readonly buffer = new StreamBuffer();
  /** What of the stream is on our disk. */
  readonly marks: DiskMarks;
  readonly #store: FeedHost;
  readonly #replicas: ReadonlySet<Replica>;
  readonly #writer = new CommandWriter();
  readonly #encoder = new EffectEncoder(this.#writer, FOR_REPLICAS);
  /** The offset of the last byte that was handed on. */
  #handedOn = 0;
  #scheduled = false;
  #wantsAcks = false;
  readonly #flushLater = () => {
    this.#scheduled = false;
    this.flush();
  };

  constructor(store: FeedHost, replicas: ReadonlySet<Replica>) {
    this.#store = store;
    this.#replicas = replicas;
    this.marks = new DiskMarks(store.persistence);
  }

  /** The offset of the last byte of the stream. */
  get offset(): number {
    return this.#handedOn + this.#writer.length;
  }

  /** The offset of the last byte that replicas may take. */
  get handedOn(): number {
    return this.#handedOn;
  }

  /** The database that a reader of the stream has selected at this offset. */
  get db(): number {
    return this.#encoder.db;
  }

  /** Goes on from an offset that came from elsewhere: a file, or a primary. */
  startAt(offset: number): void {
    this.#writer.take();
    this.marks.reset();
    this.buffer.clear();
    this.#handedOn = offset;
    this.#encoder.db = -1;
  }

  openBacklog(): void {
    this.backlog ??= new Backlog(this.#store.config.values["repl-backlog-size"], this.#handedOn);
  }

  closeBacklog(): void {
    this.backlog = null;
  }

  /** Says the database again before the next effect: a reader begins here who does not know it. */
  forgetDb(): void {
    this.#encoder.db = -1;
  }

  // ---------------------------------------------------------------------------------------------- in

  /** Takes what one command, transaction or script did. */
  readonly append: EffectListener = (effects, framing) => {
    this.#encoder.write(effects, framing);
    this.#gathered();
  };

  ping(): void {
    this.say(PING);
  }

  /** Words that are for no database: where replicas stand in the stream decides. */
  say(argv: readonly string[]): void {
    this.#writer.command(argv);
    this.#gathered();
  }

  /** Has all replicas say how far they are, once for all who want to know in this turn. */
  requestAcks(): void {
    this.#wantsAcks = true;
    this.#schedule();
  }

  /** Hands on bytes of our own primary's stream. */
  pass(bytes: Buffer): void {
    this.#distribute(bytes);
  }

  // ---------------------------------------------------------------------------------------------- out

  #gathered(): void {
    if (this.#writer.length > MOST_GATHERED) this.flush();
    else this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    soon(this.#flushLater);
  }

  /** Hands on what has gathered. What must be on our own disk first is brought there. */
  flush(): void {
    if (this.#wantsAcks) {
      this.#wantsAcks = false;
      // Not behind the last snapshot: replicas tell how far they are once a second, too.
      if (!this.#store.persistence.savesLast) this.#writer.command(GETACK);
    }
    if (this.#writer.length === 0) return;
    this.#store.persistence.flush();
    this.#distribute(this.#writer.take());
  }

  #distribute(bytes: Buffer): void {
    const base = this.#handedOn;
    this.#handedOn += bytes.length;
    this.marks.note(this.#handedOn);
    this.backlog?.append(bytes);
    let wanted = false;
    for (const replica of this.#replicas) wanted ||= replica.follows;
    if (!wanted) {
      this.buffer.clear();
      return;
    }
    this.buffer.append(bytes, base);
    for (const replica of this.#replicas) replica.fed();
    this.trim();
  }

  /** Lets go of what all replicas have taken. */
  trim(): void {
    let least = this.#handedOn;
    for (const replica of this.#replicas) if (replica.follows) least = Math.min(least, replica.cursor);
    this.buffer.trim(least);
  }
}
