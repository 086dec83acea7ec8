/** The console's patterns against those of a server, on names and patterns made at random. */
import { expect, test } from "vitest";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { globOf } from "../src/glob.ts";
import { backends } from "./support.ts";

/** The same numbers in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

test.each(backends(installed("redis-server") ? startRedis : undefined))(
  "match what those of %s match",
  async (_name, start) => {
    const { store, stop } = await start();
    const next = numbers(17);
    const made = (signs: string, most: number) =>
      Array.from({ length: 1 + next(most) }, () => signs[next(signs.length)]).join("");
    const names = [...new Set(Array.from({ length: 300 }, () => made("abc:-^]\\", 6)))];
    for (const name of names) await store.call("SET", name, "1");
    for (let nth = 0; nth < 1_500; nth++) {
      const pattern = made("aabbc:*?[]^-\\", 7);
      const theirs = ((await store.call("KEYS", pattern)) as string[]).sort();
      expect(names.filter(globOf(pattern)).sort(), pattern).toEqual(theirs);
    }
    await stop();
  },
);

test("take no pattern for so long that others wait", () => {
  const name = "a".repeat(20_000);
  expect(globOf(`${"a*".repeat(400)}b`)(name)).toBe(false);
});
