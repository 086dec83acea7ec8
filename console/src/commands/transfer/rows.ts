/** Keys as rows that text can hold, and as the commands that make them again. Streams, with their groups, stay in DUMP's form. */
import { isUtf8 } from "node:buffer";
import { isObject } from "../../values.ts";
import { checked, type Link } from "../link/link.ts";
import { itemsIn, type Reply, textIn, type Word } from "../link/reply.ts";

/** Text, or bytes that are no UTF-8. */
export type Piece = string | { readonly base64: string };

export interface Row {
  readonly db: number;
  readonly key: Piece;
  readonly type: string;
  readonly value: Piece | readonly Piece[];
  /** When it ends, in milliseconds since 1970. */
  readonly expiresAt?: number;
}

/** A row as a file has it: whether it says what it should is found out where it is used. */
export interface GivenRow {
  readonly key?: unknown;
  readonly type?: unknown;
  readonly value?: unknown;
  readonly expiresAt?: unknown;
}

const pieceOf = (bytes: Buffer): Piece => (isUtf8(bytes) ? bytes.toString() : { base64: bytes.toString("base64") });

function bytesOf(piece: unknown): Buffer {
  if (typeof piece === "string") return Buffer.from(piece);
  const base64 = isObject(piece) ? piece.base64 : undefined;
  if (typeof base64 !== "string") throw new Error(`${JSON.stringify(piece)} is neither text nor { "base64": … }`);
  return Buffer.from(base64, "base64");
}

const READ: Readonly<Record<string, (key: Buffer) => Word[]>> = {
  string: (key) => ["GET", key],
  list: (key) => ["LRANGE", key, "0", "-1"],
  set: (key) => ["SMEMBERS", key],
  hash: (key) => ["HGETALL", key],
  zset: (key) => ["ZRANGE", key, "0", "-1", "WITHSCORES"],
};

const piecesIn = (reply: Reply): Piece | Piece[] =>
  "items" in reply
    ? itemsIn(reply).map((item) => pieceOf("bytes" in item ? item.bytes : Buffer.from(textIn(item))))
    : pieceOf("bytes" in reply ? reply.bytes : Buffer.alloc(0));

/** What answers the commands: a connection, or what stands for one. */
export type Asked = Pick<Link, "callMany" | "sendMany">;

/** Rows of the keys that are still there. */
export async function readRows(link: Asked, db: number, keys: readonly Buffer[]): Promise<Row[]> {
  const about = await link.callMany(
    keys.flatMap((key) => [
      ["TYPE", key],
      ["PTTL", key],
    ]),
  );
  const types = keys.map((_, at) => textIn(about[at * 2]));
  const values = await Promise.all(link.sendMany(keys.map((key, at) => READ[types[at]!]?.(key) ?? ["DUMP", key])));
  const now = Date.now();
  return keys.flatMap((key, at): Row[] => {
    const value = values[at]!;
    const isGone = types[at] === "none" || value.type === "nil" || ("items" in value && value.items.length === 0);
    // A key that was replaced by one of another type meanwhile is read when it comes again, or not: as one that was deleted.
    if (isGone || textIn(value).startsWith("WRONGTYPE")) return [];
    const left = Number(textIn(about[at * 2 + 1]));
    const deadline = left > 0 ? { expiresAt: now + left } : {};
    return [{ db, key: pieceOf(key), type: types[at]!, value: piecesIn(checked(value)), ...deadline }];
  });
}

const MAKE: Readonly<Record<string, string>> = { list: "RPUSH", set: "SADD", hash: "HSET", zset: "ZADD" };
/** Elements of one command. */
const MOST_WORDS = 2_000;

export const keyOf = (row: GivenRow): Buffer => bytesOf(row.key);

/** The commands that create the key of a row; they replace what was there. */
export function commandsOf(row: GivenRow): Word[][] {
  const key = keyOf(row);
  if (row.expiresAt !== undefined && !Number.isSafeInteger(row.expiresAt)) throw new Error("expiresAt is no moment");
  const until = row.expiresAt === undefined ? [] : [["PEXPIREAT", key, String(row.expiresAt)]];
  if (row.type === "string") return [["SET", key, bytesOf(row.value)], ...until];
  const make = typeof row.type === "string" ? MAKE[row.type] : undefined;
  if (make === undefined) {
    const at = row.expiresAt === undefined ? ["0"] : [String(row.expiresAt)];
    const absolute = row.expiresAt === undefined ? [] : ["ABSTTL"];
    return [["RESTORE", key, ...at, bytesOf(row.value), "REPLACE", ...absolute]];
  }
  if (!Array.isArray(row.value)) throw new Error(`the value of a ${row.type} is a list`);
  let words = row.value.map(bytesOf);
  // A sorted set is read as member and score, and written the other way round.
  if (row.type === "zset") words = words.flatMap((word, at) => (at % 2 === 0 ? [words[at + 1]!, word] : []));
  const commands: Word[][] = [["DEL", key]];
  for (let at = 0; at < words.length; at += MOST_WORDS) commands.push([make, key, ...words.slice(at, at + MOST_WORDS)]);
  return [...commands, ...until];
}
