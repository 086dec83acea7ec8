/** A snapshot is a point in time, whatever is done to the keys while it is taken. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { dataCommands } from "../../tests/conformance/rdb/data.ts";
import { type Clock, ManualClock, systemClock } from "../core/clock.ts";
import { EmbeddedEngine } from "../embed/embedded.ts";
import { digestOfAll } from "../observe/debug-digest.ts";
import { loadRdbSync, RdbLoader } from "./rdb/file.ts";
import { type SnapshotSink, walk } from "./snapshot.ts";

const open: EmbeddedEngine[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const engine of open.splice(0)) await engine.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function engine(config: Record<string, string> = {}, clock: Clock = systemClock): Promise<EmbeddedEngine> {
  const one = await EmbeddedEngine.open({ config: { "enable-debug-command": "yes", save: "", ...config }, clock });
  open.push(one);
  return one;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "cinnabar-snapshot-"));
  folders.push(path);
  return path;
}

/** Takes everything, and is full now and then. */
class Chunks implements SnapshotSink {
  readonly chunks: Buffer[] = [];
  pendingBytes = 0;

  write(chunk: Buffer): void {
    this.chunks.push(chunk);
    if (this.chunks.length % 3 === 0) this.pendingBytes = 1e9;
  }

  async drained(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.pendingBytes = 0;
  }
}

/** A little generator, so that a failing seed can be run again. */
function dice(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
}

const KINDS = [
  [
    "string",
    (k: string, r: string) => [
      ["SET", k, r],
      ["APPEND", k, r],
      ["SETRANGE", k, "3", r],
      ["SETBIT", k, "77", "1"],
    ],
  ],
  [
    "list",
    (k: string, r: string) => [
      ["RPUSH", k, r],
      ["LPOP", k],
      ["LTRIM", k, "0", "2"],
    ],
  ],
  [
    "hash",
    (k: string, r: string) => [
      ["HSET", k, r, r],
      ["HDEL", k, r],
    ],
  ],
  [
    "set",
    (k: string, r: string) => [
      ["SADD", k, r],
      ["SPOP", k],
    ],
  ],
  [
    "zset",
    (k: string, r: string) => [
      ["ZADD", k, "1", r],
      ["ZPOPMIN", k],
    ],
  ],
  [
    "stream",
    (k: string, r: string) => [
      ["XADD", k, "*", "f", r],
      ["XTRIM", k, "MAXLEN", "3"],
      ["XGROUP", "CREATE", k, r, "0"],
    ],
  ],
] as const;

