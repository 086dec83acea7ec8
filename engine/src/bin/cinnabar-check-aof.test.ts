/** cinnabar-check-aof: what it says about sound and broken files, and what it cuts off. */
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EmbeddedEngine } from "../embedded.ts";
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
  expect(said).toContain(`ok_up_to=${start}`);
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
