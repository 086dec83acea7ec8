import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ManualClock } from "../../core/clock.ts";
import { Engine } from "../../core/engine.ts";
import { SetValue } from "../../types/set/index.ts";
import { RdbError } from "./errors.ts";
import { loadRdb, loadRdbSync, saveRdb } from "./file.ts";

let folder: string;
let file: string;
const engines: Engine[] = [];

function engine(config: Record<string, string> = {}): Engine {
  const made = new Engine({ clock: new ManualClock(), config });
  engines.push(made);
  return made;
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "cinnabar-rdb-file-"));
  file = join(folder, "dump.rdb");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => {
  for (const one of engines.splice(0)) one.stop();
});

/** An engine with keys in two databases, one of which has expired. */
function filled(keys = 10_000): Engine {
  const source = engine();
  const [first, second] = source.databases;
  for (let i = 0; i < keys; i++) first!.put(`key ${i}`, i % 2 === 0 ? i : `value ${i}`);
  second!.put("gone", "v", { deadline: source.now - 1 });
  second!.put("stays", "v", { deadline: source.now + 1000 });
  return source;
}

describe("loading", () => {
  test("puts everything where it was", async () => {
    saveRdb(filled(), file);
    for (const load of [loadRdbSync, loadRdb]) {
      const target = engine();
      const steps: number[] = [];
      const report = await load(target, file, { onProgress: (loaded) => steps.push(loaded) });
      expect(report).toMatchObject({ version: 10, keys: 10_001, expired: 1, empty: 0 });
      const [first, second] = target.databases;
      expect(first!.size).toBe(10_000);
      expect(first!.peek("key 9998")).toBe(9998);
      expect(first!.peek("key 9999")).toBe("value 9999");
      expect(second!.deadline("stays")).toBe(target.now + 1000);
      expect(first!.sizeBytes).toBe(filled().databases[0]!.sizeBytes);
      expect(target.effects.dirty).toBe(0);
      expect(steps).toEqual([...steps].sort((a, b) => a - b));
    }
  });

  test("drops keys whose time has come unless told to keep them", () => {
    saveRdb(filled(1), file);
    const target = engine();
    expect(loadRdbSync(target, file, { keepExpired: true })).toMatchObject({ keys: 3, expired: 0 });
    expect(target.databases[1]!.size).toBe(2);
  });

  test("refuses a key that is there already, or replaces it", () => {
    saveRdb(filled(1), file);
    const target = engine();
    target.databases[0]!.put("key 0", "old");
    expect(() => loadRdbSync(target, file)).toThrow('the key "key 0" occurs twice in database 0');
    loadRdbSync(target, file, { replaceKeys: true });
    expect(target.databases[0]!.peek("key 0")).toBe(0);
  });

  test("refuses more databases than there are", () => {
    saveRdb(filled(1), file);
    expect(() => loadRdbSync(engine({ databases: "1" }), file)).toThrow("only 1 are configured");
  });

  test("does not believe a count of keys that the file cannot hold", () => {
    const resize = [254, 0, 251, 0x81, 0, 0, 255, 255, 255, 255, 255, 255, 0];
    writeFileSync(file, Buffer.concat([Buffer.from("REDIS0010"), Buffer.from([...resize, 255]), Buffer.alloc(8)]));
    const target = engine();
    expect(loadRdbSync(target, file)).toMatchObject({ keys: 0 });
    expect(target.databases[0]!.keyspace.sizeBytes).toBeLessThan(10_000);
  });

  test("says where a damaged file is bad", async () => {
    writeFileSync(file, Buffer.from("REDIS0010\x00\x01k\x05ab", "latin1"));
    await expect(loadRdb(engine(), file)).rejects.toMatchObject({ kind: "truncated", offset: 15 });
    expect(() => loadRdbSync(engine(), file)).toThrow(RdbError);
  });

  test("a large set comes back whole", () => {
    const source = engine();
    const set = new SetValue();
    for (let i = 0; i < 60_000; i++) set.add(`member ${i}`, source.limits);
    source.databases[0]!.put("set", set);
    saveRdb(source, file);
    const target = engine();
    loadRdbSync(target, file);
    const read = target.databases[0]!.get("set", SetValue)!;
    expect(read.size).toBe(60_000);
    for (let i = 0; i < 60_000; i += 997) expect(read.has(`member ${i}`)).toBe(true);
  });
});
