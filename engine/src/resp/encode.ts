/** Replies to bytes. The only place where RESP2 and RESP3 differ. */
import { ReplyError } from "../core/errors.ts";
import {
  BigNumber,
  BLOCKED,
  Double,
  MapReply,
  NIL_ARRAY,
  NO_REPLY,
  OK,
  Push,
  Replies,
  type Reply,
  SetReply,
  Status,
  Verbatim,
  WithAttributes,
  WithMessages,
} from "../core/reply.ts";
import { Output } from "./output.ts";

export type Protocol = 2 | 3;

const SMALL = 1024;
const bulkHeads = Array.from({ length: SMALL }, (_, length) => `$${length}\r\n`);
const arrayHeads = Array.from({ length: SMALL }, (_, length) => `*${length}\r\n`);
const integers = Array.from({ length: SMALL }, (_, value) => `:${value}\r\n`);

const LARGE = 64 * 1024;
/** How often a long reply looks whether the client is over its limit, as a mask. */
const STRETCH = 255;

/** The header of an aggregate of this many elements. */
function head(sign: string, length: number): string {
  return sign === "*" && length < SMALL ? arrayHeads[length]! : `${sign}${length}\r\n`;
}

function addBulk(word: string, out: Output): void {
  if (out.addShortBulk(word)) return;
  const { length } = word;
  if (length < SMALL) out.add(`${bulkHeads[length]!}${word}\r\n`);
  else if (length < LARGE) out.add(`$${length}\r\n${word}\r\n`);
  else {
    out.add(`$${length}\r\n`);
    out.addWord(word);
    out.add("\r\n");
  }
}

/** Arrays that have been begun, and where each goes on; shared, since making a stack for each reply would cost more. */
const begun: (readonly Reply[])[] = [];
const places: number[] = [];
let depth = 0;

/** The elements of an aggregate, without recursion for arrays: a script's reply may be nested thousands deep. */
function addAll(sign: string, items: readonly Reply[], protocol: Protocol, out: Output): void {
  out.add(head(sign, items.length));
  const base = depth;
  let level = items;
  let at = 0;
  let count = 0;
  for (;;) {
    while (at === level.length) {
      if (depth === base) return;
      level = begun[--depth]!;
      at = places[depth]!;
      begun.length = depth;
    }
    const item = level[at++]!;
    if (Array.isArray(item)) {
      begun[depth] = level;
      places[depth++] = at;
      out.add(head("*", item.length));
      level = item;
      at = 0;
    } else encode(item, protocol, out);
    if ((++count & STRETCH) === 0 && out.isFull) {
      depth = base;
      begun.length = base;
      return;
    }
  }
}

/** Errors and simple strings are one line: line breaks from user data become spaces. */
function line(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]/g, " ") : text;
}

/** A message goes to many clients and is encoded once, unless it is so large that it is not kept as one string. */
function addPush(push: Push, protocol: Protocol, out: Output): void {
  const sign = protocol === 2 ? "*" : ">";
  let text = protocol === 2 ? push.resp2 : push.resp3;
  if (text === null) {
    const own = new Output();
    addAll(sign, push.items, protocol, own);
    text = own.takeText();
    if (text === null) {
      addAll(sign, push.items, protocol, out);
      return;
    }
    if (protocol === 2) push.resp2 = text;
    else push.resp3 = text;
  }
  out.add(text);
}

export function encode(reply: Reply, protocol: Protocol, out: Output): void {
  if (typeof reply === "string") addBulk(reply, out);
  else if (typeof reply === "number") {
    if (reply >= 0 && reply < SMALL) out.add(integers[reply]!);
    else if (!out.addInteger(reply)) out.add(`:${reply}\r\n`);
  } else if (reply === null) out.add(protocol === 2 ? "$-1\r\n" : "_\r\n");
  else if (Array.isArray(reply)) addAll("*", reply, protocol, out);
  else if (reply === OK) out.add("+OK\r\n");
  else if (reply instanceof Status) out.add(`+${line(reply.text)}\r\n`);
  else encodeRare(reply, protocol, out);
}

function encodeRare(reply: Reply, protocol: Protocol, out: Output): void {
  const two = protocol === 2;
  if (reply instanceof ReplyError) out.add(`-${line(reply.text)}\r\n`);
  else if (reply instanceof Double) {
    if (two) addBulk(reply.text, out);
    else out.add(`,${reply.text}\r\n`);
  } else if (reply instanceof MapReply) {
    if (two) addAll("*", reply.flat, protocol, out);
    else {
      out.add(`%${reply.flat.length / 2}\r\n`);
      for (const item of reply.flat) encode(item, protocol, out);
    }
  } else if (reply instanceof SetReply) addAll(two ? "*" : "~", reply.items, protocol, out);
  else if (reply instanceof Push) addPush(reply, protocol, out);
  else if (reply instanceof Replies) for (const item of reply.items) encode(item, protocol, out);
  else if (reply instanceof WithMessages) {
    encode(reply.reply, protocol, out);
    for (const message of reply.messages) encode(message, protocol, out);
  } else if (typeof reply === "bigint") out.add(`:${reply}\r\n`);
  else if (typeof reply === "boolean") out.add(two ? (reply ? ":1\r\n" : ":0\r\n") : reply ? "#t\r\n" : "#f\r\n");
  else if (reply === NIL_ARRAY) out.add(two ? "*-1\r\n" : "_\r\n");
  else if (reply instanceof Verbatim) {
    if (two) addBulk(reply.text, out);
    else {
      out.add(`=${reply.text.length + 4}\r\n${reply.format}:`);
      out.addWord(reply.text);
      out.add("\r\n");
    }
  } else if (reply instanceof BigNumber) {
    if (two) addBulk(reply.digits, out);
    else out.add(`(${reply.digits}\r\n`);
  } else if (reply instanceof WithAttributes) {
    if (!two) {
      out.add(`|${reply.attributes.flat.length / 2}\r\n`);
      for (const item of reply.attributes.flat) encode(item, protocol, out);
    }
    encode(reply.reply, protocol, out);
  } else if (reply !== NO_REPLY && reply !== BLOCKED)
    throw new TypeError("a handler returned something that is no reply");
}
