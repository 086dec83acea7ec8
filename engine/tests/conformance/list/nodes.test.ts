/**
 * How lists are cut into nodes, beside a real Redis: random commands on a few lists that grow to some hundred kilobytes and shrink
 * again, with each kind of list-max-listpack-size. DUMP and DEBUG OBJECT must be equal all the way, since both tell every cut.
 * LIST_STEPS and LIST_SEED make it longer, or another one.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Prng } from "../prng.ts";
import { redisMissing } from "../redis-server.ts";
import { BLUR, same } from "../rules.ts";
import { engineTarget, realTarget, type Target } from "../target.ts";
import type { Wire } from "../wire.ts";

const missing = redisMissing();
const STEPS = Number(process.env.LIST_STEPS ?? 400);
const SEED = Number(process.env.LIST_SEED ?? 1);
const KEYS = ["a", "b"];
const LOOK_EVERY = 4;

function makeWord(rng: Prng): string {
  const roll = rng.below(100);
  if (roll < 30) return String(rng.below(roll < 15 ? 200 : 10_000_000));
  if (roll < 60) return `word-${rng.below(40)}`;
  if (roll < 90) return rng.pick(["x", "y", "zz"]).repeat(rng.between(1, 120));
  if (roll < 98) return `${rng.below(9)}`.repeat(rng.between(100, 1_500));
  return "long".repeat(rng.between(500, 3_000));
}

/** Words that repeat, so that LINSERT and LREM find some. */
const pick = (rng: Prng): string => (rng.chance(0.7) ? `word-${rng.below(40)}` : makeWord(rng));
const words = (rng: Prng, most: number): string[] => Array.from({ length: rng.between(1, most) }, () => makeWord(rng));

function makeCommand(rng: Prng): string[] {
  const key = rng.pick(KEYS);
  const side = (): string => rng.pick(["LEFT", "RIGHT"]);
  const index = (): string => String(rng.between(-60, 60));
  const roll = rng.below(100);
  if (roll < 14) return ["LPUSH", key, ...words(rng, rng.chance(0.2) ? 200 : 8)];
  if (roll < 28) return ["RPUSH", key, ...words(rng, rng.chance(0.2) ? 200 : 8)];
  if (roll < 50) return ["LINSERT", key, rng.pick(["BEFORE", "AFTER"]), pick(rng), makeWord(rng)];
  if (roll < 58) return ["LSET", key, index(), makeWord(rng)];
  if (roll < 66) return ["LREM", key, String(rng.between(-3, 3)), pick(rng)];
  if (roll < 74) return [rng.pick(["LPOP", "RPOP"]), key, ...(rng.chance(0.5) ? [String(rng.between(1, 60))] : [])];
  if (roll < 76) return ["LTRIM", key, String(rng.between(0, 30)), String(-rng.between(1, 30))];
  if (roll < 90) return ["LMOVE", key, rng.pick(KEYS), side(), side()];
  if (roll < 93) return ["COPY", key, rng.pick(KEYS), "REPLACE"];
  if (roll < 96) return ["SORT", key, "ALPHA", "STORE", rng.pick(KEYS)];
  if (roll < 97) return ["DEL", key];
  return ["DEBUG", "RELOAD"];
}

describe.skipIf(missing !== undefined)("the nodes of lists", () => {
  let real: Target;
  let ours: Target;
  let theirWire: Wire;
  let ourWire: Wire;

  beforeAll(async () => {
    [real, ours] = await Promise.all([realTarget(), engineTarget()]);
    [theirWire, ourWire] = await Promise.all([real.connect(), ours.connect()]);
  });
  afterAll(async () => {
    await Promise.all([theirWire.close(), ourWire.close()]);
    await Promise.all([real.close(), ours.close()]);
  });

  const ask = (...command: string[]) => Promise.all([theirWire.call(...command), ourWire.call(...command)]);

  test.each(["-1", "-2", "-3", "-5", "-8", "0", "1", "2", "5", "100", "40000"])(
    "are cut as in Redis where list-max-listpack-size is %s",
    { timeout: 120_000 },
    async (size) => {
      const rng = new Prng(SEED, Number(size) + 100);
      await Promise.all([real.reset(), ours.reset()]);
      await ask("CONFIG", "SET", "list-max-listpack-size", size);
      const history: string[] = [];
      for (let step = 0; step < STEPS; step++) {
        const command = makeCommand(rng);
        history.push(
          command.map((word) => (word.length > 60 ? `${word.slice(0, 20)}…(${word.length})` : word)).join(" "),
        );
        const [theirs, own] = await ask(...command);
        const where = () => history.slice(-6).join("\n");
        expect(own.text, where()).toBe(theirs.text);
        if (step % LOOK_EVERY !== 0) continue;
        for (const key of KEYS) {
          const [theirObject, ourObject] = await ask("DEBUG", "OBJECT", key);
          const fits = same(theirObject, ourObject, BLUR);
          expect(fits ? "" : `${where()}\n${theirObject.text}\n${ourObject.text}`).toBe("");
          const [theirDump, ourDump] = await ask("DUMP", key);
          expect(ourDump.text === theirDump.text, where()).toBe(true);
        }
      }
    },
  );

  test("stay as they were when the setting changes", async () => {
    await Promise.all([real.reset(), ours.reset()]);
    await ask("CONFIG", "SET", "list-max-listpack-size", "2");
    await ask("RPUSH", "a", "1");
    await ask("RPUSH", "b", "1", "2", "3");
    await ask("CONFIG", "SET", "list-max-listpack-size", "100");
    for (const key of KEYS) {
      await ask("RPUSH", key, "4", "5", "6", "7");
      const [theirs, own] = await ask("DEBUG", "OBJECT", key);
      expect(same(theirs, own, BLUR), `${theirs.text}\n${own.text}`).toBe(true);
    }
  });
});
