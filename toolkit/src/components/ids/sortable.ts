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
const TIME_BITS = 48n;
const ULID_BITS = 80n;
const UUID_BITS = 74n;
const LAST_MS = Number((1n << TIME_BITS) - 1n);

/** Numbers that only grow: a time, and `bits` of chance behind it. */
class Growing {
  readonly #bits: bigint;
  #ms = -1;
  #chance = 0n;

  constructor(bits: bigint) {
    this.#bits = bits;
  }

  next(clock: Clock): { readonly ms: number; readonly chance: bigint } {
    const now = Math.min(Math.max(0, Math.floor(clock.wallMs())), LAST_MS);
    if (now > this.#ms) {
      this.#ms = now;
      // The first bit is left free, so that there is room to count up within the millisecond.
      this.#chance = bitsOf(randomBytes(10)) & ((1n << (this.#bits - 1n)) - 1n);
    } else {
      // Not by one: others must not guess the next.
      this.#chance += 1n + (bitsOf(randomBytes(4)) & 0xffff_ffffn);
      if (this.#chance >> this.#bits > 0n) {
        this.#ms += 1;
        this.#chance = bitsOf(randomBytes(10)) & ((1n << (this.#bits - 1n)) - 1n);
      }
    }
    return { ms: this.#ms, chance: this.#chance };
  }
}

function bitsOf(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString("hex")}`);
}

/** One source for each clock: a process has one, tests have more. */
const sources = new WeakMap<Clock, { readonly ulid: Growing; readonly uuid: Growing }>();

function sourceOf(clock: Clock): { readonly ulid: Growing; readonly uuid: Growing } {
  const source = sources.get(clock) ?? { ulid: new Growing(ULID_BITS), uuid: new Growing(UUID_BITS) };
  sources.set(clock, source);
  return source;
}

/** A new ULID: 26 characters whose order is that of their making. */
export function ulid(clock: Clock = systemClock): string {
  const { ms, chance } = sourceOf(clock).ulid.next(clock);
  let number = (BigInt(ms) << ULID_BITS) | chance;
  let text = "";
  for (let at = 0; at < 26; at++) {
    text = LETTERS.charAt(Number(number & 31n)) + text;
    number >>= 5n;
  }
  return text;
}

/** A new UUID of version 7, for columns of that type. */
export function uuid7(clock: Clock = systemClock): string {
  const { ms, chance } = sourceOf(clock).uuid.next(clock);
  const hex = (value: bigint | number, length: number): string => value.toString(16).padStart(length, "0");
  const time = hex(ms, 12);
  const high = chance >> 62n;
  const low = hex((0b10n << 62n) | (chance & ((1n << 62n) - 1n)), 16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(high, 3)}-${low.slice(0, 4)}-${low.slice(4)}`;
}

/** When a ULID or a UUID of version 7 was made, by the clock of its maker. */
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
