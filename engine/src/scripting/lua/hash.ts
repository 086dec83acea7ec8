/**
 * Hashes of keys, which decide where a key lies in a table and so in which order `next` walks: Lua 5.1's own, with Redis's
 * change for strings. Keys that Lua hashes by address get a number of their own.
 */
import { copied, flat } from "./memory.ts";
import { identity, LuaError, type LuaValue } from "./value.ts";

/** Redis's string hash: Lua's, but of all characters, however long the string is. */
export function hashString(text: string): number {
  return text.length <= LONG ? hashShort(text) : hashLong(text);
}

function hashShort(text: string): number {
  let hash = text.length;
  for (let i = text.length - 1; i >= 0; i--) hash ^= (hash << 5) + (hash >>> 2) + text.charCodeAt(i);
  return hash | 0;
}

/** From this length on, hashes are remembered: Lua computes each string's hash once, when it makes the string. */
const LONG = 100;
/** Longer keys would hold up everybody for more than a second. */
const LONGEST = 1 << 28;
const REMEMBERED_CHARACTERS = 1 << 20;
const longHashes = new Map<string, number>();
let remembered = 0;

function hashLong(text: string): number {
  if (text.length > LONGEST) throw new LuaError("not enough memory");
  let hash = longHashes.get(flat(text));
  if (hash === undefined) {
    hash = hashShort(text);
    if (text.length > REMEMBERED_CHARACTERS) return hash;
    remembered += text.length;
    if (remembered > REMEMBERED_CHARACTERS) {
      longHashes.clear();
      remembered = text.length;
    }
    longHashes.set(copied(text), hash);
  }
  return hash;
}

const double = new Float64Array(1);
const words = new Int32Array(double.buffer);

export function hashNumber(value: number): number {
  if (value === 0) return 0;
  double[0] = value;
  return (words[0]! + words[1]!) | 0;
}

export function hashOf(key: Exclude<LuaValue, undefined>): number {
  switch (typeof key) {
    case "string":
      return hashString(key);
    case "number":
      return hashNumber(key);
    case "boolean":
      return key ? 1 : 0;
    default:
      return identity(key);
  }
}
