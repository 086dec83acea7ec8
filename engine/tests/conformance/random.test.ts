/** Random commands on the engine and on a real server: replies, errors and the whole state equal. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { full } from "../../../scripts/full.ts";
import { runCampaign } from "./campaign.ts";
import { redisMissing } from "./redis-server.ts";
import { engineTarget, realTarget, type Target } from "./target.ts";

/** Commands of the table that the engine may lack for now. */
const ALLOW_MISSING: readonly string[] = [];

const SEEDS = full ? [1, 2, 3, 4] : [1, 2];
const COMMANDS_EACH = 55_000;

const missing = redisMissing();
if (missing !== undefined) console.warn(`The random comparison is skipped: ${missing}`);

describe.skipIf(missing !== undefined)("random commands", () => {
  let real: Target;
  let ours: Target;

  beforeAll(async () => {
    real = await realTarget();
    ours = await engineTarget();
  });
  afterAll(async () => {
    await Promise.all([real?.close(), ours?.close()]);
  });

  test.each(SEEDS)("seed %i: the same answers and the same state", { timeout: 180_000 }, async (seed) => {
    const result = await runCampaign(real, ours, { seed, commands: COMMANDS_EACH, shrinkMs: 30_000 });
    if (result.failures.length > 0) expect.fail(result.failures.map((failure) => failure.text).join("\n"));
    expect(result.commands).toBeGreaterThanOrEqual(COMMANDS_EACH);
    expect(result.errors / result.commands).toBeLessThan(0.3);
    expect(result.missing.filter((name) => !ALLOW_MISSING.includes(name))).toEqual([]);
  });
});
