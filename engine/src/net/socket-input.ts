/** How bytes come out of a socket: straight from its stream, or straight from its descriptor; and bytes that are no Redis. */
import { codeOf } from "../lib/caught.ts";
import { withoutStacks } from "../lib/stacks.ts";
import { Buffer } from "../platform/bytes.ts";
import { readSync, writeSync } from "../platform/files.ts";
import type { Duplex } from "../platform/streams.ts";

/**
 * Lets a flowing stream hand its chunks straight to us. On its own it would emit each as an event and then plan the next
 * read, which for a socket that reads by itself is a tenth of the work of a small batch. Chunks that come while the stream
 * is paused, or behind others, take the usual way; and if a stream does not use `push`, they all do. `ended` is called when
 * the last one has come, which the event tells only later.
 */
export function takeChunks(stream: Duplex, take: (chunk: Buffer) => void, ended: () => void): void {
  const push = stream.push;
  stream.push = (chunk: unknown, encoding?: Parameters<typeof push>[1]) => {
    if (chunk === null) ended();
    if (chunk === null || !stream.readableFlowing || stream.readableLength > 0)
      return push.call(stream, chunk, encoding);
    take(chunk as Buffer);
    return true;
  };
}

/** What sockets read into, one after the other. */
const borrowed = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Has a socket read into one memory for all of them, instead of making 64 KB for every read and giving most of it back: a tenth of
 * the work of a small batch. Node offers that for sockets that it connects (`onread`), not for those that it accepts; these have the
 * same fields for it. False where there are none. `take` must copy what it wants to keep.
 */
export function readBorrowed(stream: Duplex, take: (chunk: Buffer) => void): boolean {
  const { _handle: handle } = stream as unknown as { readonly _handle?: { useUserBuffer?(memory: Buffer): void } };
  const fields = Object.getOwnPropertySymbols(stream);
  const memory = fields.find(({ description }) => description === "kBuffer");
  const callback = fields.find(({ description }) => description === "kBufferCb");
  if (memory === undefined || callback === undefined || typeof handle?.useUserBuffer !== "function") return false;
  const taking = (length: number) => {
    take(borrowed.subarray(0, length));
    return true;
  };
  Object.assign(stream, { [memory]: borrowed, [callback]: taking });
  handle.useUserBuffer(borrowed);
  return true;
}

const buffer = Buffer.allocUnsafeSlow(64 * 1024);
const NOTHING_YET = Buffer.alloc(0);

/** What a socket has now: a copy of the bytes, none of them where there is nothing yet; null where the peer is gone. */
export function readNow(fd: number): Buffer | null {
  try {
    // An error's stack costs more than the call, and "nothing yet" is an error here.
    const length = withoutStacks(() => readSync(fd, buffer, 0, buffer.length, null));
    return length === 0 ? null : Buffer.from(buffer.subarray(0, length));
  } catch (error) {
    return codeOf(error) === "EAGAIN" ? NOTHING_YET : null;
  }
}

/**
 * Writes to a socket's descriptor, past a stream that has nothing to write itself; returns how many bytes the system took. What went
 * wrong is for the stream to find out.
 */
export function writeNow(fd: number, text: string): number {
  try {
    return withoutStacks(() => writeSync(fd, text, null, "latin1"));
  } catch {
    return 0;
  }
}

/**
 * The way into a TLS socket for what was read from its descriptor: what it says comes out at the stream before this returns.
 * Undefined where Node has no such way; then nothing may be read past it.
 */
export function cipherInput(stream: Duplex): ((bytes: Buffer) => void) | undefined {
  const { _handle: handle } = stream as unknown as { readonly _handle?: { receive?(bytes: Buffer): void } };
  return handle?.receive === undefined ? undefined : (bytes) => handle.receive?.(bytes);
}

/** The first record of a TLS handshake, where commands are expected. */
export const isTlsHello = (chunk: Buffer): boolean => chunk[0] === 0x16 && chunk[1] === 0x03;

/** A browser or a web attack speaks HTTP to us: there is nothing to answer. */
export function isHttp(word: string): boolean {
  const length = word.length;
  if (length !== 4 && length !== 5) return false;
  const lower = word.toLowerCase();
  return lower === "post" || lower === "host:";
}
