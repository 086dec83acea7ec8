/**
 * What handlers return. Plain values stand for the common replies, small classes for the rest:
 *
 *   string            bulk string (one char, one byte)
 *   number, bigint    integer
 *   null              null
 *   boolean           RESP3 boolean, RESP2 0 or 1
 *   array             array
 *   ReplyError        error
 *   the classes below
 *
 * RESP2 and RESP3 differ only in the encoder (resp/encode.ts).
 */

import { formatDouble, formatFixed } from "../lib/numbers.ts";
import type { ReplyError } from "./errors.ts";

/** `+OK` and its like. */
export class Status {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A floating point number: RESP3 double, RESP2 bulk string. */
export class Double {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }

  /** As it is printed. */
  get text(): string {
    return formatDouble(this.value);
  }
}

/** A double with seventeen digits behind the point, as geo commands print coordinates. */
export class Coordinate extends Double {
  override get text(): string {
    const fixed = formatFixed(this.value, 17);
    return fixed.includes(".") ? fixed.replace(/\.?0+$/, "") : fixed;
  }
}

/** Key, value, key, value …: RESP3 map, RESP2 flat array. */
export class MapReply {
  readonly flat: readonly Reply[];
  constructor(flat: readonly Reply[]) {
    this.flat = flat;
  }
}

/** RESP3 set, RESP2 array. */
export class SetReply {
  readonly items: readonly Reply[];
  constructor(items: readonly Reply[]) {
    this.items = items;
  }
}

/** Out-of-band data: RESP3 push, RESP2 array. */
export class Push {
  readonly items: readonly Reply[];
  /** Its bytes in either protocol, kept by the encoder the first time: one message goes to many clients. */
  resp2: string | null = null;
  resp3: string | null = null;
  constructor(items: readonly Reply[]) {
    this.items = items;
  }
}

/** Text for people: RESP3 verbatim string, RESP2 bulk string. */
export class Verbatim {
  readonly text: string;
  readonly format: string;
  constructor(text: string, format = "txt") {
    this.text = text;
    this.format = format;
  }
}

/** A number too large for an integer reply (DEBUG PROTOCOL): RESP3 big number, RESP2 bulk string. */
export class BigNumber {
  readonly digits: string;
  constructor(digits: string) {
    this.digits = digits;
  }
}

/** A reply with attributes before it (RESP3 only; RESP2 sends just the reply). */
export class WithAttributes {
  readonly attributes: MapReply;
  readonly reply: Reply;
  constructor(attributes: MapReply, reply: Reply) {
    this.attributes = attributes;
    this.reply = reply;
  }
}

/** Several top-level replies to one command, as SUBSCRIBE a b sends. */
export class Replies {
  readonly items: readonly Reply[];
  constructor(items: readonly Reply[]) {
    this.items = items;
  }
}

/** A reply and the messages that its own command has caused for the client: they come right behind it. */
export class WithMessages {
  readonly reply: Reply;
  readonly messages: readonly Reply[];
  constructor(reply: Reply, messages: readonly Reply[]) {
    this.reply = reply;
    this.messages = messages;
  }
}

class Marker {
  readonly what: string;
  constructor(what: string) {
    this.what = what;
  }
}

/** A null where an array was expected: `*-1` in RESP2, `_` in RESP3. */
export const NIL_ARRAY = new Marker("nil array");
/** The handler has parked the client; its reply comes later (blocking.ts). */
export const BLOCKED = new Marker("blocked");
/** Nothing was run: the connection tries again when the pause is over (pause.ts). */
export const POSTPONED = new Marker("postponed");
/** Nothing is sent at all. */
export const NO_REPLY = new Marker("no reply");

export type Reply =
  | string
  | number
  | bigint
  | null
  | boolean
  | readonly Reply[]
  | Status
  | Double
  | MapReply
  | SetReply
  | Push
  | Verbatim
  | BigNumber
  | WithAttributes
  | Replies
  | WithMessages
  | ReplyError
  | Marker;

export const OK = new Status("OK");
export const PONG = new Status("PONG");
export const QUEUED = new Status("QUEUED");
export const EMPTY: readonly Reply[] = Object.freeze([]);
