/** What stands for `<…>` in commands.ts: keys that collide, values at the edges of encodings, numbers at the edges of int64. */
import type { Prng } from "./prng.ts";

export interface Making {
  readonly rng: Prng;
  /** Many are being made: take them from a wide range, so that they differ. */
  bulk: boolean;
  /** Grows with every stream entry, so that most ids are new ones. */
  streamId: number;
}

type Maker = (making: Making) => string | string[];

const KINDS = ["str", "bit", "list", "set", "hash", "zset", "stream", "hll", "geo"];
const PER_KIND = 3;

/** Mostly a key of the kind that the command is for; sometimes one of another. */
const keyOf =
  (kind: string): Maker =>
  ({ rng }) =>
    `${rng.chance(0.95) ? kind : rng.pick(KINDS)}${rng.between(1, PER_KIND)}`;

const anyKey: Maker = ({ rng }) => (rng.chance(0.95) ? `${rng.pick(KINDS)}${rng.between(1, PER_KIND)}` : "nokey");

/** As many keys as the number before them says. */
const counted =
  (kind: string): Maker =>
  (making) => {
    const many = making.rng.between(1, 3);
    const keys = Array.from({ length: many }, () => keyOf(kind)(making) as string);
    return [String(many), ...keys];
  };

const LENGTHS = [12, 20, 21, 43, 44, 45, 63, 64, 65, 127, 128, 129, 200, 253, 254, 255, 511, 512, 513];
const ODD = [
  "",
  " ",
  "\x00",
  "\xff\xfe",
  "a\r\nb",
  "\x00\x01\x02",
  "héllo",
  "007",
  "-0",
  "+1",
  " 1",
  "1.0",
  "1e3",
  "0x1f",
];
const INTS = [
  "127",
  "128",
  "-128",
  "-129",
  "32767",
  "32768",
  "-32769",
  "2147483647",
  "2147483648",
  "-2147483649",
  "4095",
  "4096",
];
const EDGES = [
  "9223372036854775807",
  "-9223372036854775808",
  "9223372036854775806",
  "9007199254740993",
  "-9007199254740992",
];
// No subnormal number: reading one leaves C's errno set, and a SORT that has to read scores first then fails in Redis.
const FLOATS = [
  "0",
  "1",
  "-1",
  "1.5",
  "-2.25",
  "3.14159",
  "0.1",
  "1e3",
  "1e-5",
  "100",
  "2.2250738585072014e-308",
  "1.7976931348623157e308",
];
const ALPHABET = "abcdefgxyz0123456789";

function filler(rng: Prng, length: number): string {
  return rng.pick([...ALPHABET]).repeat(length);
}

const value: Maker = ({ rng, bulk }) => {
  if (bulk) return rng.chance(0.5) ? `value-${rng.below(5000)}` : String(rng.below(100_000));
  const roll = rng.below(100);
  if (roll < 30) return String(rng.between(-20, 1000));
  if (roll < 65) return `${rng.pick(["red", "green", "blue", "apple", "value", "x"])}${rng.below(10)}`;
  if (roll < 75) return rng.pick(ODD);
  if (roll < 82) return rng.pick(INTS);
  if (roll < 85) return rng.pick(EDGES);
  if (roll < 90) return rng.pick(FLOATS);
  return filler(rng, rng.pick(LENGTHS));
};

const member: Maker = ({ rng, bulk }) => {
  if (bulk) return `m${rng.below(3000)}`;
  const roll = rng.below(100);
  if (roll < 70) return `m${rng.below(20)}`;
  if (roll < 88) return String(rng.between(-5, 20));
  if (roll < 94) return rng.pick(ODD);
  return filler(rng, rng.pick(LENGTHS));
};

/** For sets: now all integers, now not, so that intsets live long enough to grow. */
const intMember: Maker = ({ rng, bulk }) =>
  bulk ? String(rng.below(5000)) : rng.chance(0.8) ? String(rng.between(-40, 40)) : rng.pick(INTS);

