/** The examples of the structures: they run, say what is written here, and the READMEs show them. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeWordsOnPackages } from "../../../scripts/program.ts";

const SAID: Record<string, string[]> = {
  "blocking-queues.ts": [
    "[ true, true, false ] false",
    "/1 true 2",
    "order 17",
    "[ 'on fire', 'disk at 80 %', 'disk at 81 %' ]",
  ],
  "expiring.ts": [
    "{ status: 'added' } { status: 'exists' }",
    "2 false",
    "[ 'ann', 'admin' ]",
    "{ status: 'created' } { status: 'exists' }",
    "{ code: '482 113' } null",
  ],
  "local-map.ts": ["{ share: 0.1 } null", "{ share: 0.5 } true"],
  "multi-map.ts": [
    "[ { status: 'added' }, { status: 'added' }, { status: 'exists' } ]",
    "[ 'node', 'redis' ] true",
    "[ { step: 'paid' }, { step: 'sent' } ] { keys: 1, values: 2 }",
    "[]",
  ],
  "sketches.ts": [
    "{ status: 'added' } { status: 'exists' }",
    "[ true, false ]",
    "false true 1",
    "[ 2, 40, 0 ]",
    "[",
    "  { item: 'to', count: 3, atLeast: 3 },",
    "  { item: 'be', count: 2, atLeast: 2 }",
    "]",
  ],
  "time-series.ts": [
    "[",
    "  { count: 2, max: 0.8, last: 0.8 },",
    "  { count: 1, max: 0.1, last: 0.1 }",
    "]",
    "3 0.1 0.8 true",
    "0.1",
    "[ 'cpu:web-1' ]",
  ],
};

test.each(Object.entries(SAID))("%s runs and says what it should", async (file, lines) => {
  const args = nodeWordsOnPackages(join(import.meta.dirname, file));
  const said = await new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: 25_000 }, (_, stdout, stderr) => resolve([stdout, stderr]));
  });
  expect(said).toEqual([`${lines.join("\n")}\n`, ""]);
});

test.each(Object.keys(SAID))("%s is what the README shows", (file) => {
  const component = file.replace(/\.ts$/, "");
  const readme = readFileSync(join(import.meta.dirname, `../../src/components/${component}/README.md`), "utf8");
  const example = readFileSync(join(import.meta.dirname, file), "utf8");
  expect(readme).toContain(`\`\`\`ts\n// toolkit/tests/examples/${file}\n${example}\`\`\`\n`);
});
