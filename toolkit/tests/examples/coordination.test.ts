/** The examples of elections, latches, barriers, ids, the executor and topics: they run and say what is written here. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeWordsOnPackages } from "../../../scripts/program.ts";

const SAID: Record<string, string[]> = {
  "elections.ts": ["host-1 leads true", "host-1 leads, host-2 waits", "host-2 leads true", "nobody leads: null"],
  "latches.ts": ["true false", "2 left", "2 left", "open", "open not-found"],
  "barriers.ts": [
    "all have come, generation 1",
    "all have come, generation 2",
    "timeout",
    "{ generation: 2, parties: 3, arrived: 0, waiting: [] }",
  ],
  "ids.ts": ["1 2 [ 3, 4, 5 ]", "20001", "true 26 36", "true"],
  "executor.ts": [
    "{ status: 'done', result: 'hello ann' }",
    "[ { task: 'greet', data: { name: 'bob' } } ]",
    "cancelled",
    "runs for pulse",
    "[ { name: 'digest', task: 'report' } ]",
    "true",
  ],
  "topics.ts": [
    "CNB 1250 0",
    "once: published",
    "once: duplicate",
    "behind by 4",
    "dead letter: 2",
    "no price, attempt 3 3",
    "again 1 0",
    "again 2 0",
    "again 3 0",
    "again 4 0",
  ],
};

test.each(Object.entries(SAID))("%s runs and says what it should", (file, lines) => {
  const args = nodeWordsOnPackages(join(import.meta.dirname, file));
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 50_000 });
  expect(stderr).toBe("");
  expect(stdout.trim().split("\n")).toEqual(lines);
});