const integer: Maker = ({ rng }) => {
  const roll = rng.below(100);
  if (roll < 88) return String(rng.between(-10, 20));
  if (roll < 95) return rng.pick(INTS);
  return rng.pick(EDGES);
};

const float: Maker = ({ rng }) => {
  const roll = rng.below(100);
  if (roll < 60) return String(rng.between(-10, 20));
  if (roll < 90) return (rng.between(-1000, 1000) / rng.pick([2, 4, 8, 10, 100])).toString();
  if (roll < 98) return rng.pick(FLOATS);
  return rng.pick(["inf", "-inf", "+inf", "1e400", "-1e400", "nan"]);
};

const scoreBound: Maker = (making) => {
  const { rng } = making;
  if (rng.chance(0.15)) return "-inf";
  if (rng.chance(0.15)) return "+inf";
  const number = String(rng.chance(0.8) ? rng.between(-10, 20) : (float(making) as string));
  return rng.chance(0.25) ? `(${number}` : number;
};

const lexBound: Maker = (making) => {
  const { rng } = making;
  if (rng.chance(0.15)) return "-";
  if (rng.chance(0.15)) return "+";
  return `${rng.pick(["[", "("])}${member(making)}`;
};

const index: Maker = ({ rng }) => String(rng.chance(0.95) ? rng.between(-8, 8) : rng.between(-1000, 1000));
const small: Maker = ({ rng }) => String(rng.below(6));
const positive: Maker = ({ rng }) => String(rng.between(1, 6));

/** Far enough that nothing runs out while the comparison does. */
const seconds: Maker = ({ rng }) => String(rng.between(100_000, 1_000_000));
const milliseconds: Maker = ({ rng }) => String(rng.between(100_000_000, 1_000_000_000));
/** 2100, or long ago. */
const unixSeconds: Maker = ({ rng }) =>
  String(rng.chance(0.9) ? 4_102_444_800 + rng.below(1000) : rng.between(1, 1000));
const unixMs: Maker = ({ rng }) => String(rng.chance(0.9) ? 4_102_444_800_000 + rng.below(1000) : rng.between(1, 1000));

const PATTERNS = [
  "*",
  "m*",
  "m1?",
  "*1",
  "[a-m]*",
  "[^m]*",
  "str*",
  "*[12]",
  "h?ll*",
  "\\m*",
  "nothing",
  "list?",
  "*a*b*",
  "",
];

const newStreamId: Maker = (making) => {
  making.streamId += making.rng.below(3);
  return `${making.streamId}-${making.rng.pick(["0", "1", "2", "*", "*", "*"])}`;
};
const streamId: Maker = (making) => {
  const { rng } = making;
  const at = Math.max(0, making.streamId - rng.below(12));
  return rng.chance(0.2) ? String(at) : `${at}-${rng.below(3)}`;
};
const rangeId =
  (open: string): Maker =>
  (making) => {
    const { rng } = making;
    if (rng.chance(0.4)) return open;
    return `${rng.chance(0.15) ? "(" : ""}${streamId(making)}`;
  };
/** `STREAMS key key id id`, with the id that a reader would send. */
const streams =
  (ids: readonly string[]): Maker =>
  (making) => {
    const many = making.rng.between(1, 2);
    const keys = Array.from({ length: many }, () => keyOf("stream")(making) as string);
    const from = keys.map(() => (making.rng.chance(0.6) ? making.rng.pick(ids) : (streamId(making) as string)));
    return [...keys, ...from];
  };

const PLACES = [
  "2.35 48.85",
  "13.4 52.52",
  "-0.13 51.5",
  "12.5 41.9",
  "-74 40.7",
  "139.7 35.7",
  "151.2 -33.9",
  "2.36 48.86",
];
const place: Maker = ({ rng }) => {
  if (rng.chance(0.75)) return rng.pick(PLACES).split(" ");
  return [(rng.between(-180_000, 180_000) / 1000).toString(), (rng.between(-85_000, 85_000) / 1000).toString()];
};

