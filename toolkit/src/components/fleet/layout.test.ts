/** The arithmetic of slots: whatever is added and removed, every slot has one owner, and shares become equal. */
import { describe, expect, test } from "vitest";
import { SLOTS } from "../../connection/slots.ts";
import { type ComponentLayout, firstLayout, isUnfinished, moved, nextMove, shares, validLayout } from "./layout.ts";

const urls = (...names: string[]) => Object.fromEntries(names.map((name) => [name, `redis://${name}`]));

/** Takes every step, and says how many slots were moved. */
function balanced(layout: ComponentLayout, mostSlots: number): { layout: ComponentLayout; slots: number } {
  let now = layout;
  let slots = 0;
  for (let step = 0; ; step++) {
    const move = nextMove(now, mostSlots);
    if (move === null) return { layout: now, slots };
    expect(move.to - move.from + 1).toBeLessThanOrEqual(mostSlots);
    expect(now.slots.some(({ from, to, shard }) => shard === move.source && from <= move.from && to >= move.to)).toBe(
      true,
    );
    slots += move.to - move.from + 1;
    now = { ...now, slots: moved(now.slots, move) };
    validLayout({ components: { now } });
    expect(step).toBeLessThan(SLOTS);
  }
}

describe("the layout of a fleet", () => {
  test("begins with equal shares", () => {
    for (let count = 1; count <= 9; count++) {
      const layout = firstLayout(urls(..."abcdefghi".slice(0, count)));
      const counts = [...shares(layout).values()];
      expect(counts.reduce((sum, n) => sum + n, 0)).toBe(SLOTS);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      expect(isUnfinished(layout)).toBe(false);
    }
  });

  test("moves no more than a new shard's share", () => {
    const before = firstLayout(urls("a", "b", "c"));
    const grown = { ...before, shards: { ...before.shards, d: { url: "redis://d" } } };
    expect(isUnfinished(grown)).toBe(true);
    const { layout, slots } = balanced(grown, 1_000);
    expect(slots).toBeLessThanOrEqual(SLOTS / 4);
    expect(Math.min(...shares(layout).values())).toBeGreaterThanOrEqual(SLOTS / 4 - 1);
  });

  test("takes everything from a shard that leaves", () => {
    const before = firstLayout(urls("a", "b", "c"));
    const leaving = { ...before, shards: { ...before.shards, b: { url: "redis://b", leaving: true } } };
    const { layout } = balanced(leaving, 777);
    expect(shares(layout).get("b")).toBe(0);
    expect(Math.abs(shares(layout).get("a")! - shares(layout).get("c")!)).toBeLessThanOrEqual(2);
  });

  test("stays whole through any order of additions and removals", () => {
    let layout = firstLayout(urls("s0"));
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    for (let round = 1; round < 60; round++) {
      const names = Object.keys(layout.shards);
      if (names.length > 1 && random(3) === 0) {
        const gone = names[random(names.length)]!;
        layout = balanced(
          { ...layout, shards: { ...layout.shards, [gone]: { url: `redis://${gone}`, leaving: true } } },
          2_000,
        ).layout;
      } else if (names.length < 12) {
        layout = balanced(
          { ...layout, shards: { ...layout.shards, [`s${round}`]: { url: `redis://s${round}` } } },
          2_000,
        ).layout;
      }
      const counts = shares(layout);
      const shards = Object.fromEntries(Object.entries(layout.shards).filter(([name]) => counts.get(name)! > 0));
      layout = { ...layout, shards };
      const [most, least] = [Math.max(...counts.values()), Math.min(...[...counts.values()].filter((n) => n > 0))];
      expect(most - least).toBeLessThanOrEqual(2);
    }
  });

  test("what makes no sense is refused, and no password is in the message", () => {
    expect(() => firstLayout({})).toThrow(/at least one/);
    expect(() => firstLayout({ a: "localhost" })).toThrow(/needs a URL/);
    expect(() => firstLayout({ a: "redis+cluster://:secret@h" })).toThrow(/Cluster/);
    expect(() => firstLayout({ a: "redis+cluster://:secret@h" })).not.toThrow(/secret/);
    expect(() => firstLayout({ a: "redis://x", b: "redis://x" })).toThrow(/same server/);
    const good = firstLayout(urls("a", "b"));
    const hole = { ...good, slots: good.slots.slice(1) };
    expect(() => validLayout({ components: { hole } })).toThrow(/every slot/);
    expect(() => validLayout(null)).toThrow(/components/);
  });
});
