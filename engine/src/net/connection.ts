/**
 * One client over a stream of bytes: a TCP or unix socket, or one end of a pair inside the process.
 *
 * A chunk that arrives is parsed and run to its end, and the replies gather in an Output. They are not written at once: the
 * flusher writes for all connections that were readable in one turn of the event loop after that turn, because waking the
 * peers is what costs most. What is more than a window of bytes waits in an Outbox.
 *
 * A client that does not read: its replies pile up here until client-output-buffer-limit ends it, as in Redis; and past
 * PAUSE_READING nothing more is run for it or read from it until it has taken them all, so that it cannot make the pile
 * grow by asking on. A client whose command has to wait (it is blocked, or paused) is read from up to READ_AHEAD.
 */

import type { Client } from "../core/client.ts";
import type { Engine } from "../core/engine.ts";
import { ReplyError } from "../core/errors.ts";
import { TLS_UNEXPECTED } from "../core/rare-errors.ts";
import { BLOCKED, POSTPONED, type Reply } from "../core/reply.ts";
import { ReplyRoom } from "../core/reply-room.ts";
import type { ClientBuffers, Transport } from "../core/transport.ts";
import { Buffer } from "../platform/bytes.ts";
import { writeSync } from "../platform/files.ts";
import { type Duplex, isSocket } from "../platform/streams.ts";
import { unheldTimeout } from "../platform/timers.ts";
import { encode } from "../resp/encode.ts";
import { Output } from "../resp/output.ts";
import { RequestParser } from "../resp/parser.ts";
import { ReplyMeasure } from "../resp/reply-measure.ts";
import type { Flusher } from "./flusher.ts";
import { Outbox, type Part, WINDOW_BYTES } from "./outbox.ts";
import { cipherInput, isHttp, isTlsHello, readBorrowed, readNow, takeChunks, writeNow } from "./socket-input.ts";

const toBytes = (part: Part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part);

const PAUSE_READING = 64 * 1024 * 1024;
/** From here on a command that is still coming may be one too many for the heap. */
const MUCH_INPUT = 1024 * 1024;
/** What a client may send behind a command that has to wait, before it has to wait as well. */
const READ_AHEAD = 1024 * 1024;
/** Input that is worth counting though nobody has set a limit. */
const LARGE_INPUT = 16 * 1024;
/** The memory that a client's reads take until the collector comes by: counted until it has been idle for a while. */
const READ_BYTES = 16 * 1024;
const IDLE_MS = 2000;
/** How long a connection that is over may take to hand over its last replies without getting on. */
const LINGER_MS = 60_000;

export interface Peer {
  readonly address: string;
  readonly localAddress: string;
  readonly fd: number;
  /** TLS: what is on the descriptor is not what is said. */
  readonly encrypted?: boolean;
}

export class Connection implements Transport {
  readonly client: Client;
  readonly address: string;
  readonly localAddress: string;
  readonly fd: number;
  readonly #engine: Engine;
  readonly #stream: Duplex;
  /** Takes what was read from the descriptor; undefined where nothing may be read from it. */
  readonly #takeRead: ((bytes: Buffer) => void) | undefined;
  readonly #encrypted: boolean;
  readonly #flusher: Flusher;
  readonly #parser: RequestParser;
  readonly #output = new Output();
  readonly #outbox: Outbox;
  readonly #replyRoom: ReplyRoom;
  #measure: ReplyMeasure | null = null;
  /** Replies that may not leave yet. */
  #held: { readonly group: number; readonly parts: readonly Part[] }[] = [];
  #heldBytes = 0;
  onDrain: (() => void) | null = null;
  /** The command that runs, or that is blocked. */
  #running: readonly string[] | null = null;
  /** A command that CLIENT PAUSE has put off. */
  #postponed: string[] | null = null;
  /** Nothing more runs until what is pending has been taken. */
  #stalled = false;
  /** Nothing more is read until the command that waits is over. */
  #ahead = false;
  #ended = false;
  /** The peer has sent its last. */
  #heardAll = false;
  #softLimitSince = 0;
  /** What was pending, and when, at the last time that a connection that is over got on. */
  #leftBytes = -1;
  #leftAt = 0;

