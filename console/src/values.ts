/**
 * Replies as JSON. Strings that are UTF-8 are strings; other bytes are `{ "bytes": base64 }`, so that nothing is mangled on its
 * way to the page and back. Replies that RESP3 has as maps are `{ "map": [[field, value] …] }`, told by the command, since the
 * store's connections speak the flat form.
 */
import { isUtf8 } from "node:buffer";
import { type Answer, type Reply, ServerError } from "cinnabar";

export type Bytes = { readonly bytes: string };
/** A name or a value as the page has it. */
export type Text = string | Bytes;
export type Value = null | number | Text | { readonly error: string } | { readonly map: [Value, Value][] } | Value[];

export function textOf(buffer: Buffer): Text {
  return isUtf8(buffer) ? buffer.toString("utf8") : { bytes: buffer.toString("base64") };
}

export function jsonOf(answer: Answer): Value {
  if (answer instanceof ServerError) return { error: answer.message };
  if (Buffer.isBuffer(answer)) return textOf(answer);
  return Array.isArray(answer) ? answer.map(jsonOf) : answer;
}

/** Base64 in front of which stands this is bytes; anything else is the text itself. What the page sends for names. */
const BYTES = "base64:";

/** A word that came from the page. */
export function wordOf(text: string): string | Buffer {
  return text.startsWith(BYTES) ? Buffer.from(text.slice(BYTES.length), "base64") : text;
}

const MAPS = new Set([
  "HGETALL",
  "CONFIG GET",
  "XINFO STREAM",
  "MEMORY STATS",
  "CLIENT TRACKINGINFO",
  "COMMAND DOCS",
  "ACL GETUSER",
  "LATENCY HISTOGRAM",
  "PUBSUB NUMSUB",
  "HELLO",
]);
const SCORED = new Set([
  "ZRANGE",
  "ZREVRANGE",
  "ZRANGEBYSCORE",
  "ZREVRANGEBYSCORE",
  "ZPOPMIN",
  "ZPOPMAX",
  "ZUNION",
  "ZINTER",
  "ZDIFF",
]);

/** Lists of maps. */
const MAP_LISTS = new Set([
  "XINFO GROUPS",
  "XINFO CONSUMERS",
  "FUNCTION LIST",
  "SENTINEL MASTERS",
  "SENTINEL REPLICAS",
]);
/** Entries of a stream, and entries by stream. */
const ENTRIES = new Set(["XRANGE", "XREVRANGE", "XCLAIM"]);
const ENTRIES_OF_MANY = new Set(["XREAD", "XREADGROUP"]);

/** The reply of a command, with its pairs found again. */
export function shaped(words: readonly string[], reply: Reply): Value {
  const value = jsonOf(reply);
  if (!Array.isArray(value)) return value;
  const name = (words[0] ?? "").toUpperCase();
  const both = `${name} ${(words[1] ?? "").toUpperCase()}`;
  if (ENTRIES.has(name)) return value.map(entry);
  if (ENTRIES_OF_MANY.has(name)) return { map: value.map(entriesOf) };
  if (MAP_LISTS.has(both)) return value.map(mapped);
  const scored =
    SCORED.has(name) && (name.startsWith("ZPOP") || words.some((word) => word.toUpperCase() === "WITHSCORES"));
  const valued = name === "HRANDFIELD" && words.some((word) => word.toUpperCase() === "WITHVALUES");
  return MAPS.has(name) || MAPS.has(both) || scored || valued ? mapped(value) : value;
}

function mapped(value: Value): Value {
  return Array.isArray(value) && value.length % 2 === 0 ? { map: pairs(value) } : value;
}

/** An id and its fields; without fields where an entry was deleted, or where only ids were asked for. */
function entry(value: Value): Value {
  return Array.isArray(value) && value.length === 2 ? [value[0]!, mapped(value[1]!)] : value;
}

function entriesOf(value: Value): [Value, Value] {
  const [name = null, entries = null] = Array.isArray(value) ? value : [];
  return [name, Array.isArray(entries) ? entries.map(entry) : entries];
}

export function pairs<T>(flat: readonly T[]): [T, T][] {
  return Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at]!, flat[2 * at + 1]!]);
}

/** A field that every server gives. */
export function textIn(fields: ReadonlyMap<string, Reply>, name: string): string {
  const text = fields.get(name);
  if (typeof text !== "string") throw new Error(`the server's answer has no "${name}"`);
  return text;
}

/** A reply that must be no error. */
export function sound(answer: Answer | undefined): Reply {
  if (answer instanceof ServerError) throw answer;
  return answer ?? null;
}

/** The items of a list; none where there is no list. */
export const listOf = (answer: Answer | undefined): Reply[] => (Array.isArray(answer) ? answer : []);

/** A reply that was asked for as bytes. */
export function bytesIn(reply: Reply | undefined): Buffer {
  if (!Buffer.isBuffer(reply)) throw new Error("the server's answer is not bytes");
  return reply;
}

/** A list of which each item is bytes. */
export function byteListIn(reply: Reply | undefined): Buffer[] {
  if (!Array.isArray(reply) || !reply.every((each) => Buffer.isBuffer(each))) {
    throw new Error("the server's answer is not a list of bytes");
  }
  return reply;
}

/** What a step of SCAN and its kind answers: the next cursor, and what was found. */
export function scanned(reply: Reply): { readonly next: string; readonly found: Buffer[] } {
  const [next, found] = listOf(reply);
  return { next: bytesIn(next).toString(), found: byteListIn(found) };
}

/** The entries of a stream: ids, and their fields with their values. */
export function entriesIn(reply: Reply): [id: Buffer, flat: Buffer[]][] {
  return listOf(reply).map((entry) => {
    const [id, flat] = listOf(entry);
    return [bytesIn(id), byteListIn(flat)];
  });
}

/** The items of a list, as text. */
export const textsOf = (answer: Answer | undefined): string[] => listOf(answer).map(String);

/** Fields and their values, from a flat list of both. */
export const fieldsOf = (flat: Answer | undefined): Map<string, Reply> =>
  new Map(pairs(listOf(flat)).map(([name, value]) => [String(name), value]));

/** Whether it is an object, whose fields may hold anything. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** The code of what was thrown, as Node's errors have one. */
export function codeOf(thrown: unknown): string | undefined {
  return isObject(thrown) && typeof thrown.code === "string" ? thrown.code : undefined;
}

/** The text of what was thrown, which may be anything. */
/** A count with what it counts: "1 key", "3 keys". */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** What was thrown, as an error. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
