/** The examples of queues: they run, say what is written here, and the README shows them. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeWordsOnPackages } from "../../../scripts/program.ts";

const SAID: Record<string, string[]> = {
  "queues.ts": [
    "{ status: 'done', result: 'sent to ada@example.org' }",
    "no address: nobody",
    "added",
    "duplicate",
    "1 delayed",
  ],
  "queues-small.ts": ["now, soon, one, two, in a moment"],
  "queues-names.ts": [
    "{ status: 'done', result: 'welcome, ada' }",
    "{ status: 'done', result: 'a.png is 80 wide' }",
    "{ status: 'done', result: 'no handler of its own: farewell' }",
  ],
  "queues-sandbox.ts": [
    "square { status: 'done', result: 49 }",
    "loop the attempt took longer than 5000 ms",
    "leak the sandbox ran out of memory: Worker terminated due to reaching memory limit: JS heap out of memory",
    "crash the sandbox ended with code 1",
    "square { status: 'done', result: 49 }",
  ],
  "queues-operate.ts": [
    "updated, updated, not-found",
    "[ true, false ]",
    "{ status: 'done', result: 'report of 2027-01' }",
    "1 failed reporter-1 the database is away",
    "2 done reporter-1 ",
    "1 done and 1 failed here",
    "2100-01-01T07:00:00.000Z, 2100-02-01T07:00:00.000Z",
    "true 0",
    "0 old delayed jobs",
    "1 drained",
  ],
  "queues-flow.ts": ["{ status: 'done', result: 700 }", "sold 1900"],
};

test.each(Object.entries(SAID))("%s runs and says what it should", (file, lines) => {
  const program = join(import.meta.dirname, file);
  // From the sources: on Node 20, tsx does not reach the threads that sandboxes run in.
  const fromSources = ["--conditions=source", "--import", "tsx", program];
  const args = file.includes("sandbox") ? fromSources : nodeWordsOnPackages(program);
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 25_000 });
  expect(stderr).toBe("");
  expect(stdout.trim().split("\n")).toEqual(lines);
});

/** The file that the example of sandboxes runs is no program of its own. */
test.each([...Object.keys(SAID), "queues-sandbox-handlers.ts"])("%s is what the README shows", (file) => {
  const readme = readFileSync(join(import.meta.dirname, "../../src/components/queues/README.md"), "utf8");
  const example = readFileSync(join(import.meta.dirname, file), "utf8");
  expect(readme).toContain(`\`\`\`ts\n// toolkit/tests/examples/${file}\n${example}\`\`\`\n`);
});
