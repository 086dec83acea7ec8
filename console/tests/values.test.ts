/** Flat replies get back the shape that they have in RESP3. */
import { open } from "cinnabar";
import { afterAll, beforeAll, expect, test } from "vitest";
import { shaped } from "../src/values.ts";

let store: Awaited<ReturnType<typeof open>>;

beforeAll(async () => {
  store = await open();
  await store.call("XADD", "s", "1-1", "a", "1", "b", "2");
  await store.call("XGROUP", "CREATE", "s", "g", "0");
  await store.call("HSET", "h", "f", "v");
  await store.call("ZADD", "z", 1.5, "m");
});
afterAll(() => store.close());

const ask = async (...words: string[]) => shaped(words, await store.callBuffer(...words));
const ENTRY = ["1-1", { map: [["a", "1"], ["b", "2"]] }]; // biome-ignore format: as it is shown

test.each<[string, unknown]>([
  ["HGETALL h", { map: [["f", "v"]] }],
  ["hgetall absent", { map: [] }],
  ["HRANDFIELD h 1 WITHVALUES", { map: [["f", "v"]] }],
  ["HRANDFIELD h 1", ["f"]],
  ["ZRANGE z 0 -1 withscores", { map: [["m", "1.5"]] }],
  ["ZRANGE z 0 -1", ["m"]],
  ["XRANGE s - +", [ENTRY]],
  ["XREAD COUNT 1 STREAMS s 0", { map: [["s", [ENTRY]]] }],
  ["XREAD COUNT 1 STREAMS s $", null],
  ["XINFO CONSUMERS s g", []],
  ["CONFIG GET databases", { map: [["databases", "16"]] }],
  ["KEYS absent*", []],
])("%s", async (command, expected) => {
  expect(await ask(...command.split(" "))).toEqual(expected);
});

test("XINFO GROUPS is a list of maps", async () => {
  const [group] = (await ask("XINFO", "GROUPS", "s")) as { map: [string, unknown][] }[];
  expect(group!.map[0]).toEqual(["name", "g"]);
});
