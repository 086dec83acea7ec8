/** The examples of chats and mailboxes: they run, say what is written here, and the README shows them. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeWordsOnPackages } from "../../../scripts/program.ts";

const SAID: Record<string, string[]> = {
  "chats.ts": [
    "true true",
    "ann: lunch?",
    "ben: yes!",
    "[ 'lunch?', 'yes!', 'yes!' ]",
    "2 unread",
    "team 3 0",
    "left",
    "left",
    "deleted",
  ],
  "chats-mailboxes.ts": ["2", "ben your parcel is here", "cid so is mine", "0"],
  "chats-http.ts": ['"sender":"ann","body":"hello"', "1 0"],
};

test.each(Object.entries(SAID))("%s runs and says what it should", async (file, lines) => {
  const args = nodeWordsOnPackages(join(import.meta.dirname, file));
  const said = await new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: 25_000 }, (_, stdout, stderr) => resolve([stdout, stderr]));
  });
  expect(said).toEqual([`${lines.join("\n")}\n`, ""]);
});

test.each(Object.keys(SAID))("%s is what the README shows", (file) => {
  const readme = readFileSync(join(import.meta.dirname, "../../src/components/chats/README.md"), "utf8");
  const example = readFileSync(join(import.meta.dirname, file), "utf8");
  expect(readme).toContain(`\`\`\`ts\n// toolkit/tests/examples/${file}\n${example}\`\`\`\n`);
});
