/** A document on its way into the logs: its words with their places, its values, and what is kept of it. */
import { createHash } from "node:crypto";
import { InputError } from "../../base/errors.ts";
import { Bytes } from "./log.ts";
import type { Schema, ValueColumn } from "./schema.ts";

/** Words of one document; what is behind them is refused, not dropped. */
export const MAX_WORDS = 1_000_000;
const MAX_STORED_BYTES = 8 * 1024 * 1024;

export interface Prepared {
  readonly id: string;
  /** Of the texts and of the values. */
  readonly hash: string;
  /** JSON of what can be given back. */
  readonly stored: string;
  /** Payload of the log of documents. */
  readonly entry: Buffer;
  /** By column, in the order of the schema; a single 0 byte where there is none. */
  readonly columns: readonly Buffer[];
  readonly words: readonly string[];
  /** The payloads of the words' logs, one behind the other, and where each ends. */
  readonly payloads: Buffer;
  readonly ends: readonly number[];
  /** MessagePack: the size of each payload, then its word. */
  readonly blob: Buffer;
}

export type Values = Readonly<Record<string, unknown>>;

const NOTHING = Buffer.from([0]);

export function prepare(schema: Schema, id: string, document: Values): Prepared {
  const tokens = TOKENS;
  const lengths = tokens.read(schema, document);
  const words = [...tokens.words.keys()];
  const ends: number[] = [];
  const bytes = SCRATCH;
  bytes.clear();
  for (let word = 0; word < words.length; word++) {
    tokens.write(word, bytes, schema.positions);
    ends.push(bytes.length);
  }
  const payloads = bytes.taken();
  bytes.clear();
  bytes.sized(id);
  for (const length of lengths) bytes.varint(length);
  const entry = bytes.taken();
  const stored = JSON.stringify(keptOf(schema, document));
  if (stored.length * 3 > MAX_STORED_BYTES && Buffer.byteLength(stored) > MAX_STORED_BYTES) {
    throw new InputError(`what is stored of a document must not take more than ${MAX_STORED_BYTES} bytes`);
  }
  return {
    id,
    hash: hashOf(schema, document),
    stored,
    entry,
    columns: schema.columns.map((column) => columnPayload(column, document[column.name])),
    words,
    payloads,
    ends,
    blob: packed(words, ends),
  };
}

/**
 * The words of a document in the order they come, each linked to the next of the same word. One for all documents, since they
 * are prepared one after the other: it is what preparing spends its time on.
 */
class Tokens {
  readonly words = new Map<string, number>();
  /** By word: its first and last token. */
  #first: number[] = [];
  #last: number[] = [];
  /** By token. */
  #next = new Int32Array(1_024);
  #fields = new Uint8Array(1_024);
  #positions = new Uint32Array(1_024);
  #count = 0;

