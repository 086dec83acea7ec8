/**
 * What a key can hold. A string is kept as the leanest JavaScript value that says which encoding Redis would report:
 *
 *   number, bigint   `int`           an int64, as INCR leaves it
 *   string           `embstr`/`raw`  latin1, one char one byte
 *   Bytes            `raw`           growable, from the first partial write on
 *
 * Every other type is a class here that implements Collection (collection.ts) and owns its encodings.
 */
import type { StringValue } from "./bytes.ts";
import type { HashValue } from "./hash/index.ts";
import type { ListValue } from "./list/index.ts";
import type { SetValue } from "./set/index.ts";
import type { StreamValue } from "./stream/index.ts";
import type { ZsetValue } from "./zset/index.ts";

export type Value = StringValue | ListValue | SetValue | HashValue | ZsetValue | StreamValue;
