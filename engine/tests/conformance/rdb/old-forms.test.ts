/** Forms of values that Redis 7.0 reads and does not write: restored by a real server and here, with the same outcome. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisMissing } from "../redis-server.ts";
import { compareState } from "../state.ts";
import { engineTarget, realTarget, type Target } from "../target.ts";
import type { Wire } from "../wire.ts";
import { forms, intset, length, payload, string, textScore, u64, ziplist } from "./old-forms.ts";

const missing = redisMissing();
if (missing !== undefined) console.warn(`Old forms are not compared with a real server: ${missing}`);

const bad: Record<string, string> = {
  "an empty list": payload(1, length(0)),
  "an empty set": payload(2, length(0)),
  "an empty zset": payload(5, length(0)),
  "an empty hash": payload(4, length(0)),
  "an empty ziplist": payload(10, string(ziplist([]))),
  "an empty intset": payload(11, string(intset(2, []))),
  "an empty quicklist": payload(14, length(1), string(ziplist([]))),
  "a set with a member twice": payload(2, length(2), string("a"), string("a")),
  "a zset with a NaN": payload(5, length(1), string("a"), u64(0x7ff8000000000000n)),
  "an old zset with a NaN": payload(3, length(1), string("a"), textScore("nan")),
  "an unknown type": payload(99, length(1), string("a")),
  "too short a list": payload(1, length(2), string("a")),
  "an absurd count": payload(1, Buffer.from([0x81, 0x7f, 255, 255, 255, 255, 255, 255, 255]), string("a")),
  "an absurd length": payload(0, Buffer.from([0x81, 0x7f, 255, 255, 255, 255, 255, 255, 255])),
  "a compressed string that claims too much": payload(0, Buffer.from([0xc3, 3, 0x80, 0x7f, 255, 255, 255, 1, 2, 3])),
  "an intset of a wrong size": payload(11, string(intset(2, [1n, 2n]).subarray(0, 11))),
  "a ziplist without an end": payload(10, string(ziplist(["a"]).subarray(0, -1))),
  nothing: payload(0),
};

describe.skipIf(missing !== undefined)("forms that are only read", () => {
  let real: Target;
  let ours: Target;
  let theirs: Wire;
  let own: Wire;

  beforeAll(async () => {
    real = await realTarget(["--sanitize-dump-payload", "yes"]);
    ours = await engineTarget();
    theirs = await real.connect();
    own = await ours.connect();
  });
  afterAll(async () => {
    await Promise.all([real?.close(), ours?.close()]);
  });

  test.each(Object.entries(forms))("%s", async (name, bytes) => {
    for (const wire of [theirs, own])
      expect(await wire.call("RESTORE", name, "0", bytes)).toMatchObject({ text: "OK" });
    expect(await compareState(theirs, own)).toBeUndefined();
  });

  test.each(Object.entries(bad))("%s is refused", async (name, bytes) => {
    const [theirAnswer, ourAnswer] = [
      await theirs.call("RESTORE", name, "0", bytes),
      await own.call("RESTORE", name, "0", bytes),
    ];
    expect(ourAnswer).toEqual(theirAnswer);
    expect(ourAnswer.text).toBe("ERR Bad data format");
  });
});
