/**
 * The recorded cases of the random comparison, for builds of the engine that need longer to start than to run them: fixed seeds, an epoch
 * for each way of setting the limits.
 */
import { expect } from "vitest";
import { full } from "../../../scripts/full.ts";
import { runCampaign } from "./campaign.ts";
import type { Target } from "./target.ts";

/** Those of random.test.ts. */
export const RECORDED_SEEDS: readonly number[] = full ? [1, 2, 3, 4] : [1];

/** Three epochs, so that every set of limits is used. */
const COMMANDS_EACH = full ? 55_000 : 6_000;
const EPOCH_COMMANDS = full ? 4_000 : 2_000;

/** The same answers and the same state as a real server, and no command that is missing. */
export async function compareRecorded(real: Target, ours: Target, seed: number): Promise<void> {
  const options = { seed, commands: COMMANDS_EACH, epochCommands: EPOCH_COMMANDS, shrinkMs: 30_000 };
  const result = await runCampaign(real, ours, options);
  if (result.failures.length > 0) expect.fail(result.failures.map(({ text }) => text).join("\n"));
  expect(result.commands).toBeGreaterThanOrEqual(COMMANDS_EACH);
  expect(result.errors / result.commands).toBeLessThan(0.3);
  expect(result.missing).toEqual([]);
}
