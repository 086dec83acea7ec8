/** Values on their way into the store and back: encoded, checked where there is a schema, compressed where that is worth it. */
import { type Codec, encodeWithin, json } from "../../base/codec.ts";
import { GuardingCodec, SchemaError } from "../../base/schema.ts";
import { pack, unpack } from "./packing.ts";
import type { CacheOptions } from "./types.ts";

export class Values<T> {
  readonly #codec: Codec<T>;
  /** The same, if it checks values. */
  readonly #guard: GuardingCodec<T> | null;
  readonly #maxBytes: number;
  readonly #compressAboveBytes: number;

  constructor(options: CacheOptions<T>) {
    const plain = options.codec ?? json<T>();
    this.#guard = options.schema === undefined ? null : new GuardingCodec(plain, options.schema, "a cached value");
    this.#codec = this.#guard ?? plain;
    this.#maxBytes = options.maxBytes ?? 16 * 1024 * 1024;
    this.#compressAboveBytes = options.compressAboveBytes ?? 1_024;
  }

  /** Whether a stored value may be refused. */
  get areChecked(): boolean {
    return this.#guard !== null;
  }

  /** A value that was made, as the schema has it. */
  checked(value: T): T {
    return this.#guard === null ? value : this.#guard.check(value);
  }

  packed(value: T): string | Buffer | Promise<Buffer> {
    return pack(encodeWithin(this.#codec, value, this.#maxBytes, "a cached value"), this.#compressAboveBytes);
  }

  unpacked(stored: Buffer): T | Promise<T> {
    const bytes = unpack(stored);
    return bytes instanceof Promise ? bytes.then((each) => this.#codec.decode(each)) : this.#codec.decode(bytes);
  }

  /** Null for a value that the schema refuses: an older program may have stored it. */
  async accepted(stored: Buffer): Promise<{ readonly value: T } | null> {
    try {
      return { value: await this.unpacked(stored) };
    } catch (error) {
      if (error instanceof SchemaError) return null;
      throw error;
    }
  }
}
