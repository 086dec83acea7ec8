/**
 * Writes an RDB file, key by key, in chunks: to a file, a socket, a buffer.
 *
 *   writer.begin(aux); writer.functions(codes); { writer.selectDb(n); writer.resizeDb(keys, expires); writer.key(…)* }* ;
 *   writer.end();
 *
 * It keeps nothing of what it has written, so the walk over the keyspace may stop between any two keys, and write a key out
 * of turn that is about to change: `selectDb` may be called as often as need be.
 */
import type { Value } from "../../types/value.ts";
import { Output, type Sink } from "./output.ts";
import { OPCODE, RDB_VERSION } from "./types.ts";
import { writePieces } from "./value-pieces.ts";
import { typeForFile, writeValue } from "./value-writer.ts";

/** How the access stamps of keys are written: where they count for eviction, or not at all. */
export interface StampForm {
  readonly opcode: typeof OPCODE.IDLE | typeof OPCODE.FREQ;
  /** Seconds since the last access, or the frequency of accesses. */
  valueOf(stamp: number): number;
}

export interface RdbWriterOptions {
  /** Gets chunks of some hundred kilobytes, each its own to keep. */
  readonly sink: Sink;
  /** rdbcompression */
  readonly compress: boolean;
  /** rdbchecksum */
  readonly checksum: boolean;
  readonly stamps?: StampForm | undefined;
}

export class RdbWriter {
  readonly #output: Output;
  readonly #stamps: StampForm | undefined;

  constructor(options: RdbWriterOptions) {
    this.#output = new Output(options.sink, options);
    this.#stamps = options.stamps;
  }

  /** Bytes so far, those included that were not handed on yet. */
  get length(): number {
    return this.#output.length;
  }

  /** Whether access stamps are written. */
  get wantsStamps(): boolean {
    return this.#stamps !== undefined;
  }

  begin(aux: Iterable<readonly [name: string, value: string]>): void {
    this.#output.text(`REDIS${String(RDB_VERSION).padStart(4, "0")}`);
    for (const [name, value] of aux) {
      this.#output.byte(OPCODE.AUX);
      this.#output.word(name);
      this.#output.word(value);
    }
  }

  /** Libraries of functions, each as its source. */
  functions(sources: Iterable<string>): void {
    for (const source of sources) {
      this.#output.byte(OPCODE.FUNCTION_2);
      this.#output.word(source);
    }
  }

  selectDb(index: number): void {
    this.#output.byte(OPCODE.SELECT_DB);
    this.#output.count(index);
  }

  /** How many keys, and keys with a deadline, the database has: a hint for who loads it. */
  resizeDb(keys: number, expires: number): void {
    this.#output.byte(OPCODE.RESIZE_DB);
    this.#output.count(keys);
    this.#output.count(expires);
  }

  key(key: string, value: Value, deadline: number | undefined, stamp: number): void {
    this.#head(key, value, deadline, stamp);
    writeValue(value, this.#output);
  }

  /**
   * The same for a large value, in pieces: the caller may pause at every `yield`, and must write nothing else before the end
   * and see that the value does not change (value-pieces.ts).
   */
  *keyInPieces(key: string, value: Value, deadline: number | undefined, stamp: number): Generator<void> {
    this.#head(key, value, deadline, stamp);
    yield* writePieces(value, this.#output);
  }

  /** What stands before a value's body. */
  #head(key: string, value: Value, deadline: number | undefined, stamp: number): void {
    const output = this.#output;
    if (deadline !== undefined) {
      output.byte(OPCODE.EXPIRE_MS);
      output.time(deadline);
    }
    if (this.#stamps !== undefined) {
      const { opcode } = this.#stamps;
      output.byte(opcode);
      const number = this.#stamps.valueOf(stamp);
      if (opcode === OPCODE.FREQ) output.byte(number);
      else output.count(number);
    }
    output.byte(typeForFile(value));
    output.word(key);
  }

  /** Ends the file; returns its length. */
  end(): number {
    this.#output.byte(OPCODE.EOF);
    this.#output.checksum();
    this.#output.flush();
    return this.#output.length;
  }

  /** Hands on what is there, without waiting for a chunk to be full. */
  flush(): void {
    this.#output.flush();
  }
}
