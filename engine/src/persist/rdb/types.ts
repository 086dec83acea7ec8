/** The numbers by which RDB files name types of values and everything else that stands in them. */

/** The version that is written: that of Redis 7.0. */
export const RDB_VERSION = 10;
/** The newest version that is read, as long as nothing in it is unknown. */
export const NEWEST_READ = 12;

export const RDB = {
  STRING: 0,
  LIST: 1,
  SET: 2,
  ZSET: 3,
  HASH: 4,
  ZSET_2: 5,
  MODULE: 6,
  MODULE_2: 7,
  HASH_ZIPMAP: 9,
  LIST_ZIPLIST: 10,
  SET_INTSET: 11,
  ZSET_ZIPLIST: 12,
  HASH_ZIPLIST: 13,
  LIST_QUICKLIST: 14,
  STREAM_LISTPACKS: 15,
  HASH_LISTPACK: 16,
  ZSET_LISTPACK: 17,
  LIST_QUICKLIST_2: 18,
  STREAM_LISTPACKS_2: 19,
  SET_LISTPACK: 20,
  STREAM_LISTPACKS_3: 21,
} as const;

export const OPCODE = {
  SLOT_INFO: 244,
  FUNCTION_2: 245,
  FUNCTION: 246,
  MODULE_AUX: 247,
  IDLE: 248,
  FREQ: 249,
  AUX: 250,
  RESIZE_DB: 251,
  EXPIRE_MS: 252,
  EXPIRE: 253,
  SELECT_DB: 254,
  EOF: 255,
} as const;

/** Below this an opcode is the type of a value. */
export const FIRST_OPCODE = 200;

// How a list's node is kept.
export const NODE_PLAIN = 1;
export const NODE_PACKED = 2;

const LABELS: Readonly<Record<number, string>> = {
  0: "string",
  1: "list",
  2: "set",
  3: "zset (scores as text)",
  4: "hash",
  5: "zset",
  6: "module value of a pre-release",
  7: "module value",
  9: "hash (zipmap)",
  10: "list (ziplist)",
  11: "set (intset)",
  12: "zset (ziplist)",
  13: "hash (ziplist)",
  14: "list (quicklist of ziplists)",
  15: "stream (Redis 5)",
  16: "hash (listpack)",
  17: "zset (listpack)",
  18: "list (quicklist)",
  19: "stream (Redis 7.0)",
  20: "set (listpack)",
  21: "stream (Redis 7.2)",
  22: "hash with field times, of a pre-release or of Valkey",
  23: "hash with field times, of a pre-release or of Valkey",
  24: "hash with field times (Redis 7.4)",
  25: "hash with field times (listpack, Redis 7.4)",
};

/** A type's number and what it is called. */
export const typeLabel = (type: number): string => `${type} (${typeName(type)})`;

/** What Redis calls the part of a value that a damaged payload is found in, in its log. */
const REPORTED_AS: Readonly<Record<number, string>> = {
  9: "Zipmap",
  10: "List ziplist",
  11: "Intset",
  12: "Zset ziplist",
  13: "Hash ziplist",
  14: "Quicklist ziplist",
  15: "Stream listpack",
  16: "Hash listpack",
  17: "Zset listpack",
  18: "Quicklist listpack",
  19: "Stream listpack",
  20: "Set listpack",
  21: "Stream listpack",
};
export const reportedAs = (type: number): string => REPORTED_AS[type] ?? "Value";

/** Whether values of this type can be read. Modules' are read by nobody but the module. */
export function isReadable(type: number): boolean {
  return type <= RDB.ZSET_2 || (type >= RDB.HASH_ZIPMAP && type <= RDB.STREAM_LISTPACKS_3);
}

/** A type's name alone. */
export function typeName(type: number): string {
  return LABELS[type] ?? "unknown";
}

const MODULE_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** The name of a module's type: nine characters of six bits each, above ten bits of version. */
export function moduleName(id: number | bigint): string {
  let rest = BigInt(id) >> 10n;
  let name = "";
  for (let i = 0; i < 9; i++) {
    name = MODULE_CHARS.charAt(Number(rest & 63n)) + name;
    rest >>= 6n;
  }
  return name;
}
