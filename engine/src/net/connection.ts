/**
 * One client over a stream of bytes: a TCP or unix socket, or one end of a pair inside the process.
 *
 * A chunk that arrives is parsed and run to its end, and the replies gather in an Output. They are not written at once: the
 * flusher writes for all connections that were readable in one turn of the event loop after that turn, because waking the
 * peers is what costs most.
 *
 * A client that does not read: its replies pile up here until client-output-buffer-limit ends it, as in Redis; and past
 * PAUSE_READING nothing more is run for it or read from it until it has taken them all, so that it cannot make the pile
 * grow by asking on.
 */
import { readSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Client, Transport } from "../client.ts";
import type { Engine } from "../engine.ts";
import { ReplyError } from "../errors.ts";
import { BLOCKED, POSTPONED, type Reply } from "../reply.ts";
import { encode } from "../resp/encode.ts";
import { Output } from "../resp/output.ts";
import { RequestParser } from "../resp/parser.ts";
import type { Flusher } from "./flusher.ts";

const busyBuffer = Buffer.allocUnsafeSlow(64 * 1024);
const toBytes = (part: string | Buffer) => (typeof part === "string" ? Buffer.from(part, "latin1") : part);

const PAUSE_READING = 64 * 1024 * 1024;
/** From here on a command that is still coming may be one too many for the heap. */
const MUCH_INPUT = 1024 * 1024;
/** How long a connection that is over may take to hand over its last replies without getting on. */
const LINGER_MS = 60_000;

export interface Peer {
  readonly address: string;
  readonly localAddress: string;
  readonly fd: number;
}

export class Connection implements Transport {
  readonly client: Client;
  readonly address: string;
  readonly localAddress: string;
  readonly fd: number;
  readonly #engine: Engine;
  readonly #stream: Duplex;
  readonly #flusher: Flusher;
  readonly #parser: RequestParser;
  readonly #output = new Output();
  /** Replies that may not leave yet. */
  #held: { readonly group: number; readonly parts: readonly (string | Buffer)[] }[] = [];
  #heldBytes = 0;
  onDrain: (() => void) | null = null;
  /** A command that CLIENT PAUSE has put off. */
  #postponed: string[] | null = null;
  /** Nothing more runs until what is pending has been taken. */
  #stalled = false;
  #ended = false;
  #softLimitSince = 0;
  /** What was pending, and when, at the last time that a connection that is over got on. */
  #leftBytes = -1;
  #leftAt = 0;

