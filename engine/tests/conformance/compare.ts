/**
 * The random comparison by hand: `npm run compare -- --seed 7 --commands 5000000`. README.md lists the options.
 * Exit code 1 if the two differ.
 */
import { parseArgs } from "node:util";
import { type CampaignResult, runCampaign } from "./campaign.ts";
import { redisMissing } from "./redis-server.ts";
import { engineTarget, realTarget } from "./target.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    commands: { type: "string", default: "200000" },
    epoch: { type: "string" },
    failures: { type: "string", default: "1" },
    only: { type: "string" },
    real: { type: "boolean", default: false },
  },
});

const missing = redisMissing();
if (missing !== undefined) {
  console.error(missing);
  process.exit(2);
}

const started = process.hrtime.bigint();
let reported = 0;
function report(done: CampaignResult): void {
  for (; reported < done.failures.length; reported++) console.log(`\n${done.failures[reported]!.text}`);
  if (done.epochs % 25 === 0) console.log(summary(done));
}

function summary(done: CampaignResult): string {
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  const good = done.commands === 0 ? 0 : 100 - (100 * done.errors) / done.commands;
  return `${done.commands} commands, ${done.epochs} epochs, ${good.toFixed(0)} % without error, ${Math.round(done.commands / seconds)} a second`;
}

const real = await realTarget();
const ours = await (values.real ? realTarget() : engineTarget());
try {
  const result = await runCampaign(real, ours, {
    seed: Number(values.seed),
    commands: Number(values.commands),
    failures: Number(values.failures),
    ...(values.epoch === undefined ? {} : { epoch: Number(values.epoch) }),
    ...(values.only === undefined ? {} : { only: values.only.split(",") }),
    onEpoch: report,
  });
  console.log(summary(result));
  if (result.rounded > 0) console.log(`Stored distances that differed in their rounding alone: ${result.rounded}`);
  if (result.missing.length > 0) console.log(`Not there yet: ${result.missing.join(", ")}`);
  console.log(result.failures.length === 0 ? "Equal." : `${result.failures.length} differences.`);
  process.exitCode = result.failures.length > 0 ? 1 : 0;
} finally {
  await Promise.all([real.close(), ours.close()]);
}
