/**
 * The comparison of permissions by hand: `npm run compare:acl -- --seed 7 --checks 200000 [--failures 20]`. Exit code 1 if the
 * two differ.
 */
import { parseArgs } from "node:util";
import { redisMissing } from "../redis-server.ts";
import { engineTarget, realTarget } from "../target.ts";
import { AclCampaign, type AclCampaignResult } from "./campaign.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    checks: { type: "string", default: "50000" },
    failures: { type: "string", default: "1" },
  },
});

const missing = redisMissing();
if (missing !== undefined) {
  console.error(missing);
  process.exit(2);
}

const summary = ({ checks, refused, epochs }: AclCampaignResult) =>
  `${checks} checks, ${epochs} epochs, ${((100 * refused) / checks).toFixed(0)} % refused`;

const [real, ours] = await Promise.all([realTarget(), engineTarget()]);
try {
  const result = await new AclCampaign(real, ours).run({
    seed: Number(values.seed),
    checks: Number(values.checks),
    failures: Number(values.failures),
    onEpoch(done) {
      if (done.epochs % 50 === 0) console.log(summary(done));
    },
  });
  for (const failure of result.failures) console.log(`\n${failure}`);
  console.log(summary(result));
  console.log(result.failures.length === 0 ? "Equal." : `${result.failures.length} differences.`);
  process.exitCode = result.failures.length > 0 ? 1 : 0;
} finally {
  await Promise.all([real.close(), ours.close()]);
}
