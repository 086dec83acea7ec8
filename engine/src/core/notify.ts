/**
 * Key-space events: which are wanted (notify-keyspace-events), and the channels that they go out on.
 */
import type { TypeName } from "../types/collection.ts";

/** Redis's letter for a class of events. */
export type EventClass = "g" | "$" | "l" | "s" | "h" | "z" | "t" | "d" | "x" | "e" | "m" | "n";

export const GENERIC_EVENT: EventClass = "g";
export const STRING_EVENT: EventClass = "$";

export const TYPE_EVENT: Record<TypeName, EventClass> = {
  string: "$",
  list: "l",
  set: "s",
  hash: "h",
  zset: "z",
  stream: "t",
};

const BITS: Readonly<Record<EventClass | "K" | "E", number>> = {
  K: 1,
  E: 2,
  g: 4,
  $: 8,
  l: 16,
  s: 32,
  h: 64,
  z: 128,
  x: 256,
  e: 512,
  t: 1024,
  m: 2048,
  d: 8192,
  n: 16384,
};

const bitByLetter: ReadonlyMap<string, number> = new Map(Object.entries(BITS));

/** What `A` stands for: everything but key misses and new keys. */
const ALL: readonly EventClass[] = ["g", "$", "l", "s", "h", "z", "x", "e", "t", "d"];
const ALL_BITS = ALL.reduce((bits, letter) => bits | BITS[letter], 0);
/** What is written out letter by letter where `A` does not hold, before `K`, `E` and `m`. */
const SPELT: readonly EventClass[] = [...ALL, "n"];

const KEYSPACE = BITS.K;
const KEYEVENT = BITS.E;

/** The flags for a configuration string, or undefined when it has an unknown letter. */
export function parseNotifyFlags(text: string): number | undefined {
  let flags = 0;
  for (const letter of text) {
    const bits = letter === "A" ? ALL_BITS : bitByLetter.get(letter);
    if (bits === undefined) return undefined;
    flags |= bits;
  }
  return flags;
}

/** The configuration string for flags, in Redis's order; beside `A`, Redis does not mention `n`. */
export function formatNotifyFlags(flags: number): string {
  let text = "";
  if ((flags & ALL_BITS) === ALL_BITS) text = "A";
  else for (const letter of SPELT) if (flags & BITS[letter]) text += letter;
  if (flags & KEYSPACE) text += "K";
  if (flags & KEYEVENT) text += "E";
  if (flags & BITS.m) text += "m";
  return text;
}

/** Publishes events on the channels that are asked for. */
export class Notifications {
  /** notify-keyspace-events as bits; 0 means that nothing is published, which callers look at first. */
  flags = 0;
  readonly #publish: (channel: string, message: string) => void;

  constructor(publish: (channel: string, message: string) => void) {
    this.#publish = publish;
  }

  send(db: number, eventClass: EventClass, event: string, key: string): void {
    if ((this.flags & BITS[eventClass]) === 0) return;
    if (this.flags & KEYSPACE) this.#publish(`__keyspace@${db}__:${key}`, event);
    if (this.flags & KEYEVENT) this.#publish(`__keyevent@${db}__:${event}`, key);
  }
}