  constructor(engine: Engine, stream: Duplex, flusher: Flusher, peer: Peer) {
    this.#engine = engine;
    this.#stream = stream;
    this.#flusher = flusher;
    this.#outbox = new Outbox(stream);
    this.#replyRoom = new ReplyRoom(engine.now);
    this.address = peer.address;
    this.localAddress = peer.localAddress;
    this.fd = peer.fd;
    this.#encrypted = peer.encrypted ?? false;
    this.#takeRead = this.#encrypted ? cipherInput(stream) : (bytes) => this.#received(bytes);
    this.#parser = new RequestParser({ maxWordBytes: engine.maxStringBytes, unauthenticated: false });
    this.client = engine.addClient(this);
    stream.on("data", (chunk: Buffer) => this.#received(chunk));
    const heardAll = () => {
      this.#heardAll = true;
    };
    if (isSocket(stream)) {
      takeChunks(stream, (chunk) => this.#received(chunk), heardAll);
      if (!this.#encrypted) readBorrowed(stream, (chunk) => this.#borrowed(chunk));
    }
    stream.on("end", () => this.close(true));
    stream.on("drain", () => this.#drained());
    // The stream's `close` comes later, after other sockets have been read: a client that is known to be gone is served no more.
    stream.on("error", () => {
      stream.destroy();
      this.#gone();
    });
    stream.on("close", () => this.#gone());
  }

  get outputBytes(): number {
    return this.#output.length + this.#heldBytes + this.#outbox.bytes + this.#streamBytes;
  }

  /**
   * What the stream has yet to write. With TLS a write that has left is reported a turn later, so what is less than the stream's
   * own buffer counts as gone: a replica that asks for the stream must not be told that its last answer is still pending.
   */
  get #streamBytes(): number {
    const stream = this.#stream;
    return this.#encrypted && !stream.writableNeedDrain ? 0 : stream.writableLength;
  }

  get inputBytes(): number {
    return this.#parser.pendingBytes;
  }

  /** What CLIENT LIST shows of it. */
  buffers(): ClientBuffers {
    const parser = this.#parser;
    const { client } = this;
    const idle = this.#engine.clock.now() - client.lastActiveAt > IDLE_MS;
    const output = this.outputBytes + this.#transactionBytes;
    const room = this.#replyRoom.bytes;
    let argv = parser.wordLengths;
    for (const word of this.#running ?? this.#postponed ?? []) argv += word.length;
    const runs = this.#running !== null && client.blocked === null;
    // While a command runs nothing has left yet, so the room is full before anything is beside it.
    const inBuffer = output <= room ? output : runs ? room : 0;
    const query = parser.pendingBytes + (runs ? parser.takenBytes : 0);
    return {
      query,
      queryFree: Math.max(parser.freeBytes, idle ? 0 : READ_BYTES - query),
      argv,
      argvOverhead: parser.wordBytes - parser.wordLengths,
      replyRoom: room,
      replyPeak: this.#replyRoom.peak,
      replyInBuffer: inBuffer,
      replyParts: output > inBuffer ? Math.max(1, this.#outbox.count) : 0,
      replyBytes: output - inBuffer,
    };
  }

  /** What EXEC has answered so far: CLIENT LIST shows it meanwhile. */
  get #transactionBytes(): number {
    const { transaction, protocol, replyMode } = this.client;
    if (transaction === null || replyMode !== "on") return 0;
    this.#measure ??= new ReplyMeasure();
    return this.#measure.of(transaction.replies, transaction.queue.length, protocol);
  }

  /** What it takes from V8's heap: the words of an unfinished command. */
  get heapBytes(): number {
    return this.#parser.wordBytes;
  }

  /** Every second or so: lets go of memory that the last while had no use for. */
  cron(): void {
    const engine = this.#engine;
    this.#parser.shrink();
    this.#replyRoom.resize(engine.replyRooms, engine.stats, engine.now);
  }

  // ---------------------------------------------------------------------------------------------- in

  /** A chunk in memory that others will read into next. */
  #borrowed(chunk: Buffer): void {
    this.#received(chunk);
    this.#parser.keep();
  }

  #received(chunk: Buffer): void {
    if (this.#ended) return;
    const { stats, config, clientMemory } = this.#engine;
    stats.netInput += chunk.length;
    stats.reads++;
    const parser = this.#parser;
    if (isTlsHello(chunk) && this.client.lastCommand === null && parser.pendingBytes === 0) {
      this.#refuseTls();
      return;
    }
    // What earlier chunks were answered leaves before the next one runs, or a hard limit would take it for a part of that.
    if (this.#output.length > 0 && this.#limits.hard > 0) this.#flusher.flush();
    if (this.#ended) return;
    parser.feed(chunk);
    this.#goOn();
    const pending = parser.memoryBytes;
    if (pending > config.values["client-query-buffer-limit"] || parser.wordBytes > clientMemory.heapShare) {
      this.#engine.log("warning", `Closing client ${this.client.id} that reached max query buffer length`);
      this.close(false);
    } else if (pending > MUCH_INPUT && !this.#engine.heapGuard.fits()) {
      this.#engine.log("warning", `Closed ${this.address}: there is no memory for the rest of its command`);
      this.close(false);
    } else if (clientMemory.active) {
      if (!this.#takesLittle(pending)) clientMemory.update(this.client);
    } else if (pending > LARGE_INPUT) {
      // Nobody has set a limit: a sixteenth more or less makes no difference.
      const counted = this.client.countedInputBytes;
      if (Math.abs(pending - counted) > LARGE_INPUT + counted / 16) clientMemory.update(this.client);
    } else if (this.client.countedBytes > 0 && this.client.multi === null) clientMemory.forget(this.client);
  }

  /** Its client library names the problem when something comes that is not TLS; without an answer it would wait. */
  #refuseTls(): void {
    this.#engine.log(
      "warning",
      `Error accepting a client connection: it uses TLS on a port without (addr=${this.address})`,
    );
    this.#reply(TLS_UNEXPECTED);
    this.close(true);
  }

  /** An ordinary client between two ordinary commands, counted before: it takes what it took. */
  #takesLittle(pending: number): boolean {
    const { countedBytes, multi, watched, tracking, subscriptions } = this.client;
    if (pending > LARGE_INPUT || this.#output.length > READ_BYTES || multi !== null || tracking !== null) return false;
    return watched.length === 0 && subscriptions === 0 && countedBytes > 0 && countedBytes < 4 * READ_BYTES;
  }

  get #waits(): boolean {
    return this.client.blocked !== null || this.#postponed !== null;
  }

  #goOn(): void {
    if (this.#ended || this.#stalled) return;
    if (!this.#waits) this.#run();
    // Running may have ended in another wait.
    if (this.#waits) {
      if (!this.#ahead && this.#parser.pendingBytes > READ_AHEAD) {
        this.#ahead = true;
        this.#stream.pause();
      }
    } else if (this.#ahead) {
      this.#ahead = false;
      if (!this.#stalled) this.#stream.resume();
    }
  }

  /** Runs what has arrived, as far as it is complete. */
  #run(): void {
    const { client } = this;
    const parser = this.#parser;
    const { limits } = parser;
    const engine = this.#engine;
    engine.renewClock();
    client.lastActiveAt = engine.now;
    limits.maxWordBytes = engine.maxStringBytes;
    limits.unauthenticated = !client.authenticated;
    parser.beginBatch();
    this.#output.hold();
    const room = this.#roomForReplies();
    try {
      while (!this.#ended) {
        const argv = parser.next();
        if (argv === undefined) break;
        if (argv instanceof ReplyError) {
          this.#reply(argv);
          this.close(true);
          break;
        }
        if (!this.#execute(argv)) break;
        if (limits.unauthenticated) limits.unauthenticated = !client.authenticated;
        if (this.#output.length > room) {
          this.checkLimits();
          if (this.#stalled) break;
        }
      }
    } catch (error) {
      // A fault of ours outside a handler: this connection cannot be trusted any more, the others go on.
      engine.onError(error, client.lastCommand?.name ?? "a connection");
      this.close(false);
    } finally {
      this.#output.release();
    }
    if (this.#output.length > 0) this.#flusher.add(this);
    if (client.multi !== null && client.multi.length > 1000) engine.clientMemory.update(client);
  }

  /** How much may gather before somebody has to look: the hard limit of a client's class, or where reading from it stops. */
  #roomForReplies(): number {
    const { hard } = this.#limits;
    const pending = this.#stream.writableLength + this.#heldBytes + this.#outbox.bytes;
    this.#output.limit = hard > 0 ? Math.max(hard, this.#replyRoom.bytes) - pending : Number.POSITIVE_INFINITY;
    return Math.min(PAUSE_READING - pending, this.#output.limit);
  }

  get #limits() {
    const limits = this.#engine.config.values["client-output-buffer-limit"];
    return this.client.subscriptions > 0 ? limits.pubsub : limits.normal;
  }

  #stall(): void {
    this.#stalled = true;
    this.#stream.pause();
  }

  /** The peer has taken everything that the stream was given. */
  #drained(): void {
    if (this.#outbox.bytes > 0) {
      // In a turn of its own, so that the others have theirs.
      this.#flusher.add(this);
      return;
    }
    this.onDrain?.();
    if (!this.#stalled) return;
    this.#stalled = false;
    this.#goOn();
    if (!this.#stalled && !this.#ahead) this.#stream.resume();
  }

  /**
   * Reads and answers this client while a script holds the thread: straight from and to the socket's descriptor, which is
   * non-blocking. Only what arrives now; what the client had sent before the script began is behind it in the buffer. A
   * reply from before the script, which the flusher has not come to, goes out too.
   *
   * With TLS the stream does the writing, and one write at a time: a second answer leaves when the script is over. So the
   * commands are run, SCRIPT KILL among them, though the first answer is not known to be taken.
   */
  serveWhileBusy(): void {
    const take = this.#takeRead;
    if (this.fd < 0 || take === undefined || this.#ended || this.client.blocked !== null) return;
    if (this.#outbox.bytes > 0 || (this.#stream.writableLength > 0 && !this.#encrypted)) return;
    const chunk = readNow(this.fd);
    if (chunk === null) {
      // The peer has left: a replica, say, whose going the script may be waiting for.
      this.close(false);
      return;
    }
    if (chunk.length > 0) take(chunk);
    if (this.#output.length === 0 && this.#held.length === 0) return;
    this.hold(0);
    const bytes = Buffer.concat(this.#takeHeld(Number.POSITIVE_INFINITY).map(toBytes));
    let sent = 0;
    try {
      if (!this.#encrypted) sent = writeSync(this.fd, bytes);
    } catch {
      // Full, or gone: the event loop takes over below.
    }
    if (sent < bytes.length) this.#stream.write(bytes.subarray(sent));
    if (this.#ended) this.#flusher.add(this);
  }

  /**
   * Asks the socket itself whether the peer is still there: its end may have arrived, with the event loop yet to come to it.
   * What a client gives away to a peer that is gone is lost, so this is worth a system call. What the client has sent behind
   * its blocking command is taken on the way.
   */
  isGone(): boolean {
    const stream = this.#stream;
    if (this.#ended || stream.destroyed || stream.readableEnded) return true;
    if (this.fd < 0 || stream.isPaused() || stream.readableLength > 0 || this.#takeRead === undefined) return false;
    const chunk = readNow(this.fd);
    if (chunk === null || chunk.length === 0) return chunk === null;
    this.#takeRead(chunk);
    return this.#ended || this.#heardAll;
  }

  /** False when nothing more may run for now. */
  #execute(argv: string[]): boolean {
    const { client } = this;
    if (isHttp(argv[0]!)) {
      this.close(false);
      return false;
    }
    this.#running = argv;
    const reply = this.#engine.execute(client, argv);
    if (reply === BLOCKED) return false;
    this.#running = null;
    if (reply === POSTPONED) {
      this.#postponed = argv;
      this.#engine.pause.whenResumed(client, () => this.#retry());
      return false;
    }
    if (client.replica?.mayNotHear(reply)) return false;
    this.#reply(client.replyMode === "on" ? reply : client.filterReply(reply));
    return true;
  }

  #retry(): void {
    const argv = this.#postponed;
    this.#postponed = null;
    if (argv === null || this.#ended) return;
    this.#engine.renewClock();
    this.#roomForReplies();
    this.#execute(argv);
    if (this.#output.length > 0) {
      this.checkLimits();
      this.#flusher.add(this);
    }
    this.#goOn();
  }

  // ---------------------------------------------------------------------------------------------- out

  #reply(reply: Reply): void {
    encode(reply, this.client.protocol, this.#output);
  }

  send(reply: Reply): void {
    if (this.#ended) return;
    this.#running = null;
    this.push(reply);
    // What the client sent while it was blocked comes next, but not inside the command that unblocked it.
    queueMicrotask(() => this.#goOn());
  }

  push(message: Reply): void {
    if (this.#ended) return;
    this.#reply(message);
    this.#flusher.add(this);
    if (this.#output.length > READ_BYTES) this.checkLimits();
    if (this.#engine.clientMemory.active) this.#engine.clientMemory.update(this.client);
  }

  /** For replicas: the stream, and snapshots. */
  sendBytes(bytes: Buffer): void {
    if (this.#ended) return;
    this.#output.addBytes(bytes);
    this.#flusher.add(this);
  }

  /** Puts what has gathered aside until it may leave. The flusher's, as the next two. */
  hold(group: number): void {
    const parts = this.#output.takeParts();
    for (const part of parts) this.#heldBytes += part.length;
    this.#held.push({ group, parts });
  }

  release(group: number): void {
    if (this.#stream.destroyed || this.#held.length === 0) return;
    this.#outbox.add(this.#takeHeld(group));
    this.#pump();
    this.#afterWriting();
  }

  /** What was put aside with this group and those before. */
  #takeHeld(group: number): Part[] {
    const taken: Part[] = [];
    while (this.#held.length > 0 && this.#held[0]!.group <= group) {
      for (const part of this.#held.shift()!.parts) {
        taken.push(part);
        this.#heldBytes -= part.length;
      }
    }
    return taken;
  }

  #pump(): void {
    const written = this.#outbox.pump();
    if (written === 0) return;
    this.#countOutput(written);
    // What is less than the stream's own buffer makes no `drain`.
    if (this.#outbox.bytes === 0 && !this.#stream.writableNeedDrain) this.#drained();
  }

  #countOutput(bytes: number): void {
    const { stats } = this.#engine;
    stats.writes++;
    if (this.client.replica === null) stats.netOutput += bytes;
    else stats.replOutput += bytes;
  }

  /** Writes what has gathered. */
  flush(): void {
    const stream = this.#stream;
    if (stream.destroyed) return;
    if (this.#held.length > 0) this.#outbox.add(this.#takeHeld(Number.POSITIVE_INFINITY));
    const text = this.#outbox.bytes === 0 && stream.writableLength === 0 ? this.#output.takeText() : null;
    if (text !== null && text.length <= WINDOW_BYTES) {
      this.#replyRoom.used(text.length);
      if (text !== "") {
        this.#countOutput(text.length);
        const sent = this.#encrypted || this.fd < 0 ? 0 : writeNow(this.fd, text);
        if (sent < text.length) stream.write(sent === 0 ? text : text.slice(sent), "latin1");
      }
    } else {
      this.#outbox.add(text === null ? this.#output.takeParts() : [text]);
      this.#replyRoom.used(this.#outbox.bytes);
      this.#pump();
    }
    this.#afterWriting();
  }

  #afterWriting(): void {
    const stream = this.#stream;
    if (stream.writableLength > 0 || this.#outbox.bytes > 0) {
      this.checkLimits();
      if (this.#engine.clientMemory.active) this.#engine.clientMemory.update(this.client);
    } else if (this.client.countedBytes > this.client.countedInputBytes) {
      // Replies were counted that are gone now.
      this.#engine.clientMemory.update(this.client);
    }
    // Both directions end: a peer that goes on sending after its last reply is not listened to.
    const silent = this.#held.length === 0 && this.#output.length === 0 && this.#outbox.bytes === 0;
    if (this.#ended && silent) stream.end(() => stream.destroy());
  }

  /** Ends a client whose replies pile up past its class's limit, and stops reading from one that is on the way there. */
  checkLimits(): void {
    const pending = this.outputBytes;
    if (this.#ended) {
      this.#checkLeaving(pending);
      return;
    }
    // A replica has limits of its own (replication/replica.ts), and must always be heard.
    if (this.client.replica?.attached) return;
    if (pending > PAUSE_READING) this.#stall();
    const { hard, soft, softSeconds } = this.#limits;
    // As in Redis, what fits into the room for replies does not count: CLIENT LIST's omem does.
    const counted = pending > this.#replyRoom.bytes ? pending : 0;
    if (hard > 0 && counted > hard) {
      this.#engine.stats.outputLimitDisconnections++;
      this.close(false);
      return;
    }
    const { now } = this.#engine;
    if (soft === 0 || counted <= soft) this.#softLimitSince = 0;
    else if (this.#softLimitSince === 0) this.#softLimitSince = now;
    else if (now - this.#softLimitSince > softSeconds * 1000) {
      this.#engine.stats.outputLimitDisconnections++;
      this.close(false);
    }
  }

  /** A peer that does not take the last replies of a connection that is over must not hold it for ever. */
  #checkLeaving(pending: number): void {
    const now = this.#engine.clock.now();
    if (pending !== this.#leftBytes) {
      this.#leftBytes = pending;
      this.#leftAt = now;
    } else if (now - this.#leftAt > LINGER_MS) this.#stream.destroy();
  }

  close(afterReplies: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    if (!afterReplies) {
      this.#stream.destroy();
      this.#gone();
      return;
    }
    this.#engine.removeClient(this.client);
    this.#flusher.add(this);
  }

  /** Ends the connection as soon as the peer has taken what was written, or at once if it does not read. */
  destroySoon(): void {
    const stream = this.#stream;
    if (stream.writableLength === 0 && this.#outbox.bytes === 0) stream.destroy();
    else unheldTimeout(() => stream.destroy(), 100);
  }

  #gone(): void {
    this.#ended = true;
    this.#outbox.clear();
    this.#engine.removeClient(this.client);
    this.onDrain?.();
    this.#flusher.forget(this);
  }
}
