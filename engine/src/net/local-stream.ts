/**
 * A pair of streams inside the process: what one end writes, the other reads. One end is served like a socket; the other is
 * handed to a client library that expects one.
 */
import { Duplex } from "node:stream";
import type { Engine } from "../core/engine.ts";
import { Connection } from "./connection.ts";
import type { Flusher } from "./flusher.ts";

export class LocalStream extends Duplex {
  #peer: LocalStream | null = null;
  /** Calls back when the peer has made room. */
  #waiting: (() => void) | null = null;
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
    const peer = this.#peer;
    if (peer === null || peer.destroyed || peer.push(chunk)) done();
    else peer.#waiting = done;
  }

  /** The end comes in a turn of its own, as from a socket: the reader has had the last bytes by then. */
  override _final(done: () => void): void {
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
    waiting?.();
    // One that has said its last word leaves the other to read it; anything else is a connection cut.
    if (peer !== null && !peer.destroyed && !this.writableFinished) peer.destroy();
    done(error);
  }
}

/** A stream whose other end the engine serves. */
export function openStream(engine: Engine, flusher: Flusher): LocalStream {
  const [theirs, ours] = LocalStream.pair();
  new Connection(engine, ours, flusher, { address: "local:0", localAddress: "local:0", fd: -1 });
  return theirs;
}
