import { describe, expect, test } from "vitest";
import { Bag, type BagPlace } from "./bag.ts";

describe("a bag", () => {
  test("has what was put in and not taken out, whatever the order", () => {
    const bag = new Bag<number>();
    const places = new Map<number, BagPlace<number>>();
    let seed = 7;
    for (let nth = 0; nth < 10_000; nth++) {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      const chosen = [...places.keys()][seed % Math.max(places.size, 1)];
      if (chosen === undefined || (seed >> 8) % 5 < 3 - Number(places.size > 40)) places.set(nth, bag.add(nth));
      else {
        expect(bag.remove(places.get(chosen)!)).toBe(true);
        expect(bag.remove(places.get(chosen)!)).toBe(false);
        places.delete(chosen);
      }
      expect(bag.size).toBe(places.size);
    }
    expect(bag.items().sort((a, b) => a - b)).toEqual([...places.keys()]);
  });

  test("forgets all places when it is cleared, and does not take those of another bag", () => {
    const [bag, other] = [new Bag<string>(), new Bag<string>()];
    const place = bag.add("a");
    const foreign = other.add("b");
    expect(bag.remove(foreign)).toBe(false);
    bag.clear();
    bag.add("c");
    expect(bag.remove(place)).toBe(false);
    expect(bag.items()).toEqual(["c"]);
    expect(other.items()).toEqual(["b"]);
  });
});
