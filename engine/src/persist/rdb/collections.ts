/** Small collections out of the words that were gathered for them. */

import type { Limits } from "../../types/collection.ts";
import { HashValue } from "../../types/hash/index.ts";
import { ListValue } from "../../types/list/index.ts";
import { SetValue } from "../../types/set/index.ts";
import type { Cursor } from "./cursor.ts";
import { EMPTY, type Empty } from "./empty.ts";
import type { Entries } from "./entries.ts";

/** What is larger goes word by word: V8's strings have an end. */
const LONGEST_PACKED = 1 << 26;
/** A list in one packed string is at most this long. */
const SMALL_LIST = 2048;

/** A hash of fields and values in turn: packed where it is within the limits, as Redis does when it loads one. */
export function hashOf(entries: Entries, cursor: Cursor, limits: Limits): HashValue | Empty {
  const { count } = entries;
  if (count === 0) return EMPTY;
  if (count % 2 !== 0) throw cursor.corrupt("a hash's last field has no value");
  if (entries.hasDuplicates(2)) throw cursor.corrupt("a hash has a field twice");
  const small =
    count <= limits.hashMaxListpackEntries * 2 &&
    entries.longest <= limits.hashMaxListpackValue &&
    entries.packedLength < LONGEST_PACKED;
  if (small) return HashValue.fromPacked(entries.text(), count / 2);
  const hash = new HashValue();
  hash.widen(count / 2);
  for (let i = 0; i < count; i += 2) hash.set(entries.word(i), entries.word(i + 1), limits);
  return hash;
}

/** A list of all words, in one node. */
export function listOf(entries: Entries, { listMaxListpackSize }: Limits): ListValue {
  const { count } = entries;
  if (entries.packedLength <= SMALL_LIST) return ListValue.fromPacked(entries.text(), count, listMaxListpackSize);
  const list = new ListValue();
  list.pushAll(entries.words(), 0, false);
  list.cutAs([count], listMaxListpackSize);
  return list;
}

/** A set of distinct words: an intset where all are integers and not too many. */
export function setOf(entries: Entries, limits: Limits): SetValue {
  const { count } = entries;
  let integers = 0;
  if (count <= limits.setMaxIntsetEntries) while (integers < count && entries.int(integers) !== undefined) integers++;
  if (integers < count && entries.packedLength < LONGEST_PACKED) return SetValue.fromPacked(entries.text(), count);
  const set = new SetValue();
  if (integers < count) set.widen(count);
  for (let i = 0; i < count; i++) set.add(entries.word(i), limits);
  return set;
}
