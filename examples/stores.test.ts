/** The examples of stores for other libraries. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeStores, printed, type Running, started } from "./running.ts";

const SAID: Readonly<Record<string, readonly string[]>> = {
  "keyv.ts": ["{ name: 'Ann' } false", "undefined"],
  "cache-manager.ts": ["{ id: 17, loads: 1 } { id: 17, loads: 1 }", "{ id: 17, loads: 2 }"],
  "unstorage.ts": ["{ name: 'Ann' } [ 'users:17' ]", "null"],
};

describe.each(Object.entries(SAID))("%s", (file, lines) => {
  describeStores(file, (env) => {
    test("says what it kept", async () => {
      expect(await printed(file, env())).toEqual(lines);
    });
  });
});

describe.each(["express-rate-limit.ts", "fastify-rate-limit.ts"])("%s", (file) => {
  describeStores(file, (env) => {
    let example: Running;
    beforeAll(async () => {
      example = await started(file, env());
    });
    afterAll(() => example.stop());

    test("refuses the third request", async () => {
      const statuses: number[] = [];
      for (let at = 0; at < 3; at++) statuses.push((await fetch(example.url)).status);
      expect(statuses).toEqual([200, 200, 429]);
    });
  });
});
