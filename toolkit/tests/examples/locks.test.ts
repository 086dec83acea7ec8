/** The examples of locks and semaphores: they run, say what is written here, and the READMEs show them. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeWordsOnPackages } from "../../../scripts/program.ts";

const SAID: Record<string, string[]> = {
  "locks.ts": ["mine true true", "total 42", "writer null", "handed on true true"],
  "locks-fence.ts": ["the new holder writes: 1", "the old one is refused: 0"],
  "locks-quorum.ts": ["next true", "still held true true", "writer null", "both true"],
  "semaphores.ts": ["paid", "a fourth: null", "{ limit: 5, used: 5, waiting: 0 }"],
};

test.each(Object.entries(SAID))("%s runs and says what it should", (file, lines) => {
  const args = nodeWordsOnPackages(join(import.meta.dirname, file));
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 25_000 });
  expect(stderr).toBe("");
  expect(stdout.trim().split("\n")).toEqual(lines);
});

test.each(Object.keys(SAID))("%s is what the README shows", (file) => {
  const component = file.startsWith("locks") ? "locks" : "semaphores";
  const readme = readFileSync(join(import.meta.dirname, `../../src/components/${component}/README.md`), "utf8");
  const example = readFileSync(join(import.meta.dirname, file), "utf8");
  expect(readme).toContain(`\`\`\`ts\n// toolkit/tests/examples/${file}\n${example}\`\`\`\n`);
});