test.each([1, 2, 3, 4])("changes during the walk do not show in it (seed %i)", async (seed) => {
  const { core } = await engine();
  const [source] = open;
  const client = source!.connect();
  const roll = dice(seed);
  const key = () => {
    const [kind] = KINDS[roll(KINDS.length)]!;
    return `${kind}:${roll(4000)}`;
  };
  const call = (words: readonly string[]) => client.call(...words).catch(() => undefined);
  const change = () => {
    const kind = KINDS[roll(KINDS.length)]!;
    const name = `${kind[0]}:${roll(4000)}`;
    const choices = kind[1](name, `r${roll(50)}`);
    return call(choices[roll(choices.length)]!);
  };
  for (let i = 0; i < 30_000; i++) await change();
  await call(["SELECT", "3"]);
  for (let i = 0; i < 3000; i++) await change();
  for (let i = 0; i < 500; i++) await call(["PEXPIRE", key(), "1000000"]);
  await call(["SELECT", "0"]);
  const many = Array.from({ length: 3000 }, (_, i) => String(i));
  for (let i = 0; i < 8; i++) {
    await call(["SADD", `set:${i}`, "word", ...many]);
    await call(["HSET", `hash:${i}`, ...many]);
    await call(["ZADD", `zset:${i}`, ...many]);
  }
  const before = digestOfAll(core.databases);
  const total = core.databases.reduce((sum, db) => sum + db.size, 0);

  const sink = new Chunks();
  // Some collections count as large: they are put off, written in pieces, and changed before and meanwhile.
  const snapshot = walk(core, sink, { large: 3, leastBytes: 0 });
  let over = false;
  void snapshot.done.then(() => {
    over = true;
  });
  let changes = 0;
  const others = [
    () => call(["DEL", key()]),
    () => call(["RENAME", key(), key()]),
    () => call(["COPY", key(), key(), "REPLACE"]),
    () => call(["MOVE", key(), "0"]),
    () => call(["PEXPIRE", key(), "5"]),
    () => call(["PERSIST", key()]),
    () => call(["SELECT", roll(2) === 0 ? "0" : "3"]),
  ];
  for (; !over; changes++) {
    for (let i = 0; i < 15; i++) {
      await change();
      if (roll(4) === 0) await others[roll(others.length)]!();
    }
    if (changes % 7 === 0) await call(["HSET", `hash:${changes % 8}`, "f", "changed"]);
    if (changes % 11 === 0) await call(["ZADD", `zset:${changes % 8}`, "1", "changed"]);
    if (changes === 10) await call(["SWAPDB", "0", "3"]);
    if (changes === 20) await call(["FLUSHDB"]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const bytes = await snapshot.done;
  expect(core.snapshot).toBeNull();
  expect(snapshot.keysWrittenEarly).toBeGreaterThan(20);
  expect(snapshot.keysProcessed).toBe(total);

  const { core: copy } = await engine();
  const loader = new RdbLoader(copy, { keepExpired: true });
  for (const chunk of sink.chunks) loader.reader.feed(chunk);
  loader.reader.end();
  expect(loader.report.bytes).toBe(bytes);
  copy.loading = true;
  expect(digestOfAll(copy.databases)).toBe(before);
  copy.loading = false;
});

test("beside busy processes, a slice writes something although its time is over", async () => {
  // Time goes by between any two looks at the clock: others have the processor meanwhile.
  class Starved extends ManualClock {
    override monotonic(): number {
      this.advance(20);
      return super.monotonic();
    }
  }
  const store = await engine({ rdbcompression: "no" }, new Starved());
  const client = store.connect();
  for (let key = 0; key < 2_000; key++) client.callSync("SET", `key:${key}`, "x".repeat(1_000 + (key % 7)));
  let turns = 0;
  let isOver = false;
  const counted = (async () => {
    for (; !isOver; turns++) await new Promise((resolve) => setImmediate(resolve));
  })();
  const sink = new Chunks();
  await walk(store.core, sink).done.finally(() => {
    isOver = true;
  });
  await counted;
  expect(Buffer.concat(sink.chunks).length).toBeGreaterThan(2_000_000);
  expect(turns).toBeLessThan(100);
});

test("BGSAVE makes the file that SAVE makes, and says when", async () => {
  const dir = folder();
  const source = await engine({ dir });
  const client = source.connect();
  for (const command of dataCommands(1)) await client.call(...command);
  const digest = digestOfAll(source.core.databases);
  expect(await client.call("BGSAVE")).toBe("Background saving started");
  await expect(client.call("BGSAVE")).rejects.toThrow("Background save already in progress");
  await expect(client.call("SAVE")).rejects.toThrow("Background save already in progress");
  expect(await client.call("BGREWRITEAOF")).toBe("Background append only file rewriting scheduled");
  source.core.persistence.aof.rewriteScheduled = false;
  await source.core.persistence.idle();
  expect(source.core.persistence.dirty).toBe(0);
  const copy = await engine();
  loadRdbSync(copy.core, join(dir, "dump.rdb"));
  expect(digestOfAll(copy.core.databases)).toBe(digest);
});

test("FLUSHALL calls a save off, and that is no failure", async () => {
  const dir = folder();
  const source = await engine({ dir });
  const client = source.connect();
  await client.call("DEBUG", "POPULATE", "50000");
  await client.call("BGSAVE");
  await client.call("FLUSHALL");
  await source.core.persistence.idle();
  expect(String(await client.call("INFO", "persistence"))).toContain("rdb_last_bgsave_status:ok");
  expect(source.core.snapshot).toBeNull();
});

test("a save that fails makes writers hear of it, until one succeeds", async () => {
  const dir = folder();
  const source = await engine({ dir, save: "3600 1" });
  const client = source.connect();
  await client.call("SET", "a", "1");
  source.core.config.values.dir = join(dir, "missing");
  await expect(client.call("BGSAVE")).rejects.toThrow("ERR");
  await expect(client.call("SET", "a", "2")).rejects.toThrow("MISCONF Redis is configured to save RDB snapshots");
  await expect(client.call("PING")).rejects.toThrow("MISCONF");
  expect(await client.call("GET", "a")).toBe("1");
  source.core.config.values.dir = dir;
  await client.call("SAVE");
  expect(await client.call("SET", "a", "2")).toBe("OK");
  source.core.config.values.save = [];
});

test("a save that is called off when its walk is over does not take the place of a newer file", async () => {
  const dir = folder();
  const source = await EmbeddedEngine.open({ dir, config: { save: "3600 1" } });
  open.push(source);
  const client = source.connect();
  await client.call("SET", "old", "1");
  await client.call("BGSAVE");
  await source.core.snapshot!.done;
  await client.call("FLUSHALL");
  await source.core.persistence.idle();
  const copy = await engine();
  loadRdbSync(copy.core, join(dir, "dump.rdb"));
  expect(copy.core.databases[0]!.size).toBe(0);
});