  constructor(engine: Engine, stream: Duplex, flusher: Flusher, peer: Peer) {
    this.#engine = engine;
    this.#stream = stream;
    this.#flusher = flusher;
    this.address = peer.address;
    this.localAddress = peer.localAddress;
    this.fd = peer.fd;
    this.#parser = new RequestParser({ maxWordBytes: engine.maxStringBytes, unauthenticated: false });
    this.client = engine.addClient(this);
    stream.on("data", (chunk: Buffer) => this.#received(chunk));
    if (stream instanceof Socket) takeChunks(stream, (chunk) => this.#received(chunk));
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
    return this.#output.length + this.#heldBytes + this.#stream.writableLength;
  }

  get inputBytes(): number {
    return this.#parser.pendingBytes;
  }

  // ---------------------------------------------------------------------------------------------- in

  #received(chunk: Buffer): void {
    if (this.#ended) return;
    this.#engine.stats.netInput += chunk.length;
    this.#engine.stats.reads++;
    this.#parser.feed(chunk);
    this.#goOn();
    const { pendingBytes } = this.#parser;
    if (pendingBytes > this.#engine.config.values["client-query-buffer-limit"]) this.close(false);
    else if (pendingBytes > MUCH_INPUT && !this.#engine.heapGuard.fits()) {
      this.#engine.log("warning", `Closed ${this.address}: there is no memory for the rest of its command`);
      this.close(false);
    }
  }

  #goOn(): void {
    if (!this.#ended && !this.#stalled && this.client.blocked === null && this.#postponed === null) this.#run();
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
    this.#output.hold();
    const room = PAUSE_READING - this.#stream.writableLength - this.#heldBytes;
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
          this.#stall();
          break;
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
  }

  #stall(): void {
    this.#stalled = true;
    this.#stream.pause();
  }

  /** The peer has taken everything that was written. */
  #drained(): void {
    this.onDrain?.();
    if (!this.#stalled) return;
    this.#stalled = false;
    this.#goOn();
    if (!this.#stalled) this.#stream.resume();
  }

  /**
   * Reads and answers this client while a script holds the thread: straight from and to the socket's descriptor, which is
   * non-blocking. Only what arrives now; what the client had sent before the script began is behind it in the buffer. A
   * reply from before the script, which the flusher has not come to, goes out too.
   */
  serveWhileBusy(): void {
    if (this.fd < 0 || this.#ended || this.client.blocked !== null || this.#stream.writableLength > 0) return;
    // Nothing there, or the connection is gone: the event loop will see which when it has its turn.
    const read = readNow(this.fd);
    if (read > 0) this.#received(Buffer.from(busyBuffer.subarray(0, read)));
    else if (this.#output.length === 0 && this.#held.length === 0) return;
    this.hold(0);
    const bytes = Buffer.concat(this.#takeHeld(Number.POSITIVE_INFINITY).map(toBytes));
    let sent = 0;
    try {
      sent = writeSync(this.fd, bytes);
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
    if (this.fd < 0 || stream.isPaused() || stream.readableLength > 0) return false;
    const read = readNow(this.fd);
    if (read > 0) this.#received(Buffer.from(busyBuffer.subarray(0, read)));
    return read === 0 || read === FAILED;
  }

  /** False when nothing more may run for now. */
  #execute(argv: string[]): boolean {
    const { client } = this;
    if (isHttp(argv[0]!)) {
      this.close(false);
      return false;
    }
    const reply = this.#engine.execute(client, argv);
    if (reply === BLOCKED) return false;
    if (reply === POSTPONED) {
      this.#postponed = argv;
      this.#engine.pause.whenResumed(client, () => this.#retry());
      return false;
    }
    this.#reply(client.replyMode === "on" ? reply : client.filterReply(reply));
    return true;
  }

  #retry(): void {
    const argv = this.#postponed;
    this.#postponed = null;
    if (argv === null || this.#ended) return;
    this.#engine.renewClock();
    if (this.#execute(argv)) this.#run();
    if (this.#output.length > 0) this.#flusher.add(this);
  }

  // ---------------------------------------------------------------------------------------------- out

  #reply(reply: Reply): void {
    encode(reply, this.client.protocol, this.#output);
  }

  send(reply: Reply): void {
    if (this.#ended) return;
    this.#reply(reply);
    this.#flusher.add(this);
    // What the client sent while it was blocked comes next, but not inside the command that unblocked it.
    queueMicrotask(() => this.#goOn());
  }

  push(message: Reply): void {
    if (this.#ended) return;
    this.#reply(message);
    this.#flusher.add(this);
    if (this.#output.length > 1 << 20) this.checkLimits();
  }

  /** For replicas: the stream, and snapshots. */
  sendBytes(bytes: Buffer): void {
    if (this.#ended) return;
    this.#output.addBytes(bytes);
    this.#flusher.add(this);
  }

  /** Puts what has gathered aside until it may leave. The flusher's, as the next two. */
  hold(group: number): void {
    const text = this.#output.takeText();
    const parts = text === null ? this.#output.takeParts() : [text];
    for (const part of parts) this.#heldBytes += part.length;
    this.#held.push({ group, parts });
  }

  release(group: number): void {
    if (this.#stream.destroyed || this.#held.length === 0) return;
    this.#engine.stats.writes++;
    this.#write(this.#takeHeld(group));
    this.#afterWriting();
  }

  /** What was put aside with this group and those before. */
  #takeHeld(group: number): (string | Buffer)[] {
    const taken: (string | Buffer)[] = [];
    while (this.#held.length > 0 && this.#held[0]!.group <= group) taken.push(...this.#held.shift()!.parts);
    for (const part of taken) this.#heldBytes -= part.length;
    return taken;
  }

  #write(parts: readonly (string | Buffer)[]): void {
    const stream = this.#stream;
    stream.cork();
    for (const part of parts) {
      if (this.client.replica === null) this.#engine.stats.netOutput += part.length;
      else this.#engine.stats.replOutput += part.length;
      if (typeof part === "string") stream.write(part, "latin1");
      else stream.write(part);
    }
    stream.uncork();
  }

  /** Writes what has gathered. */
  flush(): void {
    const stream = this.#stream;
    if (stream.destroyed) return;
    if (this.#held.length > 0) this.#write(this.#takeHeld(Number.POSITIVE_INFINITY));
    const text = this.#output.takeText();
    if (text === null) this.#write(this.#output.takeParts());
    else if (text !== "") {
      this.#engine.stats.writes++;
      this.#engine.stats.netOutput += text.length;
      stream.write(text, "latin1");
    }
    this.#afterWriting();
  }

  #afterWriting(): void {
    const stream = this.#stream;
    if (stream.writableLength > 0) this.checkLimits();
    // Both directions end: a peer that goes on sending after its last reply is not listened to.
    const silent = this.#held.length === 0 && this.#output.length === 0;
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
    const limits = this.#engine.config.values["client-output-buffer-limit"];
    const { hard, soft, softSeconds } = this.client.subscriptions > 0 ? limits.pubsub : limits.normal;
    if (hard > 0 && pending > hard) {
      this.#engine.stats.outputLimitDisconnections++;
      this.close(false);
      return;
    }
    const { now } = this.#engine;
    if (soft === 0 || pending <= soft) this.#softLimitSince = 0;
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
    if (stream.writableLength === 0) stream.destroy();
    else setTimeout(() => stream.destroy(), 100).unref();
  }

  #gone(): void {
    this.#ended = true;
    this.#engine.removeClient(this.client);
    this.onDrain?.();
    this.#flusher.forget(this);
  }
}

/**
 * Lets a flowing stream hand its chunks straight to us. On its own it would emit each as an event and then plan the next
 * read, which for a socket that reads by itself is a tenth of the work of a small batch. Chunks that come while the stream
 * is paused, or behind others, take the usual way; and if a stream does not use `push`, they all do.
 */
function takeChunks(stream: Duplex, take: (chunk: Buffer) => void): void {
  const push = stream.push;
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk === null || !stream.readableFlowing || stream.readableLength > 0)
      return push.call(stream, chunk, encoding);
    take(chunk as Buffer);
    return true;
  };
}

/** The connection is broken. */
const FAILED = -2;

/** Reads into `busyBuffer` what a socket has now: how much, 0 at its end, -1 where there is nothing yet, or FAILED. */
function readNow(fd: number): number {
  // An error's stack costs more than the call, and "nothing yet" is an error here.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return readSync(fd, busyBuffer, 0, busyBuffer.length, null);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EAGAIN" ? -1 : FAILED;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** A browser or a web attack speaks HTTP to us: there is nothing to answer. */
function isHttp(word: string): boolean {
  const length = word.length;
  if (length !== 4 && length !== 5) return false;
  const lower = word.toLowerCase();
  return lower === "post" || lower === "host:";
}
