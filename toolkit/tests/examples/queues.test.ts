/** The examples of queues: they run, say what is written here, and the README shows them. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SAID: Record<string, string[]> = {
  "queues.ts": [
    "{ status: 'done', result: 'sent to ada@example.org' }",
    "no address: nobody",
    "added",
    "duplicate",
    "1 delayed",
  ],
  "queues-small.ts": ["now, soon, one, two, in a moment"],
  "queues-flow.ts": ["{ status: 'done', result: 700 }", "sold 1900"],
};

test.each(Object.entries(SAID))("%s runs and says what it should", (file, lines) => {
  const args = ["--conditions=source", "--import", "tsx", join(import.meta.dirname, file)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 25_000 });
  expect(stderr).toBe("");
  expect(stdout.trim().split("\n")).toEqual(lines);
});

test.each(Object.keys(SAID))("%s is what the README shows", (file) => {
  const readme = readFileSync(join(import.meta.dirname, "../../src/components/queues/README.md"), "utf8");
  const example = readFileSync(join(import.meta.dirname, file), "utf8");
  expect(readme).toContain(`\`\`\`ts\n// toolkit/tests/examples/${file}\n${example}\`\`\`\n`);
});
