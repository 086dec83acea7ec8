/**
 * Runs the suite, or the files that are named, on each supported release of Node: `npm run test:nodes`,
 * `npm run test:nodes -- --only 24 toolkit/src/components/locks`. The programs come from the npm registry and are kept in
 * node_modules/.cache. It takes three times as long as the suite.
 */
import { spawnSync } from "node:child_process";
import { delimiter, dirname } from "node:path";
import { parseArgs } from "node:util";
import { NODES, nodeOf } from "./runtimes.js";

const { values, positionals } = parseArgs({ options: { only: { type: "string" } }, allowPositionals: true });
const results = (values.only?.split(",") ?? NODES).map((release) => {
  const node = nodeOf(release);
  const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
  console.log(`\nNode ${version}`);
  const { status } = spawnSync(node, ["node_modules/vitest/vitest.mjs", "run", ...positionals], {
    stdio: "inherit",
    // Programs that tests start by their shebang find the same Node.
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
  });
  return { version, passed: status === 0 };
});

console.log("");
for (const { version, passed } of results) console.log(`${passed ? "passed" : "FAILED"}  Node ${version}`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
