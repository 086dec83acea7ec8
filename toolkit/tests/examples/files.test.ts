/** The examples of files and packed tables: they run, say what is written here, and the READMEs show them. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeWordsOnPackages } from "../../../scripts/program.ts";

const SAID: Record<string, string[]> = {
  "files.ts": [
    "{ status: 'sent', bytes: 24 }",
    "{ status: 'exists', bytes: 0 }",
    "monday.log 3 lines 24 bytes",
    "today.log 1 lines 6 bytes",
    "Map(2) { 'GET' => 3, 'POST' => 1 }",
    "[",
    "  [ 'monday.log', 1, { archive: 0, counter: 1 } ],",
    "  [ 'today.log', 1, { archive: 0, counter: 1 } ]",
    "]",
    "24",
    "6",
    "[] 0",
  ],
  "files-visits.ts": [
    "Map(4) {",
    "  '14/Nov/2026 IT' => 1,",
    "  '15/Nov/2026 FR' => 1,",
    "  '15/Nov/2026 IT' => 1,",
    "  '15/Nov/2026 unknown' => 1",
    "}",
  ],
  "packed-table.ts": [
    "6 bytes a row",
    "{ country: 'USA', state: 'NY', age: 46, since: '1970-01-01' } null",
    "USA 2 of age 38.5",
    "CAN 1 of age 19",
    "ITA 1 of age 28",
    "[ [ 'USA', 'CA', 1 ], [ 'USA', 'NY', 1 ] ]",
    "[ [ 10, 1 ], [ 20, 1 ], [ 30, 1 ], [ 40, 1 ] ]",
    "[ '1 USA', '2 USA', '3 CAN' ]",
    "[ '70000 ITA' ]",
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
  const component = file.replace(/(-visits)?\.ts$/, "");
  const readme = readFileSync(join(import.meta.dirname, `../../src/components/${component}/README.md`), "utf8");
  const example = readFileSync(join(import.meta.dirname, file), "utf8");
  expect(readme).toContain(`\`\`\`ts\n// toolkit/tests/examples/${file}\n${example}\`\`\`\n`);
});
