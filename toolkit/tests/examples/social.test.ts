/** The example of the social network: it runs, says what is written here, and the README shows it. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeWordsOnPackages } from "../../../scripts/program.ts";

const SAID = [
  "{ status: 'taken' }",
  "followed",
  "followed",
  "{ followers: 1, following: 0, statuses: 2 }",
  "Ada: second, Ada: first null",
  "Ada: first null",
  "1 in the list",
  "blocked blocked",
];

test("social.ts runs and says what it should", async () => {
  const args = nodeWordsOnPackages(join(import.meta.dirname, "social.ts"));
  const said = await new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: 25_000 }, (_, stdout, stderr) => resolve([stdout, stderr]));
  });
  expect(said).toEqual([`${SAID.join("\n")}\n`, ""]);
});

test("social.ts is what the README shows", () => {
  const readme = readFileSync(join(import.meta.dirname, "../../src/components/social/README.md"), "utf8");
  const example = readFileSync(join(import.meta.dirname, "social.ts"), "utf8");
  expect(readme).toContain(`\`\`\`ts\n// toolkit/tests/examples/social.ts\n${example}\`\`\`\n`);
});
