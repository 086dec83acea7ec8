/** The examples of search: they run, say what is written here, and the README shows them. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeWordsOnPackages } from "../../../scripts/program.ts";

const SAID: Record<string, string[]> = {
  "search.ts": [
    "walks → [ 'dunes', 'tides' ]",
    "walks -sea → [ 'dunes' ]",
    "\"dried up\" → [ 'salt' ]",
    "trav* → [ 'dunes' ]",
    "desrt~ → [ 'salt' ]",
    "sea year:[2000 TO 2015] → [ 'tides' ]",
    "(tides OR salt) subjects:{sea} → [ 'tides', 'salt' ]",
    "2 <mark>Seas</mark> that dried up, and deserts [ { value: 'sea', count: 2 }, { value: 'deserts', count: 1 } ]",
    "[ 'dunes 10.7', 'tides 0.4' ]",
    "[ 'salt' ]",
    "[ 'every word of the query is a stop word' ]",
  ],
  "search-sharded.ts": ["100 [ 'note 42' ]", "true 100 [ 'note 42' ]"],
};

test.each(Object.entries(SAID))("%s runs and says what it should", async (file, lines) => {
  const args = nodeWordsOnPackages(join(import.meta.dirname, file));
  const said = await new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: 25_000 }, (_, stdout, stderr) => resolve([stdout, stderr]));
  });
  expect(said).toEqual([`${lines.join("\n")}\n`, ""]);
});

test.each(Object.keys(SAID))("%s is what the README shows", (file) => {
  const readme = readFileSync(join(import.meta.dirname, "../../src/components/search/README.md"), "utf8");
  const example = readFileSync(join(import.meta.dirname, file), "utf8");
  expect(readme).toContain(`\`\`\`ts\n// toolkit/tests/examples/${file}\n${example}\`\`\`\n`);
});
