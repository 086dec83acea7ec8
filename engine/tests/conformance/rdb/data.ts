/** Data of every type and encoding, at and around every limit where the form in files changes, as commands. */
import { Prng } from "../prng.ts";

type Commands = string[][];

/** Words as data has them: numbers, names, text that compresses, bytes that do not. */
export function someWord(prng: Prng, longest = 200): string {
  switch (prng.below(8)) {
    case 0:
      return String(prng.between(-200, 200));
    case 1:
      return String(prng.between(-70_000, 70_000));
    case 2:
      return String(prng.next() * prng.pick([1, -1, 4294967296, -4294967296]));
    case 3:
      return prng.pick([
        "",
        "0",
        "-0",
        "01",
        "1.5",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
      ]);
    case 4:
      return randomBytes(prng, prng.below(longest));
    case 5:
      return `${prng.pick(["user", "session", "order"])}:${prng.below(10_000)}`;
    default:
      return text(prng, prng.below(longest));
  }
}

export function randomBytes(prng: Prng, length: number): string {
  let word = "";
  for (let i = 0; i < length; i++) word += String.fromCharCode(prng.below(256));
  return word;
}

/** Text with repetitions near and far. */
export function text(prng: Prng, length: number): string {
  const parts = ["lorem ", "ipsum", " dolor sit", "aaaaaaaaaaaaaaaaaaaaaaaa", "0123456789", '{"id":', ',"name":"', "x"];
  let word = "";
  while (word.length < length) {
    if (prng.chance(0.2) && word.length > 20) {
      const from = prng.below(word.length - 10);
      word += word.slice(from, from + prng.between(3, 300));
    } else word += prng.pick(parts) + (prng.chance(0.3) ? randomBytes(prng, prng.below(6)) : "");
  }
  return word.slice(0, length);
}

function strings(prng: Prng): Commands {
  const commands: Commands = [];
  const integers = ["0", "-1", "127", "128", "-128", "-129", "32767", "32768", "-32768", "-32769", "2147483647"];
  integers.push(
    "2147483648",
    "-2147483648",
    "-2147483649",
    "12345678901",
    "9223372036854775807",
    "-9223372036854775808",
  );
  for (const word of [...integers, "", "00", "-0", "+1", "1e5", "a"]) commands.push(["SET", `string:${word}`, word]);
  for (const length of [10, 11, 12, 19, 20, 21, 22, 43, 44, 45, 63, 64, 65, 16383, 16384, 70_000, 300_000]) {
    commands.push(["SET", `string:same:${length}`, "a".repeat(length)]);
    commands.push(["SET", `string:text:${length}`, text(prng, length)]);
    commands.push(["SET", `string:bytes:${length}`, randomBytes(prng, length)]);
  }
  for (let i = 0; i < 200; i++) commands.push(["SET", `string:any:${i}`, text(prng, prng.below(400))]);
  for (let i = 0; i < 50; i++) commands.push(["SET", someWord(prng) + i, someWord(prng)]);
  commands.push(["APPEND", "string:appended", "12"], ["APPEND", "string:appended", "34"]);
  commands.push(["SETRANGE", "string:range", "50", "end"], ["SETBIT", "string:bits", "1000", "1"]);
  commands.push(["PFADD", "string:hll", "a", "b", "c"]);
  return commands;
}

function lists(prng: Prng): Commands {
  const commands: Commands = [["RPUSH", "list:one", ""]];
  for (const [name, count, longest] of [
    ["few", 5, 40],
    ["packed", 120, 30],
    ["nodes", 2000, 60],
    ["wide", 60, 3000],
  ] as const) {
    for (let i = 0; i < count; i++) commands.push(["RPUSH", `list:${name}`, someWord(prng, longest)]);
  }
  const huge = ["x".repeat(5000), "y".repeat(9000), "small", text(prng, 70_000), "1", randomBytes(prng, 8180)];
  for (const word of huge) commands.push(["RPUSH", "list:huge", word]);
  for (let i = 0; i < 300; i++) commands.push([prng.chance(0.5) ? "LPUSH" : "RPUSH", "loose:list:ends", `w${i}`]);
  commands.push(["LTRIM", "loose:list:ends", "20", "-30"], ["LINSERT", "loose:list:ends", "BEFORE", "w150", "here"]);
  return commands;
}

function sets(prng: Prng): Commands {
  const commands: Commands = [];
  const add = (key: string, words: string[]) => commands.push(["SADD", key, ...words]);
  const numbers = (count: number, scale: number) =>
    Array.from({ length: count }, () => String(Math.floor((prng.next() / 2 ** 31 - 1) * scale)));
  add("set:int16", numbers(100, 30_000));
  add("set:int32", numbers(100, 2_000_000_000));
  add("set:int64", [...numbers(100, 2 ** 53), "9223372036854775807", "-9223372036854775808", "9007199254740993"]);
  add("set:int64:narrowed", ["1", "2", "9223372036854775807"]);
  commands.push(["SREM", "set:int64:narrowed", "9223372036854775807"]);
  add(
    "set:512",
    Array.from({ length: 512 }, (_, i) => String(i)),
  );
  add(
    "loose:set:513",
    Array.from({ length: 513 }, (_, i) => String(i)),
  );
  add(
    "loose:set:words",
    Array.from({ length: 10 }, (_, i) => `member:${i}`),
  );
  add(
    "loose:set:many",
    Array.from({ length: 3000 }, () => someWord(prng)),
  );
  add(
    "loose:set:long",
    Array.from({ length: 20 }, () => text(prng, 500)),
  );
  add("set:empty word", [""]);
  return commands;
}

