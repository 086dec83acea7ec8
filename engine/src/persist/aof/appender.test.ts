/** What counts as being on disk while files are replaced, with syncs that end when the test says so. */
import { mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FOR_ALL } from "../../core/propagation.ts";
import { Appender } from "./appender.ts";

type Done = (error: NodeJS.ErrnoException | null) => void;
const syncs: Done[] = [];
/** What a sync takes that is waited for, and how many there were. */
let syncMs = 0;
let waitedFor = 0;

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const fdatasyncSync = (): void => {
    nowMs += syncMs;
    waitedFor++;
  };
  return { ...fs, fdatasyncSync, fdatasync: (_descriptor: number, done: Done) => syncs.push(done) };
});

let folder: string;
let nowMs = 0;
let appender: Appender;
let values: { appendfsync: string };
let told: number[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cinnabar-appender-"));
  syncs.length = 0;
  nowMs = 10_000;
  syncMs = 0;
  waitedFor = 0;
  const config = { appendfsync: "everysec", "aof-timestamp-enabled": false, "no-appendfsync-on-rewrite": false };
  values = config;
  const host = { clock: { monotonic: () => nowMs }, config: { values: config }, log: () => {}, now: 0, snapshot: null };
  appender = new Appender(host as never);
  told = [];
  appender.onSynced = () => told.push(appender.syncedBytes);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string): number => openSync(join(folder, name), "a");

/** Writes something, and begins to sync it. */
function write(): number {
  appender.append([{ db: 0, argv: ["SET", "k", "v"], audience: FOR_ALL }], "unit");
  nowMs += 2_000;
  appender.poke();
  return appender.writtenBytes;
}

test("a sync counts when it is over", () => {
  appender.use(file("1"));
  const written = write();
  expect(appender.syncedBytes).toBe(0);
  syncs.shift()!(null);
  expect(told).toEqual([written]);
});

test("a sync that is over before the last one of an older file counts when that is over, too", () => {
  appender.use(file("1"));
  write();
  syncs.shift()!(null);
  appender.use(file("2"));
  const retired = syncs.shift()!;
  const written = write();
  syncs.shift()!(null);
  expect(appender.syncedBytes).toBeLessThan(written);
  retired(null);
  expect(appender.syncedBytes).toBe(written);
  expect(told.at(-1)).toBe(written);
});

test("what was synced behind a failed sync counts when everything has been rewritten", () => {
  appender.use(file("1"));
  write();
  appender.use(file("2"));
  const [own, retired] = syncs.splice(0) as [Done, Done];
  own(null);
  retired(Object.assign(new Error("EIO"), { code: "EIO" }));
  const written = write();
  syncs.shift()!(null);
  expect(appender.syncedBytes).toBe(0);
  appender.rewritten();
  expect(appender.syncedBytes).toBe(written);
  expect(told).toEqual([written]);
});

/** Which of so many syncs were waited for: "w", or went to the background: "b". */
function kinds(count: number): string {
  let kinds = "";
  for (let i = 0; i < count; i++) {
    const before = waitedFor;
    const written = write();
    kinds += waitedFor > before ? "w" : "b";
    syncs.shift()?.(null);
    expect(appender.syncedBytes).toBe(written);
    expect(appender.holdsReplies).toBe(false);
  }
  return kinds;
}

test("with always, syncs of a quick disk are waited for", () => {
  values.appendfsync = "always";
  appender.use(file("1"));
  syncMs = 0.2;
  expect(kinds(20)).toBe("w".repeat(20));
});

test("with always, syncs of a slow disk go to the background, and are tried again ever more rarely", () => {
  values.appendfsync = "always";
  appender.use(file("1"));
  syncMs = 5;
  expect(kinds(5)).toBe("wbbbb");
  expect(kinds(9)).toBe("wbbbbbbbb");
  expect(kinds(17)).toBe(`w${"b".repeat(16)}`);
  for (let more = 32; more <= 4096; more *= 2) expect(kinds(more + 1)).toBe(`w${"b".repeat(more)}`);
  expect(kinds(4097)).toBe(`w${"b".repeat(4096)}`);
  // It has become a quick one; a single slow sync later sends few away.
  syncMs = 0.1;
  expect(kinds(3)).toBe("www");
  syncMs = 5;
  expect(kinds(1)).toBe("w");
  syncMs = 0.1;
  expect(kinds(6)).toBe("bbbbww");
});
