import { describe, expect, test } from "vitest";
import { lanesOf, nthHash } from "./hash.ts";

const TEXTS = {
  numbers: (nth: number) => String(nth),
  keys: (nth: number) => `user:${nth}:session`,
  addresses: (nth: number) => `10.${nth >> 16}.${(nth >> 8) & 255}.${nth & 255}`,
  Cyrillic: (nth: number) => `пользователь ${nth}`,
};
const COUNT = 100_000;

/** How far counts are from even, in standard deviations of what chance would give. */
function deviations(counts: Uint32Array, total: number): number {
  const each = total / counts.length;
  const chi = counts.reduce((sum, count) => sum + (count - each) ** 2 / each, 0);
  return Math.abs(chi - counts.length) / Math.sqrt(2 * counts.length);
}

describe.each(Object.entries(TEXTS))("hashes of %s", (_, textOf) => {
  const all = Array.from({ length: COUNT }, (__, nth) => lanesOf(textOf(nth)));

  test("are spread evenly, in each lane and in each pair of lanes", () => {
    for (let lane = 0; lane < 4; lane++) {
      for (const size of [1_024, 1_000, 977]) {
        const counts = new Uint32Array(size);
        for (const lanes of all) counts[lanes[lane]! % size]!++;
        expect(deviations(counts, COUNT), `lane ${lane} by ${size}`).toBeLessThan(5);
      }
      const pairs = new Uint32Array(1_024);
      for (const lanes of all) pairs[(lanes[lane]! % 32) * 32 + (lanes[(lane + 1) % 4]! >>> 27)]!++;
      expect(deviations(pairs, COUNT), `lanes ${lane} and ${(lane + 1) % 4}`).toBeLessThan(5);
    }
  });

  test("are not the same in two lanes at once", () => {
    for (const [one, other] of [
      [0, 1],
      [2, 3],
    ] as const) {
      expect(new Set(all.map((lanes) => `${lanes[one]} ${lanes[other]}`)).size).toBe(COUNT);
    }
  });

  test("give any number of further ones, each pair of them evenly spread", () => {
    for (let nth = 0; nth < 8; nth++) {
      const pairs = new Uint32Array(1_024);
      for (const lanes of all) pairs[(nthHash(lanes, nth) % 32) * 32 + (nthHash(lanes, nth + 1) % 32)]!++;
      expect(deviations(pairs, COUNT), `${nth} and ${nth + 1}`).toBeLessThan(5);
    }
  });
});

test("hashes of stored data stay what they are", () => {
  expect([lanesOf(""), lanesOf("cinnabar"), lanesOf("Zinnober ☿")]).toMatchInlineSnapshot(`
    [
      [
        2425667903,
        3140258509,
        1684126239,
        2635772278,
      ],
      [
        538079691,
        2992112015,
        4090732642,
        2157627140,
      ],
      [
        4181874850,
        4130401606,
        1428907408,
        950830981,
      ],
    ]
  `);
  expect([0, 1, 2].map((nth) => nthHash(lanesOf("cinnabar"), nth))).toMatchInlineSnapshot(`
    [
      2426962777,
      2425285278,
      1619680850,
    ]
  `);
});
