/** Keys that nobody asks for go by themselves, a bounded number at a time. */
import { afterEach, expect, test } from "vitest";
import { ManualClock } from "./clock.ts";
import { Engine } from "./engine.ts";

let engine: Engine;
afterEach(() => engine.stop());

function open(count: number, deadline: (i: number) => number, config: Record<string, string> = {}) {
  const clock = new ManualClock();
  engine = new Engine({ clock, config });
  const db = engine.databases[0]!;
  for (let i = 0; i < count; i++) {
    db.put(`key:${i}`, "value", { deadline: clock.now() + deadline(i) });
  }
  return { clock, db };
}

test("100 000 keys with one deadline are gone after a few ticks, none of which looks at too many", () => {
  const { clock, db } = open(100_000, () => 1000);
  engine.tick();
  expect(db.size).toBe(100_000);
  clock.advance(1000);
  let ticks = 0;
  while (db.size > 0 && ticks < 50) {
    engine.tick();
    ticks++;
    expect(engine.expiry.visits).toBeLessThanOrEqual(26_000);
  }
  expect(db.size).toBe(0);
  expect(ticks).toBeLessThanOrEqual(5);
  expect(engine.stats.expiredKeys).toBe(100_000);
  expect(engine.stats.expireCyclesCut).toBeGreaterThan(0);
});

test("a database where nothing is due costs one batch", () => {
  open(50_000, () => 1_000_000);
  engine.tick();
  expect(engine.expiry.visits).toBeLessThan(40);
});

test("a few due keys among many are found in the end", () => {
  const { clock, db } = open(20_000, (i) => (i % 100 === 0 ? 500 : 10_000_000));
  clock.advance(500);
  for (let i = 0; i < 3000 && db.size > 19_800; i++) engine.tick();
  expect(db.size).toBe(19_800);
  expect(engine.expiry.averageTtl(db)).toBeGreaterThan(9_000_000);
});

test("more effort looks at more keys", () => {
  open(50_000, () => 1_000_000, { "active-expire-effort": "10" });
  engine.tick();
  // 65 are asked for, and one page in some hundreds ends a few short; without effort it is 20.
  expect(engine.expiry.visits).toBeGreaterThanOrEqual(55);
});

test("switched off, keys stay until they are asked for", () => {
  const { clock, db } = open(100, () => 1);
  engine.expiry.enabled = false;
  clock.advance(10);
  for (let i = 0; i < 10; i++) engine.tick();
  expect(db.size).toBe(100);
  expect(db.exists("key:1")).toBe(false);
  expect(db.size).toBe(99);
});

test("every database has its turn", () => {
  const { clock } = open(0, () => 0);
  for (const db of engine.databases) {
    db.put("k", "v", { deadline: clock.now() + 5 });
  }
  clock.advance(5);
  engine.tick();
  expect(engine.databases.every((db) => db.size === 0)).toBe(true);
});
