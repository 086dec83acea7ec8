/** What a key costs: growth of the resident set for many equal keys, on both servers, loaded through the same socket path. */
import { connect } from "node:net";
import { type BenchServer, startServer } from "./servers.ts";

export interface MemoryRow {
  readonly what: string;
  readonly keys: number;
  readonly ours: number;
  readonly redis: number;
  readonly ratio: number;
}

type Command = string[];

const word = (i: number, length: number) => `${i.toString(36)}-`.padEnd(length, "abcdefghijklmnopqrstuvwxyz0123456789");
const key = (i: number) => `key:${String(i).padStart(12, "0")}`;

/** Ten elements each, of 16 to 32 bytes. */
const KINDS: { what: string; keys: number; command: (i: number) => Command }[] = [
  { what: "string, 16-byte key, 32-byte value", keys: 1_000_000, command: (i) => ["SET", key(i), word(i, 32)] },
  { what: "string, an integer", keys: 1_000_000, command: (i) => ["SET", key(i), String(i)] },
  {
    what: "hash, 10 fields of 32 bytes",
    keys: 1_000_000,
    command: (i) => ["HSET", key(i), ...ten((j) => [`field-${j}`, word(i + j, 32)])],
  },
  {
    what: "list, 10 words of 32 bytes",
    keys: 1_000_000,
    command: (i) => ["RPUSH", key(i), ...ten((j) => [word(i + j, 32)])],
  },
  {
    what: "set, 10 words of 16 bytes",
    keys: 1_000_000,
    command: (i) => ["SADD", key(i), ...ten((j) => [word(i * 10 + j, 16)])],
  },
  { what: "set, 10 integers", keys: 1_000_000, command: (i) => ["SADD", key(i), ...ten((j) => [String(i * 10 + j)])] },
  {
    what: "sorted set, 10 members of 16 bytes",
    keys: 1_000_000,
    command: (i) => ["ZADD", key(i), ...ten((j) => [String(i + j * 1.5), word(i * 10 + j, 16)])],
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

/** Sends commands and waits until each is answered. Replies are `+OK` or an integer: one line each. */
function load(port: number, count: number, command: (i: number) => Command): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answered = 0;
    let sent = 0;
    const send = () => {
      while (sent < count && sent - answered < 5000) {
        let text = "";
        for (let i = 0; i < 500 && sent < count; i++) text += encode(command(sent++));
        socket.write(text, "latin1");
      }
    };
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      for (const byte of chunk) if (byte === 10) answered++;
      if (answered >= count) {
        socket.end();
        resolve();
      } else send();
    });
    send();
  });
}

function call(port: number, command: Command): Promise<void> {
  return load(port, 1, () => command);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Loads a part of the keys, asks for memory to be given back, and tells the resident set. */
async function settledBytes(
  server: BenchServer,
  from: number,
  to: number,
  command: (i: number) => Command,
): Promise<number> {
  await load(server.port, to - from, (i) => command(from + i));
  for (let round = 0; round < 2; round++) {
    await call(server.port, ["MEMORY", "PURGE"]);
    await pause(500);
  }
  return server.rssBytes();
}

/** The growth between a quarter and five quarters of the keys: what a process takes once is not what a key costs. */
async function bytesPerKey(name: BenchServer["name"], kind: (typeof KINDS)[number], scale: number): Promise<number> {
  const server = await startServer(name);
  const keys = Math.round(kind.keys * scale);
  const first = Math.round(keys / 4);
  const before = await settledBytes(server, 0, first, kind.command);
  const after = await settledBytes(server, first, first + keys, kind.command);
  await server.stop();
  return (after - before) / keys;
}

export async function compareMemory(scale: number): Promise<MemoryRow[]> {
  const rows: MemoryRow[] = [];
  for (const kind of KINDS) {
    const redis = await bytesPerKey("redis", kind, scale);
    const ours = await bytesPerKey("cinnabar", kind, scale);
    rows.push({ what: kind.what, keys: Math.round(kind.keys * scale), ours, redis, ratio: ours / redis });
    process.stderr.write(".");
  }
  process.stderr.write("\n");
  return rows;
}
