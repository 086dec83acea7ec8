/** Made-up users and calls on the engine and on a real server: the same calls are allowed, with the same texts. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisMissing } from "../redis-server.ts";
import { engineTarget, realTarget, type Target } from "../target.ts";
import { AclCampaign } from "./campaign.ts";
import { COMMANDS } from "./made-up.ts";

const SEEDS = [1, 2];
const CHECKS_EACH = 4000;

const missing = redisMissing();
if (missing !== undefined) console.warn(`Permissions are not compared: ${missing}`);

describe.skipIf(missing !== undefined)("permissions", () => {
  let real: Target;
  let ours: Target;

  beforeAll(async () => {
    [real, ours] = await Promise.all([realTarget(), engineTarget()]);
  });
  afterAll(async () => {
    await Promise.all([real?.close(), ours?.close()]);
  });

  test.each(SEEDS)("seed %i: the same calls are allowed", { timeout: 120_000 }, async (seed) => {
    const result = await new AclCampaign(real, ours).run({ seed, checks: CHECKS_EACH });
    if (result.failures.length > 0) expect.fail(result.failures.join("\n\n"));
    expect(result.checks).toBeGreaterThanOrEqual(CHECKS_EACH);
    // Both answers must occur often, or nothing is compared.
    expect(result.refused / result.checks).toBeGreaterThan(0.2);
    expect(result.refused / result.checks).toBeLessThan(0.95);
  });

  test("each command by itself: the user who may call only that one may, and the others may not", async () => {
    const wires = await Promise.all([real.connect(), ours.connect()]);
    try {
      for (const { name, arity } of COMMANDS) {
        const words = name.split("|");
        while (words.length < Math.abs(arity)) words.push("1");
        const calls = [
          ["ACL", "SETUSER", "one", "reset", "~*", "&*", `+${name}`],
          ["ACL", "DRYRUN", "one", ...words],
          ["ACL", "SETUSER", "one", "resetkeys", "resetchannels"],
          ["ACL", "DRYRUN", "one", ...words],
          ["ACL", "SETUSER", "one", "%R~*"],
          ["ACL", "DRYRUN", "one", ...words],
          ["ACL", "SETUSER", "one", "resetkeys", "%W~*"],
          ["ACL", "DRYRUN", "one", ...words],
          ["ACL", "SETUSER", "one", "allkeys", "allchannels", "+@all", `-${name}`],
          ["ACL", "DRYRUN", "one", ...words],
        ];
        const [theirs, mine] = await Promise.all(wires.map((wire) => wire.pipeline(calls)));
        expect({ name, answers: mine!.map(({ text }) => text) }).toEqual({
          name,
          answers: theirs!.map(({ text }) => text),
        });
      }
    } finally {
      await Promise.all(wires.map((wire) => wire.close()));
    }
  });
});
