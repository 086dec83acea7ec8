/**
 * A pair of streams inside the process: what one end writes, the other reads. One end is served like a socket; the other is
 * handed to a client library that expects one.
 */
import { Duplex } from "node:stream";
// The system's own, which tests that replace timers do not move.
import { setImmediate } from "node:timers";
import type { Engine } from "../core/engine.ts";
import { Connection } from "./connection.ts";
import type { Flusher } from "./flusher.ts";

export class LocalStream extends Duplex {
  #peer: LocalStream | null = null;
  /** Calls back when the peer has made room. */
  #waiting: (() => void) | null = null;
  /**
   * How long what is written here is on its way, in ms, asked for each piece. With 0 it arrives in a turn of its own, as
   * from a network; where this is null it arrives at once.
   */
  lagMs: (() => number) | null = null;
  /** What is on its way, in order. */
  #late: Buffer[] = [];
  /** Like a connected socket, for libraries that ask. */
  readonly connecting = false;

  /** The first behaves like a client's socket, which ends when it is ended; the second like a server's, which need not. */
  static pair(): [LocalStream, LocalStream] {
    const a = new LocalStream({ allowHalfOpen: false });
    const b = new LocalStream();
    a.#peer = b;
    b.#peer = a;
    return [a, b];
  }

  // The parts of net.Socket that client libraries touch.
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  setTimeout(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }

  override _read(): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.lagMs === null) {
      this.#arrive(chunk, done);
      return;
    }
    const lag = this.lagMs();
    if (lag > 0 || this.#late.length > 0) {
      this.#arriveLater(chunk, lag);
      done();
    } else setImmediate(() => this.#arrive(chunk, done));
  }

  #arrive(chunk: Buffer, done: () => void): void {
    const peer = this.#peer;
    if (peer === null || peer.destroyed || peer.push(chunk)) done();
    else peer.#waiting = done;
  }

  /** Each timer lets the first piece arrive, so that pieces keep their order also when the lag becomes shorter. */
  #arriveLater(chunk: Buffer, lagMs: number): void {
    this.#late.push(Buffer.from(chunk));
    const arrive = () => {
      const piece = this.#late.shift();
      if (piece !== undefined) this.#arrive(piece, () => {});
    };
    setTimeout(arrive, lagMs).unref();
  }

  /** The end comes in a turn of its own, as from a socket: the reader has had the last bytes by then. */
  override _final(done: () => void): void {
    // What is still on its way does not arrive any more.
    this.#late = [];
    const peer = this.#peer;
    if (peer !== null) {
      setImmediate(() => {
        if (!peer.destroyed) peer.push(null);
      });
    }
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const peer = this.#peer;
    const waiting = this.#waiting;
    this.#peer = null;
    this.#waiting = null;
    this.#late = [];
    waiting?.();
    // One that has said its last word leaves the other to read it; anything else is a connection cut.
    if (peer !== null && !peer.destroyed && !this.writableFinished) peer.destroy();
    done(error);
  }
}

export interface StreamOptions {
  /** Whom the engine takes it to come from. */
  readonly address?: string;
  /** How long what the engine says is on its way, in ms, asked for each piece. */
  readonly lagMs?: () => number;
}

/** A stream whose other end the engine serves. */
export function openStream(engine: Engine, flusher: Flusher, options: StreamOptions = {}): LocalStream {
  const { address = "local:0", lagMs = null } = options;
  const [theirs, ours] = LocalStream.pair();
  ours.lagMs = lagMs;
  if (lagMs !== null) theirs.lagMs = () => 0;
  new Connection(engine, ours, flusher, { address, localAddress: "local:0", fd: -1 });
  return theirs;
}

/** A stream to somebody who is not there. */
export function refusedStream(host: string, port: number): LocalStream {
  const [stream] = LocalStream.pair();
  const error: NodeJS.ErrnoException = new Error(`connect ECONNREFUSED ${host}:${port}`);
  error.code = "ECONNREFUSED";
  setImmediate(() => stream.destroy(error));
  return stream;
}
