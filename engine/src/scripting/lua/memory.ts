/**
 * What scripts allocate, counted before they get it.
 *
 * V8 ends the process when its heap is full, so a script must be refused memory first. Asking V8 how much is in use costs
 * microseconds, and what it answers includes garbage; so scripts spend a credit, and only when that is used up is the host
 * asked how much room there really is. Whatever allocates in proportion to its input calls `take` beforehand: library
 * functions, growing tables, replies that become tables. Everything else a script allocates is bounded by the size of its
 * code, and the ticks of loops and calls count for it (`TICK_BYTES`, runtime.ts).
 *
 * A concatenation is a rope to V8: cheap, and copied into one piece when somebody reads it. So not `..` pays for the
 * text, which may be repeated a million times without reading it, but the reader does (`flat`).
 *
 * One count for the whole thread, as there is one heap.
 */

import { Buffer } from "../../platform/bytes.ts";
import { heapFigures } from "../../platform/memory.ts";
import { LuaError } from "./value.ts";

/** Strings up to this length are paid for by ticks. */
export const LONG = 1024;

/** What the code between two ticks may allocate without being asked. */
export const TICK_BYTES = 1024 * 1024;

/** What a new table takes, with a few elements. */
export const TABLE_BYTES = 320;

/** What one more value takes in a growing array, or as a piece of a growing string. */
export const VALUE_BYTES = 32;

/** Where scripts get their memory from. */
export interface MemorySource {
  /** How many bytes may still be allocated before the heap is too full for a script that needs so many to go on. */
  room(neededBytes: number): number;
  /** What to throw when there is not enough. */
  exhausted(): unknown;
}

/** The most that is spent before the source is asked again. */
const MOST_CREDIT = 4 * 1024 * 1024;
/** With less room than this a script ends, lest every further step collects garbage for a few kilobytes. */
const LEAST_ROOM = MOST_CREDIT;

/** Without a host: a share of V8's limit, all garbage counted. */
const withoutHost: MemorySource = {
  room() {
    const { used, limit } = heapFigures();
    return limit * 0.75 - used;
  },
  exhausted: () => new LuaError("not enough memory"),
};

let source: MemorySource = withoutHost;
let credit = 0;
let promised = 0;

/** Says who is asked from now on. */
export function takeFrom(host: MemorySource): void {
  source = host;
}

/** Pays for so many bytes. Throws what the source says when there is no room for them. */
export function take(bytes: number): void {
  credit -= bytes;
  if (credit < 0) refill();
}

function refill(): void {
  const left = source.room(LEAST_ROOM - credit + promised) + credit - promised;
  if (left < LEAST_ROOM) {
    credit = 0;
    throw source.exhausted();
  }
  // The larger part of what is left is never given at once: the count is an estimate.
  credit = Math.min(MOST_CREDIT, left / 8);
}

/** Pays for a string that is read later, with others: a script's reply, which is put together when the script is over. */
export function promise(text: string): string {
  if (text.length > LONG) {
    promised += text.length;
    take(text.length);
  }
  return text;
}

/** Nothing is promised any more. */
export function forgetPromises(): void {
  promised = 0;
}

/** A string that is about to be read, which may need as much memory again. */
export function flat(text: string): string {
  if (text.length > LONG) take(text.length);
  return text;
}

/** A copy for code that keeps a string longer than the script runs: a piece of a text keeps all of it alive. */
export function copied(text: string): string {
  return Buffer.from(text, "latin1").latin1Slice();
}
