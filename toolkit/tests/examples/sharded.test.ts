/** The example of sharded structures: it runs, says what is written here, and the README shows it. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeWordsOnPackages } from "../../../scripts/program.ts";

const LINES = [
  "[ 'Bern', null, 'Bonn' ] 3",
  "2 true",
  "[ { member: 'cat', score: 1500 }, { member: 'ann', score: 1200 } ] 2",
  "1200 { moved: 3, finished: true } 4",
  "1 3 1",
  "2 4",
  "[ true, true, false ] 2",
];

test("sharded.ts runs and says what it should", async () => {
  const args = nodeWordsOnPackages(join(import.meta.dirname, "sharded.ts"));
  const said = await new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: 25_000 }, (_, stdout, stderr) => resolve([stdout, stderr]));
  });
  expect(said).toEqual([`${LINES.join("\n")}\n`, ""]);
});

test("sharded.ts is what the README shows", () => {
  const readme = readFileSync(join(import.meta.dirname, "../../src/components/sharded/README.md"), "utf8");
  const example = readFileSync(join(import.meta.dirname, "sharded.ts"), "utf8");
  expect(readme).toContain(`\`\`\`ts\n// toolkit/tests/examples/sharded.ts\n${example}\`\`\`\n`);
});
