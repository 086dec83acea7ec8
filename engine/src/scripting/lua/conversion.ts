/**
 * Between replies and Lua values, both ways, as Redis converts them. RESP2 loses what RESP3 keeps (`redis.setresp(3)`).
 */
import { ReplyError } from "../../core/errors.ts";
import {
  BigNumber,
  Double,
  MapReply,
  NIL_ARRAY,
  Push,
  type Reply,
  SetReply,
  Status,
  Verbatim,
  WithAttributes,
} from "../../core/reply.ts";
import { INT64_MIN } from "../../lib/numbers.ts";
import { flat, promise, take, VALUE_BYTES } from "./memory.ts";
import { LuaTable } from "./table.ts";
import type { LuaValue } from "./value.ts";

/** A table with one field. */
export function field(name: string, value: LuaValue): LuaTable {
  const table = new LuaTable(0, 1);
  table.setStr(name, value);
  return table;
}

/** What an error reply is to a script. */
export function errorTable(text: string): LuaTable {
  const table = new LuaTable(0, 2);
  table.setStr("err", text);
  // As in Redis: tells the code that reports the error that it has been counted already.
  table.setStr("ignore_error_stats_update", true);
  return table;
}

/** A reply as `redis.call` hands it to a script. */
export function replyToLua(reply: Reply, protocol: 2 | 3): LuaValue {
  if (typeof reply === "string") return flat(reply);
  if (typeof reply === "number") return reply;
  if (reply === null || reply === NIL_ARRAY) return protocol === 2 ? false : undefined;
  if (Array.isArray(reply)) return arrayToLua(reply, protocol);
  if (reply instanceof Status) return field("ok", reply.text);
  if (reply instanceof ReplyError) return errorTable(reply.text);
  if (typeof reply === "bigint") return Number(reply);
  if (typeof reply === "boolean") return protocol === 2 ? Number(reply) : reply;
  if (reply instanceof Double) return protocol === 2 ? reply.text : field("double", reply.value);
  if (reply instanceof MapReply) return mapToLua(reply, protocol);
  if (reply instanceof SetReply) return setToLua(reply, protocol);
  if (reply instanceof Push) return arrayToLua(reply.items, protocol);
  if (reply instanceof Verbatim) {
    if (protocol === 2) return reply.text;
    const parts = new LuaTable(0, 2);
    parts.setStr("string", reply.text);
    parts.setStr("format", reply.format);
    return field("verbatim_string", parts);
  }
  if (reply instanceof BigNumber) return protocol === 2 ? reply.digits : field("big_number", reply.digits);
  if (reply instanceof WithAttributes) return replyToLua(reply.reply, protocol);
  return undefined;
}

function arrayToLua(items: readonly Reply[], protocol: 2 | 3): LuaTable {
  take(items.length * 2 * VALUE_BYTES);
  const values = new Array<LuaValue>(items.length);
  for (let i = 0; i < items.length; i++) values[i] = replyToLua(items[i]!, protocol);
  return LuaTable.fromArray(values);
}

function mapToLua({ flat }: MapReply, protocol: 2 | 3): LuaTable {
  if (protocol === 2) return arrayToLua(flat, protocol);
  const map = new LuaTable();
  for (let i = 0; i < flat.length; i += 2) {
    const key = replyToLua(flat[i]!, protocol);
    if (key !== undefined) map.set(key, replyToLua(flat[i + 1]!, protocol));
  }
  return field("map", map);
}

function setToLua({ items }: SetReply, protocol: 2 | 3): LuaTable {
  if (protocol === 2) return arrayToLua(items, protocol);
  const set = new LuaTable();
  for (const item of items) {
    const key = replyToLua(item, protocol);
    if (key !== undefined) set.set(key, true);
  }
  return field("set", set);
}

/** Redis gives up on nesting deeper than Lua's C stack takes. */
const DEEPEST = 7994;

/** The error in place of a reply that nests too deep. */
const TOO_DEEP = new ReplyError("ERR reached lua stack limit");

/** A table on its way to a reply: its elements so far. */
interface OpenReply {
  readonly table: LuaTable;
  readonly items: Reply[];
}

/**
 * What a script returned, as a reply. `protocol` is the script's own (`redis.setresp`), not the client's. Without recursion
 * for tables in tables: they may be nested deeper than JavaScript's stack.
 */
export function luaToReply(value: LuaValue, protocol: 2 | 3, depth = 0): Reply {
  const whole = startReply(value, protocol, depth);
  if (!isOpenReply(whole)) return whole;
  const open: OpenReply[] = [whole];
  for (let last: OpenReply | undefined = whole; last !== undefined; last = open.at(-1)) {
    const element = last.table.getInt(last.items.length + 1);
    if (element === undefined) {
      open.pop();
      continue;
    }
    take(VALUE_BYTES);
    const reply = startReply(element, protocol, depth + open.length);
    if (isOpenReply(reply)) {
      last.items.push(reply.items);
      open.push(reply);
    } else last.items.push(reply);
  }
  return whole.items;
}

const isOpenReply = (reply: Reply | OpenReply): reply is OpenReply =>
  typeof reply === "object" && reply !== null && "table" in reply;

/** A value's reply, or the beginning of one for a table of elements. */
function startReply(value: LuaValue, protocol: 2 | 3, depth: number): Reply | OpenReply {
  switch (typeof value) {
    case "string":
      return promise(value);
    case "number":
      return toInteger(value);
    case "boolean":
      if (protocol === 3) return value;
      return value ? 1 : null;
    default:
      if (!(value instanceof LuaTable)) return null;
      return depth > DEEPEST ? TOO_DEEP : tableToReply(value, protocol, depth);
  }
}

/** C's cast to a 64-bit integer: towards zero, and the lowest number for what does not fit. */
function toInteger(value: number): number | bigint {
  const whole = Math.trunc(value);
  if (Number.isSafeInteger(whole)) return whole + 0;
  return Math.abs(whole) < 2 ** 63 ? BigInt(whole) : INT64_MIN;
}

function tableToReply(table: LuaTable, protocol: 2 | 3, depth: number): Reply | OpenReply {
  const err = table.getStr("err");
  if (typeof err === "string") return new ReplyError(err);
  const ok = table.getStr("ok");
  if (typeof ok === "string") return new Status(ok);
  return typedReply(table, protocol, depth) ?? { table, items: [] };
}

/** The tables that stand for types of RESP3. */
function typedReply(table: LuaTable, protocol: 2 | 3, depth: number): Reply | undefined {
  const double = table.getStr("double");
  if (typeof double === "number") return new Double(double);
  const map = table.getStr("map");
  if (map instanceof LuaTable) {
    const flat: Reply[] = [];
    for (const [key, value] of map.entries()) {
      flat.push(luaToReply(key, protocol, depth + 1), luaToReply(value, protocol, depth + 1));
    }
    return new MapReply(flat);
  }
  const set = table.getStr("set");
  if (set instanceof LuaTable) {
    const items: Reply[] = [];
    for (const [member] of set.entries()) items.push(luaToReply(member, protocol, depth + 1));
    return new SetReply(items);
  }
  const digits = table.getStr("big_number");
  if (typeof digits === "string") return new BigNumber(digits.replace(/[\r\n]/g, " "));
  const verbatim = table.getStr("verbatim_string");
  if (!(verbatim instanceof LuaTable)) return undefined;
  const text = verbatim.getStr("string");
  const format = verbatim.getStr("format");
  if (typeof text !== "string" || typeof format !== "string") return undefined;
  return new Verbatim(text, format.slice(0, 3).padEnd(3, " "));
}
