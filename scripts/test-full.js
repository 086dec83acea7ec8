/**
 * What takes too long for every change, and is run before an issue is called resolved: `npm run test:full`, or some of its steps,
 * `npm run test:full -- suite times`. Writes docs/test-summary.md, which is committed with the work.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { runVitest } from "./vitest.js";

/** How much the suites do when there is time; each is described where it is read. */
const LONG = {
  FULL: "1",
  AOF_MUTATIONS: "20000",
  RDB_MUTATIONS: "20000",
  RDB_SEEDS: "5",
  FAULT_STEP: "1",
  REPLICATION_ROUNDS: "3",
  LOG_FILES_KILLS: "30",
  SEARCH_ROUNDS: "5",
  FILES_ROUNDS: "5",
  FILES_KILLS: "20",
  JOB_SEARCH_ROUNDS: "5",
  SHARDED_ROUNDS: "5",
  STREAM_FAULT_ROUNDS: "10",
  CHATS_ROUNDS: "5",
  CHATS_KILLS: "10",
  SOCIAL_FAULT_KILLS: "10",
  QUEUE_HISTORY_SEEDS: "5",
  WEB_FAULT_KILLS: "20",
  SHARDED_FAULT_KILLS: "10",
  ADS_FAULT_KILLS: "10",
  CINNABAR_HISTORY_SECONDS: "60",
  COORDINATION_SECONDS: "60",
  SKETCH_ITEMS: "1000000",
};

const npm = (script, ...args) => ({
  run: () => {
    const started = performance.now();
    const { status } = spawnSync("npm", ["run", "--silent", script, ...(args.length > 0 ? ["--", ...args] : [])], {
      stdio: "inherit",
    });
    const seconds = Math.round((performance.now() - started) / 1_000);
    return { passed: status === 0, seconds, said: `npm run ${[script, ...args].join(" ")}`, failed: [] };
  },
});

/** The seeds are fixed, so that two runs are the same; more are a matter of the command line. */
const STEPS = {
  suite: {
    run: () => {
      const done = runVitest([], LONG);
      return { ...done, said: `${done.passedTests} of ${done.total} tests passed, ${done.skippedTests} skipped` };
    },
  },
  "moving-slots": {
    run: () => {
      const done = runVitest(["toolkit/src"], { MOVE_SLOTS: "1", BACKENDS: "cluster" });
      return { ...done, said: `contract suites while slots move: ${done.passedTests} of ${done.total} tests passed` };
    },
  },
  reshard: {
    run: () => {
      const done = runVitest(["toolkit/src"], { MOVE_SLOTS: "reshard", BACKENDS: "cluster" });
      return {
        ...done,
        said: `contract suites under \`redis-cli --cluster reshard\`: ${done.passedTests} of ${done.total} tests passed`,
      };
    },
  },
  "own-cluster": {
    run: () => {
      const done = runVitest(["toolkit/src"], { MOVE_SLOTS: "1", BACKENDS: "embedded-cluster" });
      return {
        ...done,
        said: `the same on a Cluster in one process: ${done.passedTests} of ${done.total} tests passed`,
      };
    },
  },
  failovers: {
    run: () => {
      const done = runVitest(["toolkit/src"], { FAILOVERS: "1" });
      return { ...done, said: `contract suites under failovers: ${done.passedTests} of ${done.total} tests passed` };
    },
  },
  valkey: {
    run: () => {
      const folder = process.env.VALKEY_BIN;
      if (folder === undefined)
        return { passed: true, seconds: 0, said: "skipped: VALKEY_BIN names no folder with valkey-server", failed: [] };
      const done = runVitest(["toolkit", "engine/tests/replication"], { SERVER_BIN: folder });
      const version = versionOf(`${folder}/valkey-server`);
      return { ...done, said: `suites on ${version}: ${done.passedTests} of ${done.total} tests passed` };
    },
  },
  packages: npm("pack:check"),
  times: npm("test:times"),
  nodes: npm("test:nodes", "--only", "22,24"),
  "compare-1": npm("compare", "--seed", "1", "--commands", "10000000"),
  "compare-2": npm("compare", "--seed", "2", "--commands", "10000000"),
  "compare-3": npm("compare", "--seed", "3", "--commands", "10000000"),
  "compare-acl": npm("compare:acl", "--seed", "1", "--checks", "1000000"),
  histories: npm("faults:histories", "--operations", "1000000", "--seed", "1"),
  heap: npm("faults:heap"),
  crash: npm("soak:crash", "100"),
  soak: npm("soak", "--minutes", "20"),
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in STEPS));
if (unknown.length > 0) {
  console.error(`No such step: ${unknown.join(", ")}. There are: ${Object.keys(STEPS).join(", ")}.`);
  process.exit(2);
}

const versionOf = (program) => {
  const answer = spawnSync(program, ["--version"], { encoding: "utf8" });
  return answer.status === 0 ? answer.stdout.trim().split("\n")[0] : `${program}: not installed`;
};
const commit = spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).stdout?.trim() || "unknown";

const SUMMARY = "docs/test-summary.md";

/** The rows of an earlier summary, by step: a run of some steps leaves the others as they are. */
function earlierRows() {
  if (!existsSync(SUMMARY)) return new Map();
  const rows = readFileSync(SUMMARY, "utf8").matchAll(/^\| ([\w-]+) \| (?:passed|\*\*failed\*\*).*$/gm);
  return new Map([...rows].map(([row, name]) => [name, row]));
}

function summaryOf(results, rows) {
  const when = `${new Date().toISOString().slice(0, 16).replace("T", " ")}, ${commit}`;
  for (const { name, passed, seconds, said } of results)
    rows.set(name, `| ${name} | ${passed ? "passed" : "**failed**"} | ${seconds} s | ${when} | ${said} |`);
  const failures = results.flatMap(({ failed }) =>
    failed.flatMap(({ file, tests }) => [`- ${file}`, ...tests.map((test) => `  - ${test}`)]),
  );
  return `# The last full run

Written by \`npm run test:full\`. A run of some of its steps replaces their rows.

- Node ${process.version}; ${versionOf("redis-server")}; ${versionOf("chromium")}
- Linux ${release()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB
- cinnabar ${JSON.parse(readFileSync("engine/package.json", "utf8")).version}

| step | outcome | took | when (UTC), commit | what |
| --- | --- | --- | --- | --- |
${Object.keys(STEPS)
  .flatMap((name) => rows.get(name) ?? [])
  .join("\n")}

${failures.length === 0 ? "No test of the last run failed." : `Failed in the last run:\n\n${failures.join("\n")}`}
`;
}

const rows = earlierRows();
const results = [];
for (const [name, { run }] of Object.entries(STEPS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.log(`\n=== ${name}\n`);
  results.push({ name, ...run() });
  // After each step: a run that is broken off leaves what it has found.
  writeFileSync(SUMMARY, summaryOf(results, rows));
}
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