/** WEIGHTS must be as many as the keys: this makes both. */
const weightedKeys: Maker = (making) => {
  const [many, ...keys] = counted(making.rng.chance(0.8) ? "zset" : "set")(making) as string[];
  const words = [many!, ...keys];
  if (making.rng.chance(0.4)) words.push("WEIGHTS", ...keys.map(() => float(making) as string));
  if (making.rng.chance(0.4)) words.push("AGGREGATE", making.rng.pick(["SUM", "MIN", "MAX"]));
  return words;
};

const bitType: Maker = ({ rng }) => `${rng.pick(["u", "i"])}${rng.pick([1, 2, 4, 5, 8, 8, 8, 13, 16, 31, 32, 33, 63])}`;
const bitOffset: Maker = ({ rng }) =>
  rng.chance(0.3) ? `#${rng.below(10)}` : String(rng.below(rng.chance(0.9) ? 64 : 2000));

export const makers: Record<string, Maker> = {
  key: anyKey,
  ...Object.fromEntries(KINDS.map((kind) => [kind, keyOf(kind)])),
  ...Object.fromEntries(KINDS.map((kind) => [`counted:${kind}`, counted(kind)])),
  weighted: weightedKeys,
  value,
  member,
  intMember,
  field: ({ rng, bulk }) => (bulk ? `f${rng.below(2000)}` : rng.chance(0.95) ? `f${rng.below(12)}` : rng.pick(ODD)),
  int: integer,
  float,
  min: scoreBound,
  max: scoreBound,
  lexset: ({ rng }) => `lexset${rng.between(1, 2)}`,
  lex: lexBound,
  index,
  small,
  positive,
  secs: seconds,
  ms: milliseconds,
  future: ({ rng }) => String(4_102_444_800 + rng.below(1000)),
  futureMs: ({ rng }) => String(4_102_444_800_000 + rng.below(1000)),
  at: unixSeconds,
  atMs: unixMs,
  pattern: ({ rng }) => rng.pick(PATTERNS),
  db: ({ rng }) => String(rng.chance(0.97) ? rng.below(3) : rng.between(0, 20)),
  bit: keyOf("bit"),
  zeroOne: ({ rng }) => String(rng.below(2)),
  offset: ({ rng }) => String(rng.below(rng.chance(0.9) ? 100 : 3000)),
  bitType,
  bitOffset,
  newId: newStreamId,
  id: streamId,
  from: rangeId("-"),
  to: rangeId("+"),
  readIds: streams(["0", "0-0", "$"]),
  groupIds: streams([">", ">", ">", "0"]),
  group: ({ rng }) => (rng.chance(0.97) ? rng.pick(["g1", "g2"]) : "g3"),
  consumer: ({ rng }) => rng.pick(["alice", "bob", "carol"]),
  place,
  town: ({ rng }) => `town${rng.below(12)}`,
  unit: ({ rng }) => rng.pick(["m", "km", "ft", "mi", "KM"]),
  radius: ({ rng }) => String(rng.pick([0, 1, 10, 200, 1000, 5000, 20_000])),
  channel: ({ rng }) => `ch${rng.below(3)}`,
  name: ({ rng }) => `name${rng.below(3)}`,
};

/** Words that break things, or nearly: they replace a word of a good command. None makes a server allocate much. */
export const BAD_WORDS = [
  "",
  "abc",
  "0",
  "-1",
  "1.5",
  " 1",
  "1 ",
  "+5",
  "-0",
  "01",
  "0x10",
  "nan",
  "inf",
  "-inf",
  "1e400",
  "1e5",
  "9223372036854775807",
  "9223372036854775808",
  "-9223372036854775808",
  "-9223372036854775809",
  "18446744073709551615",
  "18446744073709551616",
  "99999999999999999999999999999999",
  "1-1-1",
  "(",
  "[",
  "\x00\xff",
  "*",
  "$",
  ">",
  "NX",
  "XX",
  "GT",
  "COUNT",
  "LIMIT",
  "WITHSCORES",
];
