/** cinnabar-check-aof: what it says about sound and broken files, and what it cuts off. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ManualClock } from "../core/clock.ts";
import { EmbeddedEngine } from "../embed/embedded.ts";
import { checkAof } from "../persist/aof/check.ts";

let dir: string;
const part = (name: string) => join(dir, "appendonlydir", `appendonly.aof.${name}`);

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "cinnabar-check-aof-"));
  const engine = await EmbeddedEngine.open({ dir });
  const client = engine.connect();
  await client.call("SET", "a", "1");
  await client.transaction([
    ["SET", "b", "2"],
    ["SET", "c", "3"],
  ]);
  await engine.close();
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function check(path: string, fix = false, yes = true): { sound: boolean; said: string } {
  const lines: string[] = [];
  const sound = checkAof(path, { fix, print: (line) => lines.push(line), confirm: () => yes });
  return { sound, said: lines.join("\n") };
}

test("a sound file and its manifest", () => {
  expect(check(part("manifest"))).toMatchObject({ sound: true });
  expect(check(part("manifest")).said).toContain("All AOF files and manifest are valid");
  expect(check(part("1.incr.aof")).said).toContain("AOF appendonly.aof.1.incr.aof is valid");
});

test("a cut file, and what a repair drops", () => {
  const path = part("1.incr.aof");
  const whole = readFileSync(path);
  truncateSync(path, whole.length - 3);
  const start = whole.indexOf("*1\r\n$5\r\nMULTI");
  const { sound, said } = check(part("manifest"));
  expect(sound).toBe(false);
  expect(said).toContain(`ok_up_to=${start}, ok_up_to_line=13`);
  expect(said).toContain(`--fix would drop the ${whole.length - 3 - start} bytes from offset ${start} on`);
  expect(check(path, true, false).said).toContain("Aborting...");
  expect(readFileSync(path).length).toBe(whole.length - 3);
  expect(check(path, true)).toMatchObject({ sound: true });
  expect(readFileSync(path)).toEqual(whole.subarray(0, start));
  expect(check(part("manifest")).sound).toBe(true);
});

test("damage in the middle, in the base, and in the manifest", () => {
  const bytes = readFileSync(part("1.incr.aof"));
  bytes[0] = 0x78;
  writeFileSync(part("1.incr.aof"), bytes);
  expect(check(part("manifest")).said).toContain("expected a command, which begins with '*' (byte 0)");
  const base = readFileSync(part("1.base.rdb"));
  base[20]! ^= 255;
  writeFileSync(part("1.base.rdb"), base);
  expect(check(part("manifest"), true).said).toMatch(/in the RDB: .*\n.*\n.*Failed to truncate/);
  writeFileSync(part("manifest"), "file a seq 1\n");
  expect(check(part("manifest")).said).toContain("Invalid AOF manifest file format");
});

test("a file is cut at a moment, and only where it is the last", () => {
  const path = part("1.incr.aof");
  const command = (...words: string[]) =>
    `*${words.length}\r\n${words.map((w) => `$${w.length}\r\n${w}\r\n`).join("")}`;
  const early = `#TS:100\r\n${command("SET", "a", "1")}#TS:101\r\n${command("SET", "b", "2")}`;
  writeFileSync(path, `${early}#TS:102\r\n#TS:103\r\n${command("SET", "c", "3")}`);
  const to = (truncateTo: number, file = part("manifest")) => {
    const lines: string[] = [];
    const sound = checkAof(file, { fix: false, truncateTo, print: (line) => lines.push(line), confirm: () => false });
    return { sound, said: lines.join("\n") };
  };
  expect(to(103)).toMatchObject({ sound: true, said: expect.stringContaining("Truncate nothing in AOF") });
  expect(to(101)).toMatchObject({ sound: true, said: expect.stringContaining("Successfully truncated AOF") });
  expect(readFileSync(path, "latin1")).toBe(early);
  expect(to(99)).toMatchObject({
    sound: false,
    said: expect.stringContaining("nothing before timestamp 99, aborting"),
  });
  expect(readFileSync(path, "latin1")).toBe(early);
  writeFileSync(part("2.incr.aof"), command("SET", "d", "4"));
  appendFileSync(part("manifest"), "file appendonly.aof.2.incr.aof seq 2 type i\n");
  expect(to(100)).toMatchObject({ sound: false, said: expect.stringContaining("because it is not the last file") });
  expect(readFileSync(path, "latin1")).toBe(early);
});

test("the engine says when it wrote, once a second, and loads it again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cinnabar-stamps-"));
  const clock = new ManualClock(1_700_000_000_000);
  const engine = await EmbeddedEngine.open({ dir: folder, clock, config: { "aof-timestamp-enabled": "yes" } });
  const client = engine.connect();
  await client.call("SET", "a", "1");
  await client.call("SET", "b", "2");
  clock.advance(1000);
  await client.call("SET", "c", "3");
  await engine.close();
  const text = readFileSync(join(folder, "appendonlydir", "appendonly.aof.1.incr.aof"), "latin1");
  expect(text.match(/#TS:\d+/g)).toEqual(["#TS:1700000000", "#TS:1700000001"]);
  expect(text.indexOf("#TS:1700000001")).toBeGreaterThan(text.indexOf("$1\r\n2\r\n"));
  const again = await EmbeddedEngine.open({ dir: folder });
  expect(await again.connect().call("MGET", "a", "b", "c")).toEqual(["1", "2", "3"]);
  await again.close();
  rmSync(folder, { recursive: true, force: true });
});
