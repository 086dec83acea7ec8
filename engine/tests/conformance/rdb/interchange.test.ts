/** Values and files that go from a real server to the engine and back: the same keys, the same encodings, the same bytes. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisMissing } from "../redis-server.ts";
import { compareState } from "../state.ts";
import { engineTarget, realTarget, type Target } from "../target.ts";
import type { Wire } from "../wire.ts";
import { dataCommands } from "./data.ts";

const missing = redisMissing();
if (missing !== undefined) console.warn(`Files are not exchanged with a real server: ${missing}`);

const SEED = Number(process.env.RDB_SEED ?? 1);
const hex = (word: string) => Buffer.from(word, "latin1").toString("hex");

async function run(wire: Wire, commands: readonly (readonly string[])[]): Promise<string[]> {
  const texts: string[] = [];
  for (let i = 0; i < commands.length; i += 500) {
    const answers = await wire.pipeline(commands.slice(i, i + 500));
    for (const [j, answer] of answers.entries()) {
      if (answer.tag === "-") throw new Error(`${commands[i + j]!.join(" ").slice(0, 100)}: ${answer.text}`);
      texts.push(answer.text);
    }
  }
  return texts;
}

const keysOf = async (wire: Wire) => (await wire.call("KEYS", "*")).items.map((item) => item.text).sort();
const dumps = (wire: Wire, keys: readonly string[]) =>
  run(
    wire,
    keys.map((key) => ["DUMP", key]),
  );

const restore = (wire: Wire, keys: readonly string[], payloads: readonly string[]) =>
  run(
    wire,
    keys.map((key, i) => ["RESTORE", key, "0", payloads[i]!, "REPLACE"]),
  );

describe.skipIf(missing !== undefined)("values", () => {
  let real: Target;
  let ours: Target;
  let theirWire: Wire;
  let ourWire: Wire;

  beforeAll(async () => {
    real = await realTarget();
    ours = await engineTarget();
    theirWire = await real.connect();
    ourWire = await ours.connect();
  });
  afterAll(async () => {
    await Promise.all([real?.close(), ours?.close()]);
  });

  test.each(["yes", "no"])(
    "made by the same commands are dumped as the same bytes, with compression: %s",
    async (on) => {
      await Promise.all([real.reset(), ours.reset()]);
      for (const wire of [theirWire, ourWire]) await run(wire, [["CONFIG", "SET", "rdbcompression", on]]);
      const commands = dataCommands(SEED);
      await run(theirWire, commands);
      await run(ourWire, commands);
      expect(await compareState(theirWire, ourWire)).toBeUndefined();
      const keys = (await keysOf(theirWire)).filter((key) => !/^(loose|timed):/.test(key));
      expect(keys.length).toBeGreaterThan(350);
      const [theirs, own] = [await dumps(theirWire, keys), await dumps(ourWire, keys)];
      for (const [i, key] of keys.entries()) expect([key, hex(own[i]!)]).toEqual([key, hex(theirs[i]!)]);
    },
  );

  test("dumped by the real server are restored here, and dumped again as they were", async () => {
    await Promise.all([real.reset(), ours.reset()]);
    await run(theirWire, dataCommands(SEED + 1));
    const keys = await keysOf(theirWire);
    const theirs = await dumps(theirWire, keys);
    // On both sides, as a value that went through a payload may have a leaner encoding than before.
    for (const wire of [theirWire, ourWire]) await restore(wire, keys, theirs);
    expect(await compareState(theirWire, ourWire)).toBeUndefined();
    const own = await dumps(ourWire, keys);
    for (const [i, key] of keys.entries()) {
      if (!key.startsWith("loose:")) expect([key, hex(own[i]!)]).toEqual([key, hex(theirs[i]!)]);
    }
  });

  test("dumped here are restored by the real server", async () => {
    await Promise.all([real.reset(), ours.reset()]);
    await run(ourWire, dataCommands(SEED + 2));
    const keys = await keysOf(ourWire);
    const own = await dumps(ourWire, keys);
    await run(theirWire, [["CONFIG", "SET", "sanitize-dump-payload", "yes"]]);
    for (const wire of [theirWire, ourWire]) await restore(wire, keys, own);
    expect(await compareState(theirWire, ourWire)).toBeUndefined();
  });
});
