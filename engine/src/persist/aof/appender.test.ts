/** What counts as being on disk while files are replaced, with syncs that end when the test says so. */
import { mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FOR_ALL } from "../../core/propagation.ts";
import { Appender } from "./appender.ts";

type Done = (error: NodeJS.ErrnoException | null) => void;
const syncs: Done[] = [];

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  return { ...fs, fdatasync: (_descriptor: number, done: Done) => syncs.push(done) };
});

let folder: string;
let nowMs = 0;
let appender: Appender;
let told: number[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cinnabar-appender-"));
  syncs.length = 0;
  nowMs = 10_000;
  const values = { appendfsync: "everysec", "aof-timestamp-enabled": false, "no-appendfsync-on-rewrite": false };
  const host = { clock: { monotonic: () => nowMs }, config: { values }, log: () => {}, now: 0, snapshot: null };
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
