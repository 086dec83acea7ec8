/** Random commands on the server as it is shipped, run by Bun and by Deno, and on a real server: equal replies and equal state. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { full } from "../../../scripts/full.ts";
import { compareRecorded, RECORDED_SEEDS } from "../conformance/recorded.ts";
import { redisMissing } from "../conformance/redis-server.ts";
import { realTarget, type Target } from "../conformance/target.ts";
import { RUNTIMES, startOn } from "./target.ts";

// As the transcripts: the runtimes are installed for the full run.
describe.skipIf(!full || redisMissing() !== undefined).each(RUNTIMES)("random commands on $name", (runtime) => {
  let dir: string;
  let real: Target;
  let ours: Target;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "cinnabar-runtime-"));
    real = await realTarget();
    ours = await startOn(runtime, dir);
  });
  afterAll(async () => {
    await Promise.all([real?.close(), ours?.close()]);
    rmSync(dir, { recursive: true, force: true });
  });

  test.each(RECORDED_SEEDS)("seed %i: the same answers and the same state", { timeout: 600_000 }, async (seed) => {
    await compareRecorded(real, ours, seed);
  });
});
