/** The examples of ads and of the job search: they run, say what is written here, and the READMEs show them. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeWordsOnPackages } from "../../../scripts/program.ts";

const SAID: Record<string, string[]> = {
  "ads.ts": [
    "shoes [ 'marathon', 'running' ] Run faster.",
    "{ status: 'counted', chargedMicros: 250000 }",
    "{ status: 'counted', chargedMicros: 250000 }",
    "{ status: 'refused', reason: 'duplicate' }",
    "soap",
    "soap",
    "undefined",
    "250000 1 click in 1 view",
  ],
  "job-search.ts": [
    "1 1",
    "pages 0 []",
    "backend 2 [ { skill: 'redis', level: 0, years: 3, has: { level: 0, years: 1 } } ]",
    "Backend engineer 27 km",
    "[ 'ann' ]",
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
  const readme = readFileSync(
    join(import.meta.dirname, `../../src/components/${file.replace(".ts", "")}/README.md`),
    "utf8",
  );
  const example = readFileSync(join(import.meta.dirname, file), "utf8");
  expect(readme).toContain(`\`\`\`ts\n// toolkit/tests/examples/${file}\n${example}\`\`\`\n`);
});
