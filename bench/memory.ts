/**
 * What data costs, on both servers, loaded through the same socket path: the resident size of the whole process with so many keys,
 * as `ps` shows it, and what each further key adds. The two differ by what a process takes before its first key. Collections of a
 * million and of ten million elements, too. Nothing is purged: a server has two seconds to settle.
 */
import { connect } from "node:net";
import { type BenchServer, startServer } from "./servers.ts";

export interface MemoryRow {
  readonly what: string;
  readonly count: number;
  /** Bytes of the process. */
  readonly ours: number;
  readonly redis: number;
  /** Bytes that each of the last three quarters added. */
  readonly ourSlope: number;
  readonly redisSlope: number;
}

type Command = string[];

const word = (i: number, length: number) => `${i.toString(36)}-`.padEnd(length, "abcdefghijklmnopqrstuvwxyz0123456789");
const key = (i: number) => `key:${String(i).padStart(12, "0")}`;

interface Kind {
  readonly what: string;
  /** How many keys or elements a command adds; one by default. */
  readonly batch?: number;
  /** How many lines its reply has; one by default. */
  readonly lines?: number;
  readonly command: (i: number) => Command;
}

/** Ten elements each, of 16 to 32 bytes. */
const KINDS: readonly Kind[] = [
  { what: "string, 16-byte key, 32-byte value", command: (i) => ["SET", key(i), word(i, 32)] },
  { what: "string, an integer", command: (i) => ["SET", key(i), String(i)] },
  {
    what: "hash, 10 fields of 32 bytes",
    command: (i) => ["HSET", key(i), ...ten((j) => [`field-${j}`, word(i * 10 + j, 32)])],
  },
  {
    what: "list, 10 words of 32 bytes",
    command: (i) => ["RPUSH", key(i), ...ten((j) => [word(i * 10 + j, 32)])],
  },
  {
    what: "set, 10 words of 16 bytes",
    command: (i) => ["SADD", key(i), ...ten((j) => [word(i * 10 + j, 16)])],
  },
  { what: "set, 10 integers", command: (i) => ["SADD", key(i), ...ten((j) => [String(i * 10 + j)])] },
  {
    what: "sorted set, 10 members of 16 bytes",
    command: (i) => ["ZADD", key(i), ...ten((j) => [String(i + j * 1.5), word(i * 10 + j, 16)])],
  },
];

/** Elements come so many in a command. */
const BATCH = 50;
const batch = (make: (i: number) => string[]) => (at: number) =>
  Array.from({ length: BATCH }, (_, j) => make(at * BATCH + j)).flat();
const hashed = batch((i) => [`field:${i}`, word(i, 32)]);
const members = batch((i) => [word(i, 16)]);
const scored = batch((i) => [String((i * 7_919) % 10_000_019), word(i, 16)]);
const pushed = batch((i) => [word(i, 32)]);

const COLLECTIONS: readonly Kind[] = [
  { what: "one hash, values of 32 bytes", batch: BATCH, command: (i) => ["HSET", "hash", ...hashed(i)] },
  { what: "one set, members of 16 bytes", batch: BATCH, command: (i) => ["SADD", "set", ...members(i)] },
  { what: "one sorted set, members of 16 bytes", batch: BATCH, command: (i) => ["ZADD", "zset", ...scored(i)] },
  { what: "one list, words of 32 bytes", batch: BATCH, command: (i) => ["RPUSH", "list", ...pushed(i)] },
  {
    what: "one stream, entries with two fields",
    lines: 2,
    command: (i) => ["XADD", "stream", `${i + 1}-1`, "name", word(i, 16), "size", String(i)],
  },
];

function ten(make: (j: number) => string[]): string[] {
  return Array.from({ length: 10 }, (_, j) => make(j)).flat();
}

function encode(command: Command): string {
  let text = `*${command.length}\r\n`;
  for (const part of command) text += `$${part.length}\r\n${part}\r\n`;
  return text;
}

/** Sends the commands of a range, and waits until each is answered. */
function load(port: number, { command, lines = 1 }: Kind, from: number, to: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answered = 0;
    let sent = from;
    const send = () => {
      while (sent < to && sent - from - answered / lines < 5000) {
        let text = "";
        for (let i = 0; i < 500 && sent < to; i++) text += encode(command(sent++));
        socket.write(text, "latin1");
      }
    };
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      for (const byte of chunk) if (byte === 10) answered++;
      if (answered >= (to - from) * lines) {
        socket.end();
        resolve();
      } else send();
    });
    send();
  });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const SETTLE_MS = 2_000;

/** The resident size with a quarter of it, and with all of it. */
async function residentBytes(name: BenchServer["name"], kind: Kind, commands: number) {
  const server = await startServer(name);
  const first = Math.round(commands / 4);
  await load(server.port, kind, 0, first);
  await pause(SETTLE_MS);
  const before = server.rssBytes();
  await load(server.port, kind, first, commands);
  await pause(SETTLE_MS);
  const after = server.rssBytes();
  await server.stop();
  return { before, after };
}

async function compared(kind: Kind, count: number): Promise<MemoryRow> {
  const commands = Math.round(count / (kind.batch ?? 1));
  const ours = await residentBytes("cinnabar", kind, commands);
  const redis = await residentBytes("redis", kind, commands);
  process.stderr.write(".");
  const slope = ({ before, after }: typeof ours) => (after - before) / (count * 0.75);
  return {
    what: kind.what,
    count,
    ours: ours.after,
    redis: redis.after,
    ourSlope: slope(ours),
    redisSlope: slope(redis),
  };
}

export async function compareMemory(scale: number): Promise<MemoryRow[]> {
  const rows: MemoryRow[] = [];
  const sizes = [
    [KINDS, 100_000],
    [KINDS, 1_000_000],
    [COLLECTIONS, 1_000_000],
    [COLLECTIONS, 10_000_000],
  ] as const;
  for (const [kinds, count] of sizes) {
    for (const kind of kinds) rows.push(await compared(kind, count * scale));
  }
  process.stderr.write("\n");
  return rows;
}

const round = (value: number) => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");

export function memoryTable(rows: readonly MemoryRow[]): string {
  const megabytes = (bytes: number) => round(bytes / 2 ** 20);
  return [
    "**Memory**: the resident size of the whole process, and what each further key or element adds",
    "",
    "| data | how many | cinnabar, MB | redis, MB | ratio | cinnabar, bytes each | redis | ratio |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ...rows.map(({ what, count, ours, redis, ourSlope, redisSlope }) => {
      const whole = `${megabytes(ours)} | ${megabytes(redis)} | ${(ours / redis).toFixed(2)}`;
      const each = `${round(ourSlope)} | ${round(redisSlope)} | ${(ourSlope / redisSlope).toFixed(2)}`;
      return `| ${what} | ${round(count)} | ${whole} | ${each} |`;
    }),
  ].join("\n");
}
