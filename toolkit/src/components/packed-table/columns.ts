/**
 * The types of columns: how wide a value is, how it becomes bytes (most significant first) and a value again, and how Lua makes a
 * number of it. What a script sees of a word is its code, of a day its number, of flags their bits.
 */
import { integer, word } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { choice, defineOptions, flag } from "../../base/options.ts";

export type Kind =
  | "uint8"
  | "uint16"
  | "uint24"
  | "uint32"
  | "int8"
  | "int16"
  | "int24"
  | "int32"
  | "float32"
  | "float64"
  | "word8"
  | "word16"
  | "flags"
  | "bytes"
  | "day"
  | "time";

/** What is stored about a column, as JSON. */
export interface ColumnFacts {
  /** The type of its values. */
  readonly kind: Kind;
  /** How many bytes a value takes. */
  readonly width: number;
  /** Of flags: their names, from the lowest bit on. */
  readonly names?: readonly string[];
  /** Of words: false if only those that are given may be stored. */
  readonly grows?: boolean;
}

/** A column of a schema: the functions of this entry make it. */
export interface Column<T> extends ColumnFacts {
  /** Of words: what the dictionary begins with. */
  readonly words?: readonly string[];
  /** Only for types. */
  readonly example?: T;
}

const numeric = (kind: Kind, width: number) => (): Column<number> => ({ kind, width });

/** A column of integers from 0 to 255, in one byte. */
export const uint8 = numeric("uint8", 1);
/** A column of integers from 0 to 65 535, in two bytes. */
export const uint16 = numeric("uint16", 2);
/** A column of integers from 0 to 16 777 215, in three bytes. */
export const uint24 = numeric("uint24", 3);
/** A column of integers from 0 to 4 294 967 295, in four bytes. */
export const uint32 = numeric("uint32", 4);
/** A column of integers from −128 to 127, in one byte. */
export const int8 = numeric("int8", 1);
/** A column of integers from −32 768 to 32 767, in two bytes. */
export const int16 = numeric("int16", 2);
/** A column of integers from −8 388 608 to 8 388 607, in three bytes. */
export const int24 = numeric("int24", 3);
/** A column of integers from −2 147 483 648 to 2 147 483 647, in four bytes. */
export const int32 = numeric("int32", 4);
/** A column of numbers of single precision, in four bytes. */
export const float32 = numeric("float32", 4);
/** A column of any finite numbers, in eight bytes. */
export const float64 = numeric("float64", 8);

/** Which words a column of words may hold. */
export interface WordsOptions {
  /** 8, the default: up to 255 different words, in one byte. 16: up to 65 535, in two. */
  readonly bits?: 8 | 16;
  /** Whether new words get a number (default true). False: only the words that are given; others are refused. */
  readonly grows?: boolean;
}

const WORDS_OPTIONS = defineOptions<WordsOptions>("words", {
  bits: choice(8, 16),
  grows: flag,
});

/**
 * One of a set of words, stored as its number in a dictionary. A word that is new gets the next number. Null: none.
 *
 * @example
 * const users = await PackedTable.open(db, "users", { country: words(["ITA", "USA"]), state: words([], { bits: 16 }) });
 * await users.set(17, { country: "USA", state: "CA" });
 * await users.get(17); // → { country: "USA", state: "CA" }
 */
export function words(known: readonly string[] = [], options: WordsOptions = {}): Column<string | null> {
  WORDS_OPTIONS.check(options);
  const { bits = 8, grows = true } = options;
  if (known.length > 2 ** bits - 1) throw new InputError(`${known.length} words do not fit ${bits} bits`);
  if (new Set(known).size !== known.length) throw new InputError("a word is there twice");
  for (const each of known) checkWord(each);
  return { kind: bits === 8 ? "word8" : "word16", width: bits / 8, grows, words: known };
}

/**
 * Each of up to 32 names set or not.
 *
 * @example
 * const users = await PackedTable.open(db, "users", { may: flags(["read", "write", "delete"]) });
 * await users.set(17, { may: ["read", "delete"] });
 * await users.get(17); // → { may: ["read", "delete"] }
 * (await users.aggregate({ where: { may: { has: "delete" } } })).count; // → 1
 */
export function flags(names: readonly string[]): Column<readonly string[]> {
  integer("the number of flags", names.length, 1, 32);
  if (new Set(names).size !== names.length) throw new InputError("a flag is there twice");
  for (const name of names) word("the name of a flag", name, 256);
  return { kind: "flags", width: Math.ceil(names.length / 8), names };
}

/**
 * So many bytes, no more and no less.
 *
 * @example
 * const files = await PackedTable.open(db, "files", { digest: fixedBytes(4) });
 * await files.set(17, { digest: new Uint8Array([1, 2, 3, 4]) });
 * (await files.get(17))?.digest[3]; // → 4
 */
export function fixedBytes(size: number): Column<Uint8Array> {
  return { kind: "bytes", width: integer("size", size, 1, 1_024) };
}

/** A day as 2026-11-15, from 1970-01-01 to 2149-06-06. */
export const day = (): Column<string> => ({ kind: "day", width: 2 });
/** A time to the second, from 1970 to 2106. */
export const time = (): Column<Date> => ({ kind: "time", width: 4 });

