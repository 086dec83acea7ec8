import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { redisMissing } from "../redis-server.ts";
import { realTarget, type Target } from "../target.ts";
import type { Wire } from "../wire.ts";
import { makeRuntime, runOurs, runReal, scriptFiles, scriptsOf } from "./harness.ts";

describe.skipIf(redisMissing() !== undefined)("Lua beside a real server", () => {
  let target: Target;
  let wire: Wire;

  beforeAll(async () => {
    target = await realTarget();
    wire = await target.connect();
  });
  afterAll(() => target?.close());

  for (const file of scriptFiles()) {
    it(`gives the answers of the real one: ${file}`, async () => {
      const scripts = scriptsOf(file);
      const real = await runReal(wire, scripts);
      const rt = makeRuntime();
      for (const mode of ["script", "chunk"] as const) {
        const wrong = scripts.flatMap((source, i) => {
          const ours = runOurs(rt, source, mode);
          return ours === real[i] ? [] : [{ source, real: real[i], ours }];
        });
        expect(wrong).toEqual([]);
      }
    });
  }
});
