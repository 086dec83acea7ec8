/** cinnabar-check-rdb as a program: what it prints, and how it ends. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ManualClock } from "../core/clock.ts";
import { Engine } from "../core/engine.ts";
import { saveRdb } from "../persist/rdb/file.ts";
import { HashValue } from "../types/hash/index.ts";

const program = fileURLToPath(new URL("../../dist/bin/cinnabar-check-rdb.js", import.meta.url));
let folder: string;
let file: string;

function check(...args: string[]): { status: number | null; lines: string[]; errors: string } {
  const run = spawnSync(process.execPath, [program, ...args], {
    encoding: "utf8",
  });
  return { status: run.status, lines: run.stdout.split("\n").slice(0, -1), errors: run.stderr };
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "cinnabar-check-rdb-"));
  file = join(folder, "dump.rdb");
  const engine = new Engine({ clock: new ManualClock() });
  const hash = new HashValue();
  hash.set("f", "v", engine.limits);
  const [first, , third] = engine.databases;
  first!.put("word", "hello", { deadline: 1000 });
  first!.put("hash", hash);
  third!.put("number", 5);
  saveRdb(engine, file);
  engine.stop();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a sound file", () => {
  const { status, lines } = check(file);
  expect(status).toBe(0);
  const size = readFileSync(file).length;
  expect(lines[0]).toBe(`[offset 0] Checking RDB file ${file}`);
  expect(lines[1]).toBe("[offset 9] RDB version 10");
  expect(lines[2]).toBe('[offset 27] AUX FIELD redis-ver = "7.0.15"');
  expect(lines.slice(-8)).toEqual([
    expect.stringMatching(/Selecting DB ID 2$/),
    `[offset ${size}] Checksum OK`,
    `[offset ${size}] \\o/ RDB looks OK! \\o/`,
    expect.stringMatching(/^\[info\] db0: 2 keys, 1 with expiry \(1 [a-z ()]+, 1 [a-z ()]+\)$/),
    "[info] db2: 1 keys, 0 with expiry (1 string)",
    "[info] 3 keys read",
    "[info] 1 expires",
    "[info] 1 already expired",
  ]);
});

test("a file that was cut", () => {
  const cut = join(folder, "cut.rdb");
  const bytes = readFileSync(file);
  writeFileSync(cut, bytes.subarray(0, bytes.length - 12));
  const { status, lines } = check(cut);
  expect(status).toBe(1);
  expect(lines).toContain("--- RDB ERROR DETECTED ---");
  expect(lines).toContain(`[offset ${bytes.length - 12}] the file ends too early (truncated)`);
  expect(lines.at(-1)).toMatch(/^\[info\] \d already expired$/);
});

test("a file that was changed", () => {
  const changed = join(folder, "changed.rdb");
  const bytes = readFileSync(file);
  bytes[bytes.indexOf("hello")] = 0x6a;
  writeFileSync(changed, bytes);
  const { status, lines } = check(changed);
  expect(status).toBe(1);
  expect(lines.some((line) => line.startsWith(`[offset ${bytes.length - 8}] the checksum is wrong`))).toBe(true);
});

test("no file, and no name", () => {
  expect(check(join(folder, "none")).errors).toContain("Cannot read");
  expect(check(join(folder, "none")).status).toBe(1);
  expect(check()).toMatchObject({ status: 1, errors: expect.stringContaining("Usage: cinnabar-check-rdb") });
  expect(check("--help")).toMatchObject({ status: 0 });
});
