import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Prng } from "../prng.ts";
import { redisMissing } from "../redis-server.ts";
import { realTarget, type Target } from "../target.ts";
import type { Wire } from "../wire.ts";
import { makeRuntime, runOurs, runReal } from "./harness.ts";
import { kinds } from "./library-scripts.ts";

const SCRIPTS = 100;

describe.skipIf(redisMissing() !== undefined)("Lua's libraries beside a real server", () => {
  let target: Target;
  let wire: Wire;

  beforeAll(async () => {
    target = await realTarget();
    wire = await target.connect();
  });
  afterAll(() => target?.close());

  for (const [kind, make] of Object.entries(kinds)) {
    it(`gives the same answers to random calls: ${kind}`, { timeout: 60_000 }, async () => {
      const scripts = Array.from({ length: SCRIPTS }, (_, seed) => make(new Prng(seed + 1)));
      const real = await runReal(wire, scripts);
      const rt = makeRuntime();
      for (const [i, source] of scripts.entries()) {
        const ours = runOurs(rt, source, "script");
        expect({ seed: i + 1, source, answer: ours }).toEqual({ seed: i + 1, source, answer: real[i] });
      }
    });
  }
});
