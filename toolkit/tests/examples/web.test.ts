/** The examples of the components for the web and for operations: they run, say what is written here, and the READMEs show them. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeWordsOnPackages } from "../../../scripts/program.ts";

const SAID: Record<string, string[]> = {
  "autocomplete.ts": [
    "[ 'Zachary', 'Zoë' ] [ 'Zoë' ]",
    "[ 'Jürgen' ] [ 'Юлия' ]",
    "{ names: [ 'Jupp', 'Jürgen' ], exact: true }",
    "2",
  ],
  "cache.ts": ["Set(1) { 'product 17' } loads 1", "null", "fresh true"],
  "cache-more.ts": [
    "[ 'Ann', 'user 2', 'user 3' ]",
    "true false",
    "{ name: 'Eve' }",
    "{ name: 'Fay' }",
    "1 null",
    "[ null, null, null ]",
  ],
  "cache-http.ts": ["MISS product 17, rendered 1", "HIT product 17, rendered 1", "MISS product 17, rendered 2"],
  "carts.ts": [
    "2",
    "1",
    "[",
    "  { item: 'book:17', quantity: 2, price: 1999 },",
    "  { item: 'pen', quantity: 5, price: 250 }",
    "] []",
    "[]",
  ],
  "counters.ts": [
    "120 5",
    "[",
    "      1000,     5000,",
    "     60000,   300000,",
    "   3600000, 18000000,",
    "  86400000",
    "]",
    "1000",
    "[ 'hits', 'jobs' ]",
  ],
  "log-files.ts": ["2", "2 [ 'done', 'done' ]", "[ '200', '3', '404', '1' ] 3"],
  "logs-pino.ts": ["user 17 signed in { user: 'ann' }", "cannot print out of paper"],
  "logs.ts": ["user 19 signed in", "[ { message: 'user # signed in', count: 3 } ]", "cannot print out of paper"],
  "market.ts": [
    "{ status: 'deposited', funds: 1000 }",
    "{ status: 'conflict' }",
    "{ status: 'offered' }",
    "{ status: 'price-changed', price: 900 }",
    "{ status: 'bought', price: 900, seller: 'ann' }",
    "{ status: 'not-found' }",
    "900 100 [ 'sword' ] ben",
    "[ { item: 'sword', price: 1200, seller: 'ben' } ]",
    "{ status: 'retracted' } { status: 'withdrawn', funds: 0 }",
  ],
  "places-csv.ts": ["4 rows, 1 bad", "3 ranges; there is no range of addresses in it", "{ country: 'FR' }"],
  "places.ts": [
    "3 ranges; there is no range of addresses in it",
    "{ place: { country: 'IT' }, from: '2.16.0.0', to: '2.16.255.255' }",
    "[ 'FR', 'DE', undefined ]",
  ],
  "rate-limits.ts": ["true 9 0", "true false", "true", "true", "false", "2"],
  "rate-limits-block.ts": ["7", "false 0", "true 2", "false true true", "true"],
  "rate-limits-http.ts": ["ann 200 0 null", "ann 429 0 3600", "ben 200 0 null"],
  "replication.ts": ["{ answer: 'OK', replicas: 0, onDisk: null, enough: false }", "false 0"],
  "row-cache.ts": ["{ stock: 5 }", "null 0"],
  "sessions.ts": [
    "ann { theme: 'dark' } [ 'item:17' ]",
    "the old token: null",
    "light 3 conflict",
    "[ false, true ]",
    "ended 1",
  ],
  "sessions-http.ts": ["somebody", "Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax", "ann", "somebody"],
  "sessions-express-session.ts": ["visit 1", "visit 2"],
  "stats.ts": ["5 1 10 4 3.54", "3 4", "rendered [ { context: '/report', meanMs: 2000 } ]"],
  "views.ts": ["[ '0 /products/17', '1 /products/18', '2 /about' ]", "2 null", "true"],
  "board.ts": [
    "changed",
    "changed 2 up",
    "[ 'A link', 'Another' ]",
    "1 in the group; next page: null",
    "1 in both groups",
    "ben's vote 1",
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
  const component = file.replace(/(-http|-express-session|-block|-more|-csv|-pino)?\.ts$/, "");
  const readme = readFileSync(join(import.meta.dirname, `../../src/components/${component}/README.md`), "utf8");
  const example = readFileSync(join(import.meta.dirname, file), "utf8");
  expect(readme).toContain(`\`\`\`ts\n// toolkit/tests/examples/${file}\n${example}\`\`\`\n`);
});
