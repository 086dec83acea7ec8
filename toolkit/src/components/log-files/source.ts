/**
 * One file, plain or gzip, as bytes from any place on. It is opened once: renaming or removing it meanwhile changes nothing.
 * Places in a gzip file are places in what it unpacks to, so a log keeps its progress when it is compressed.
 */
import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { codeOf } from "../../base/errors.ts";
import { LineSplitter } from "./lines.ts";

const CHUNK_BYTES = 256 * 1_024;
/** How much of a first line names a file. */
const HEAD_BYTES = 4_096;
/** How much before a place is remembered of what stood there. */
const TAIL_BYTES = 1_024;
const EMPTY = Buffer.alloc(0);

export class LogSource {
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
  readonly gzip: boolean;
  readonly #handle: FileHandle;
  /** Whether a gzip file ended in the middle, as one does that is still being written. */
  broken = false;

  private constructor(path: string, handle: FileHandle, stat: { dev: number; ino: number }, gzip: boolean) {
    this.path = path;
    this.#handle = handle;
    this.dev = stat.dev;
    this.ino = stat.ino;
    this.gzip = gzip;
  }

  /** Null if there is no such file any more. */
  static async open(path: string): Promise<LogSource | null> {
    let handle: FileHandle;
    try {
      handle = await open(path, "r");
    } catch (error) {
      if (codeOf(error) === "ENOENT") return null;
      throw error;
    }
    try {
      const magic = Buffer.alloc(2);
      const { bytesRead } = await handle.read(magic, 0, 2, 0);
      const gzip = bytesRead === 2 && magic[0] === 0x1f && magic[1] === 0x8b;
      return new LogSource(path, handle, await handle.stat(), gzip);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** What is there from a place on, up to the end as it is when the end is reached. */
  chunks(from: number): AsyncGenerator<Buffer> {
    return this.gzip ? this.#unpacked(from) : this.#plain(from);
  }

  async *#plain(from: number): AsyncGenerator<Buffer> {
    for (let at = from; ; ) {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = await this.#handle.read(buffer, 0, CHUNK_BYTES, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  async *#unpacked(from: number): AsyncGenerator<Buffer> {
    // Not the handle's own stream, which closes the handle when it ends.
    const packed = Readable.from(this.#plain(0), { objectMode: false, highWaterMark: CHUNK_BYTES });
    const stream = packed.pipe(createGunzip({ chunkSize: CHUNK_BYTES }));
    packed.on("error", (error) => stream.destroy(error));
    let skip = from;
    try {
      for await (const chunk of stream) {
        const passed = Math.min(skip, chunk.length);
        skip -= passed;
        if (passed < chunk.length) yield chunk.subarray(passed);
      }
    } catch (error) {
      if (codeOf(error) !== "Z_BUF_ERROR") throw error;
      this.broken = true;
    } finally {
      stream.destroy();
      packed.destroy();
    }
  }

  /** The first line, or as much of it as names a file; null while it is not there as a whole. */
  async head(encoding: string): Promise<Buffer | null> {
    const splitter = new LineSplitter(HEAD_BYTES, encoding);
    for await (const chunk of this.chunks(0)) {
      for (const line of splitter.push(chunk)) return line.bytes;
      if (splitter.pendingBytes >= HEAD_BYTES) break;
    }
    const whole = splitter.pendingBytes >= HEAD_BYTES || (this.gzip && !this.broken);
    return whole ? (splitter.rest()?.bytes ?? null) : null;
  }
}

/** The bytes around the place that is being read: what stood before it is remembered, as `length:hash`. */
export class Window {
  #before: Buffer;
  #chunk: Buffer = EMPTY;
  #start: number;

  /** `before` ends at `position`. */
  constructor(before: Buffer, position: number) {
    this.#before = before;
    this.#start = position;
  }

  push(chunk: Buffer): void {
    this.#before = this.#until(this.#start + this.#chunk.length);
    this.#start += this.#chunk.length;
    this.#chunk = chunk;
  }

  tailAt(position: number): string {
    return tailOf(this.#until(position));
  }

  #until(position: number): Buffer {
    const part = this.#chunk.subarray(0, position - this.#start);
    if (part.length >= TAIL_BYTES) return Buffer.from(part.subarray(-TAIL_BYTES));
    return Buffer.concat([this.#before, part]).subarray(-TAIL_BYTES);
  }
}

export function tailOf(bytes: Buffer): string {
  return `${bytes.length}:${createHash("sha256").update(bytes).digest("base64url")}`;
}

export function tailLength(tail: string): number {
  return tail === "" ? 0 : Number.parseInt(tail, 10);
}
