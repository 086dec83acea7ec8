/**
 * Ids that sort by the time at which they were made, without asking anybody: 48 bits of milliseconds, then chance. Within one process
 * each is larger than the one before, also within a millisecond and when the clock is put back: then the time stands still, and what
 * was chance counts up.
 *
 *   ULID      01JCV7Z8G0…   26 characters of Crockford's base32: 48 bits of time, 80 of chance
 *   UUID v7   0193…-7…-…    RFC 9562: 48 bits of time, the version, 74 of chance
 */
import { randomBytes } from "node:crypto";
import { type Clock, systemClock } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";

const LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** Two letters for ten bits. */
const PAIRS = Array.from({ length: 1_024 }, (_, bits) => LETTERS.charAt(bits >> 5) + LETTERS.charAt(bits & 31));
const LAST_MS = 2 ** 48 - 1;
const LOW = 2 ** 40;

/** Numbers that only grow: a time, and chance behind it in two parts, the lower one of 40 bits. */
class Growing {
  readonly #high: number;
  ms = -1;
  high = 0;
  low = 0;

  /** `highBits`: of the upper part. */
  constructor(highBits: number) {
    this.#high = 2 ** highBits;
  }

  next(clock: Clock): this {
    const now = Math.min(Math.max(0, Math.floor(clock.wallMs())), LAST_MS);
    if (now > this.ms) this.#begin(now);
    else {
      // Not by one: others must not guess the next.
      this.low += 1 + random32();
      if (this.low >= LOW) {
        this.low -= LOW;
        this.high += 1;
        if (this.high >= this.#high) this.#begin(this.ms + 1);
      }
    }
    return this;
  }

  /** The first bit is left free, so that there is room to count up within the millisecond. */
  #begin(ms: number): void {
    this.ms = ms;
    this.high = Math.floor(((random32() * 256 + (random32() & 255)) / LOW) * (this.#high / 2));
    this.low = random32() * 256 + (random32() & 255);
  }
}

let pool = Buffer.alloc(0);
let used = 0;

/** Asking for many at once costs hardly more than asking for one. */
function random32(): number {
  if (used >= pool.length) {
    pool = randomBytes(4_096);
    used = 0;
  }
  used += 4;
  return pool.readUInt32LE(used - 4);
}

/** One source for each clock: a process has one, tests have more. */
const sources = new WeakMap<Clock, { readonly ulid: Growing; readonly uuid: Growing }>();

function sourceOf(clock: Clock): { readonly ulid: Growing; readonly uuid: Growing } {
  let source = sources.get(clock);
  if (source === undefined) {
    source = { ulid: new Growing(40), uuid: new Growing(34) };
    sources.set(clock, source);
  }
  return source;
}

/** Four letters for twenty bits. */
function letters20(bits: number): string {
  return `${PAIRS[bits >>> 10]}${PAIRS[bits & 1_023]}`;
}

function letters40(bits: number): string {
  const upper = Math.floor(bits / 2 ** 20);
  return letters20(upper) + letters20(bits - upper * 2 ** 20);
}

/**
 * A new ULID: 26 characters whose order is that of their making.
 *
 * @example
 * const [first, second] = [ulid(), ulid()];
 * first.length; // → 26
 * first < second; // → true
 */
export function ulid(clock: Clock = systemClock): string {
  const { ms, high, low } = sourceOf(clock).ulid.next(clock);
  // Ten letters for 48 bits: the first two for the upper eight.
  const upper = Math.floor(ms / LOW);
  return `${PAIRS[upper]}${letters40(ms - upper * LOW)}${letters40(high)}${letters40(low)}`;
}

const hex = (value: number, length: number): string => value.toString(16).padStart(length, "0");

/**
 * A new UUID of version 7, for columns of that type.
 *
 * @example
 * const id = uuid7(); // → "…-…-7…-…-…"
 * id.length; // → 36
 */
export function uuid7(clock: Clock = systemClock): string {
  const { ms, high, low } = sourceOf(clock).uuid.next(clock);
  const time = hex(ms, 12);
  // Twelve bits before the variant, 62 behind it: 22 of the upper part, and the lower one.
  const first = Math.floor(high / 2 ** 22);
  const rest = hex(2 ** 23 + (high - first * 2 ** 22), 6) + hex(low, 10);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(first, 3)}-${rest.slice(0, 4)}-${rest.slice(4)}`;
}

/**
 * When a ULID or a UUID of version 7 was made, by the clock of its maker.
 *
 * @example
 * madeAt("01ARYZ6S41TSV4RRFFQ69G5FAV"); // → 2016-07-30T22:36:16.385Z
 * madeAt(uuid7()) <= new Date(); // → true
 */
export function madeAt(id: string): Date {
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(id)) {
    return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
  }
  if (!/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i.test(id)) {
    throw new InputError("this is neither a ULID nor a UUID of version 7");
  }
  let ms = 0;
  for (const letter of id.slice(0, 10).toUpperCase()) ms = ms * 32 + LETTERS.indexOf(letter);
  return new Date(ms);
}
