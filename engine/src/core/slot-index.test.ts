/** The index from slots to keys against what the database has, after random changes by every door. */
import { afterEach, expect, test } from "vitest";
import { keySlot } from "../lib/key-slot.ts";
import { ManualClock } from "./clock.ts";
import { Engine } from "./engine.ts";
import { silentTransport } from "./transport.ts";

let engine: Engine | undefined;

afterEach(() => engine?.stop());

test("says which keys are in which slot, whatever happens to them", () => {
  const clock = new ManualClock();
  engine = new Engine({ clock, config: { "cluster-enabled": "yes" } });
  const client = engine.addClient(silentTransport("test"));
  const run = (...words: string[]) => engine!.execute(client, words);
  run("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
  const db = engine.databases[0]!;
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % below;
  };
  const key = () => `{${next(5)}}${next(30)}`;
  for (let round = 0; round < 3000; round++) {
    const name = key();
    const tag = name.slice(0, 3);
    const acts = [
      () => run("SET", name, "1"),
      () => run("SET", name, "1", "PX", "5"),
      () => run("LPUSH", name, "1"),
      () => run("LPOP", name),
      () => run("DEL", name),
      () => run("RENAME", name, `${tag}${next(30)}`),
      () => run("SADD", name, "m"),
      () => run("SREM", name, "m"),
      () => run("COPY", name, `${tag}${next(30)}`, "REPLACE"),
      () => run("SETRANGE", name, "3", "x"),
      () => clock.advance(1),
      () => engine!.tick(),
      () => (next(100) === 0 ? run("FLUSHALL") : null),
    ];
    acts[next(acts.length)]!();
    engine.renewClock();
    if (round % 100 !== 0) continue;
    const bySlot = new Map<number, string[]>();
    for (const [each] of db.keyspace.entries()) {
      const slot = keySlot(each);
      bySlot.set(slot, [...(bySlot.get(slot) ?? []), each]);
    }
    for (const tagged of ["{0}", "{1}", "{2}", "{3}", "{4}"]) {
      const slot = keySlot(tagged);
      const expected = bySlot.get(slot) ?? [];
      expect(db.slots!.count(slot)).toBe(expected.length);
      expect(db.slots!.keysOf(slot, 1000).sort()).toEqual(expected.sort());
    }
  }
});

test("is not kept while cluster mode is off", () => {
  engine = new Engine();
  expect(engine.databases[0]!.slots).toBeNull();
});