/** Words that look like this name codes without a word. */
const UNNAMED = /^#\d+$/;

export function checkWord(value: string): string {
  if (UNNAMED.test(word("a word", value, 256))) throw new InputError(`"${value}" could be taken for an unknown code`);
  return value;
}

const INTEGERS: Partial<Record<Kind, readonly [number, number]>> = {
  uint8: [0, 0xff],
  uint16: [0, 0xffff],
  uint24: [0, 0xffffff],
  uint32: [0, 0xffffffff],
  int8: [-0x80, 0x7f],
  int16: [-0x8000, 0x7fff],
  int24: [-0x800000, 0x7fffff],
  int32: [-0x80000000, 0x7fffffff],
};
const DAY_MS = 86_400_000;

/** The number that stands for a value; what it cannot be is refused. Words and bytes have none here. */
export function toNumber(what: string, column: ColumnFacts, value: unknown): number {
  const range = INTEGERS[column.kind];
  if (range !== undefined) return integer(what, value as number, range[0], range[1]);
  switch (column.kind) {
    case "float32":
    case "float64":
      if (typeof value !== "number" || !Number.isFinite(value)) throw new InputError(`${what} must be a finite number`);
      return column.kind === "float32" ? finite(what, Math.fround(value)) : value;
    case "day":
      return dayNumber(what, value);
    case "time": {
      const ms = value instanceof Date ? value.getTime() : Number.NaN;
      const seconds = Math.floor(ms / 1_000);
      if (!(seconds >= 0 && seconds <= 0xffffffff)) throw new InputError(`${what} must be a Date from 1970 to 2106`);
      return seconds;
    }
    case "flags":
      return flagBits(what, column, value);
    default:
      throw new InputError(`${what} has no number`);
  }
}

function finite(what: string, value: number): number {
  if (!Number.isFinite(value)) throw new InputError(`${what} is too large for four bytes`);
  return value;
}

function dayNumber(what: string, value: unknown): number {
  const ms = typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(value) : Number.NaN;
  const days = ms / DAY_MS;
  // Not every day that can be written is in the calendar.
  if (!(days >= 0 && days <= 0xffff) || dayText(days) !== value) {
    throw new InputError(`${what} must be a day from 1970-01-01 to 2149-06-06`);
  }
  return days;
}

const dayText = (days: number): string => new Date(days * DAY_MS).toISOString().slice(0, 10);

export function flagBits(what: string, { names = [] }: ColumnFacts, value: unknown): number {
  if (!Array.isArray(value)) throw new InputError(`${what} must be a list of flags`);
  let bits = 0;
  for (const name of value) {
    const bit = names.indexOf(name);
    if (bit === -1) throw new InputError(`${what} has no flag "${String(name)}"`);
    bits += bits & (1 << bit) ? 0 : 2 ** bit;
  }
  return bits;
}

export function writeNumber(bytes: Buffer, at: number, { kind, width }: ColumnFacts, value: number): void {
  if (kind === "float32") bytes.writeFloatBE(value, at);
  else if (kind === "float64") bytes.writeDoubleBE(value, at);
  else if (kind.startsWith("int")) bytes.writeIntBE(value, at, width);
  else bytes.writeUIntBE(value, at, width);
}

export function readNumber(bytes: Buffer, at: number, { kind, width }: ColumnFacts): number {
  if (kind === "float32") return bytes.readFloatBE(at);
  if (kind === "float64") return bytes.readDoubleBE(at);
  return kind.startsWith("int") ? bytes.readIntBE(at, width) : bytes.readUIntBE(at, width);
}

/** The value of a number, of all kinds but words and bytes. */
export function fromNumber({ kind, names = [] }: ColumnFacts, value: number): unknown {
  if (kind === "day") return dayText(value);
  if (kind === "time") return new Date(value * 1_000);
  if (kind === "flags") return names.filter((_, bit) => Math.floor(value / 2 ** bit) % 2 === 1);
  return value;
}

/** Lua that declares `name`: the number in `block` behind so many bytes: the variable `at`, and an offset. */
export function luaNumber(
  name: string,
  { kind, width }: ColumnFacts,
  { block, at, offset }: { readonly block: string; readonly at: string; readonly offset: number },
): string {
  if (kind === "float32" || kind === "float64") {
    return `local ${name} = unpackNumber("${kind === "float32" ? ">f" : ">d"}", ${block}, ${at} + ${offset + 1})`;
  }
  const parts = Array.from({ length: width }, (_, nth) => `${name}${nth}`);
  const sum = parts
    .map((part, nth) => (nth === width - 1 ? part : `${part} * ${256 ** (width - 1 - nth)}`))
    .join(" + ");
  const read = `local ${parts.join(", ")} = byte(${block}, ${at} + ${offset + 1}, ${at} + ${offset + width}) local ${name} = ${sum}`;
  if (!kind.startsWith("int")) return read;
  return `${read} if ${name} >= ${256 ** width / 2} then ${name} = ${name} - ${256 ** width} end`;
}

export const isWord = ({ kind }: ColumnFacts): boolean => kind === "word8" || kind === "word16";