function hashes(prng: Prng): Commands {
  const commands: Commands = [["HSET", "hash:empty words", "", ""]];
  const add = (key: string, count: number, longest: number) => {
    for (let i = 0; i < count; i++) commands.push(["HSET", key, someWord(prng, longest), someWord(prng, longest)]);
  };
  add("hash:few", 8, 64);
  add("hash:packed", 300, 64);
  add("loose:hash:many", 3000, 100);
  for (let i = 0; i < 512; i++) commands.push(["HSET", "hash:512", `f${i}`, String(i)]);
  for (let i = 0; i < 513; i++) commands.push(["HSET", "loose:hash:513", `f${i}`, String(i)]);
  commands.push(["HSET", "hash:64", "f", "x".repeat(64)], ["HSET", "loose:hash:65", "f", "x".repeat(65)]);
  return commands;
}

const SCORES = [
  "0",
  "-0",
  "1",
  "-1",
  "1.5",
  "0.1",
  "-3.25",
  "inf",
  "-inf",
  "1e300",
  "-1e-300",
  "5e-324",
  "4611686018427387904",
];
SCORES.push(
  "9223372036854775807",
  "4611686018427388928",
  "9007199254740993",
  "127",
  "128",
  "4095",
  "4096",
  "-4096",
  "-4097",
);
SCORES.push(
  "32767",
  "32768",
  "8388607",
  "8388608",
  "-8388608",
  "-8388609",
  "2147483647",
  "2147483648",
  "1700000000.123",
);

function zsets(prng: Prng): Commands {
  const commands: Commands = [];
  const score = () =>
    prng.chance(0.5) ? prng.pick(SCORES) : String((prng.next() - 2 ** 31) / prng.pick([1, 3, 1000]));
  const add = (key: string, count: number, longest: number) => {
    for (let i = 0; i < count; i++) commands.push(["ZADD", key, score(), someWord(prng, longest)]);
  };
  for (const [i, word] of SCORES.entries()) commands.push(["ZADD", "zset:scores", word, `m${i}`]);
  for (const [i, word] of SCORES.entries()) commands.push(["ZADD", "zset:wide scores", word, `${"m".repeat(70)}${i}`]);
  add("zset:few", 6, 60);
  add("zset:packed", 120, 60);
  add("zset:many", 1500, 80);
  for (let i = 0; i < 128; i++) commands.push(["ZADD", "zset:128", String(i), `m${i}`]);
  for (let i = 0; i < 129; i++) commands.push(["ZADD", "zset:129", String(i % 7), `m${i}`]);
  commands.push(["GEOADD", "zset:geo", "13.361389", "38.115556", "Palermo", "15.087269", "37.502669", "Catania"]);
  return commands;
}

function streams(prng: Prng): Commands {
  const commands: Commands = [["XADD", "stream:one", "1-1", "f", "v"]];
  for (let i = 1; i <= 350; i++) {
    const fields = prng.chance(0.8)
      ? ["temperature", String(i % 40), "place", `room ${i % 3}`]
      : [`f${i}`, someWord(prng)];
    commands.push(["XADD", "stream:many", `${1_700_000_000_000 + i * 10 + prng.below(10)}-${i % 3}`, ...fields]);
  }
  const huge = ["18446744073709551614-1", "18446744073709551614-18446744073709551615", "18446744073709551615-0"];
  for (const id of ["1-5", "9007199254740993-7", ...huge]) commands.push(["XADD", "stream:huge ids", id, "a", "1"]);
  commands.push(
    ["XADD", "stream:sequences", "5-100", "a", "1"],
    ["XADD", "stream:sequences", "6-1", "b", "2", "c", ""],
  );
  commands.push(["XADD", "stream:emptied", "7-7", "a", "1"], ["XDEL", "stream:emptied", "7-7"]);
  for (let i = 1; i <= 250; i++) commands.push(["XADD", "stream:holes", `${i}-0`, "n", String(i), "s", someWord(prng)]);
  for (let i = 1; i <= 120; i++) commands.push(["XDEL", "stream:holes", `${prng.between(1, 250)}-0`]);
  commands.push(["XTRIM", "stream:holes", "MAXLEN", "90"]);
  commands.push(["XGROUP", "CREATE", "stream:made", "group", "$", "MKSTREAM"]);
  for (let i = 1; i <= 60; i++) commands.push(["XADD", "timed:stream:groups", `${i}-0`, "n", String(i)]);
  commands.push(
    ["XGROUP", "CREATE", "timed:stream:groups", "g2", "0"],
    ["XGROUP", "CREATE", "timed:stream:groups", "g1", "10-0"],
  );
  for (const [group, consumer, count] of [
    ["g2", "b", "20"],
    ["g2", "a", "5"],
    ["g1", "alone", "70"],
  ] as const) {
    commands.push(["XREADGROUP", "GROUP", group, consumer, "COUNT", count, "STREAMS", "timed:stream:groups", ">"]);
  }
  commands.push(["XACK", "timed:stream:groups", "g2", "3-0", "5-0", "22-0"], ["XDEL", "timed:stream:groups", "4-0"]);
  commands.push(["XGROUP", "CREATECONSUMER", "timed:stream:groups", "g2", "idle"]);
  commands.push(["XGROUP", "SETID", "timed:stream:groups", "g1", "12-0"]);
  return commands;
}

/**
 * All of it. Keys that begin with `loose:` hold what has no determined order or cut in files, those with `timed:` what
 * depends on the clock; of all others, the bytes of DUMP are determined by these commands.
 */
export function dataCommands(seed: number): Commands {
  const prng = new Prng(seed);
  return [...strings(prng), ...lists(prng), ...sets(prng), ...hashes(prng), ...zsets(prng), ...streams(prng)];
}