  /** The lengths of the text fields. */
  read(schema: Schema, document: Values): number[] {
    this.words.clear();
    this.#first = [];
    this.#last = [];
    this.#count = 0;
    return schema.text.map(({ name, analyser }, field) => {
      const text = document[name];
      if (typeof text !== "string" || text === "") return 0;
      const before = this.#count;
      analyser.words(text, (word, position) => this.#add(word, field, position));
      if (this.#count > MAX_WORDS) throw new InputError(`a document has at most ${MAX_WORDS} words`);
      return this.#count - before;
    });
  }

  #add(word: string, field: number, position: number): void {
    const token = this.#count++;
    if (token >= this.#next.length) this.#grow();
    this.#next[token] = -1;
    this.#fields[token] = field;
    this.#positions[token] = position;
    const known = this.words.get(word);
    if (known === undefined) {
      this.words.set(word, this.#first.length);
      this.#first.push(token);
      this.#last.push(token);
    } else {
      this.#next[this.#last[known]!] = token;
      this.#last[known] = token;
    }
  }

  #grow(): void {
    const size = this.#next.length * 2;
    const [next, fields, positions] = [this.#next, this.#fields, this.#positions];
    this.#next = new Int32Array(size);
    this.#next.set(next);
    this.#fields = new Uint8Array(size);
    this.#fields.set(fields);
    this.#positions = new Uint32Array(size);
    this.#positions.set(positions);
  }

  /** The payload of a word. */
  write(word: number, bytes: Bytes, positions: boolean): void {
    let mask = 0;
    let field = -1;
    for (let token = this.#first[word]!; token >= 0; token = this.#next[token]!) {
      if (this.#fields[token] === field) continue;
      field = this.#fields[token]!;
      mask += 2 ** field;
    }
    bytes.varint(mask);
    let token = this.#first[word]!;
    while (token >= 0) {
      field = this.#fields[token]!;
      let count = 0;
      let end = token;
      for (; end >= 0 && this.#fields[end] === field; end = this.#next[end]!) count++;
      bytes.varint(count);
      let before = 0;
      for (; token !== end; token = this.#next[token]!) {
        if (positions) bytes.varint(this.#positions[token]! - before);
        before = this.#positions[token]!;
      }
    }
  }
}

const TOKENS = new Tokens();
const SCRATCH = new Bytes(4_096);

/** The payload of the word at an index. */
export function payloadAt({ payloads, ends }: Prepared, index: number): Buffer {
  return payloads.subarray(index === 0 ? 0 : ends[index - 1]!, ends[index]!);
}

export function columnPayload({ type }: ValueColumn, value: unknown): Buffer {
  if (value === undefined || value === null) return NOTHING;
  const bytes = new Bytes(16);
  if (type === "number") {
    bytes.varint(1);
    bytes.double(value as number);
  } else if (type === "string") {
    bytes.sized(value as string, 1);
  } else {
    const tags = [...new Set(value as readonly string[])];
    bytes.varint(tags.length);
    for (const tag of tags) bytes.sized(tag);
  }
  return bytes.taken();
}

/** The fields that can be given back: values always, texts where the schema says so. */
function keptOf(schema: Schema, document: Values): Values {
  const names = [...schema.columns, ...schema.text.filter(({ store }) => store)].map(({ name }) => name);
  return Object.fromEntries(names.filter((name) => document[name] !== undefined).map((name) => [name, document[name]]));
}

/** Of the texts, then of the values: a patch changes only the second. */
function hashOf(schema: Schema, document: Values): string {
  const stores = schema.text.map(({ store }) => store);
  const texts = schema.text.map(({ name }) => document[name] ?? null);
  return `${digest([stores, texts])}.${valuesHash(schema, document)}`;
}

export function valuesHash(schema: Schema, document: Values): string {
  return digest(schema.columns.map(({ name }) => document[name] ?? null));
}

function digest(value: unknown): string {
  const text = JSON.stringify(value);
  return text === "[]" ? "-" : createHash("sha1").update(text).digest("base64url").slice(0, 16);
}

/** What cmsgpack reads: a flat array of sizes and words. */
function packed(words: readonly string[], ends: readonly number[]): Buffer {
  const bytes = SCRATCH;
  bytes.clear();
  const count = words.length * 2;
  if (count < 16) bytes.byte(0x90 + count);
  else if (count < 65_536) bytes.big(0xdc, count, 2);
  else bytes.big(0xdd, count, 4);
  for (const [at, word] of words.entries()) {
    const size = ends[at]! - (at === 0 ? 0 : ends[at - 1]!);
    if (size < 128) bytes.byte(size);
    else if (size < 65_536) bytes.big(0xcd, size, 2);
    else bytes.big(0xce, size, 4);
    const length = Buffer.byteLength(word, "utf8");
    if (length < 32) bytes.byte(0xa0 + length);
    else bytes.big(0xd9, length, 1);
    bytes.text(word);
  }
  return bytes.taken();
}

/** A record as it is kept (scripts.ts). */
export interface Kept {
  readonly number: number;
  readonly version: number;
  readonly hash: string;
  readonly stored: string;
}

/** The words of a record, each with the size of its payload. */
export function parseWords(record: Buffer): { readonly size: number; readonly word: string }[] {
  let at = record.indexOf(10) + 1;
  const uint = (bytes: number): number => {
    at += bytes;
    return record.readUIntBE(at - bytes, bytes);
  };
  const kind = uint(1);
  const count = (kind === 0xdc ? uint(2) : kind === 0xdd ? uint(4) : kind - 0x90) / 2;
  const words: { readonly size: number; readonly word: string }[] = [];
  while (words.length < count) {
    const first = uint(1);
    const size = first === 0xcd ? uint(2) : first === 0xce ? uint(4) : first;
    const short = uint(1);
    const length = short === 0xd9 ? uint(1) : short - 0xa0;
    at += length;
    words.push({ size, word: record.toString("utf8", at - length, at) });
  }
  return words;
}

export function parseKept(record: Buffer): Kept {
  const end = record.indexOf(10);
  const [number, version, hash, size] = record.toString("latin1", 0, end).split(" ") as [
    string,
    string,
    string,
    string,
  ];
  const stored = record.toString("utf8", end + 1 + Number(size));
  return { number: Number(number), version: Number(version), hash, stored };
}
