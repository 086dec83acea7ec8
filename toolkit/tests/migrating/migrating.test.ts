/** The guides for moving here: each program before and after a move says the same, on a real Redis, and ours on the embedded store too. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { full } from "../../../scripts/full.ts";
import { nodeWordsOnPackages } from "../../../scripts/program.ts";
import { installed, type ServerProcess, startRedis } from "../kit/servers.ts";

const GUIDES = join(import.meta.dirname, "../../../docs/migrating");

const SAID: Record<
  string,
  { readonly programs: readonly [before: string, after: string]; readonly lines: readonly string[] }
> = {
  bullmq: {
    programs: ["bullmq-before.ts", "bullmq-after.ts"],
    lines: ["welcome sent to ann", "welcome sent to ben", "reminder sent to cid", "nightly 0", "done 3"],
  },
  bull: {
    programs: ["bull-before.ts", "bull-after.ts"],
    lines: ["a.png is small", "not an image", "attempts 2", "1 done, 1 failed, 1 waiting"],
  },
  "bee-queue": { programs: ["bee-queue-before.ts", "bee-queue-after.ts"], lines: ["3", "10", "4", "done 3"] },
  redlock: {
    programs: ["redlock-before.ts", "redlock-after.ts"],
    lines: ["second refused", "extended true", "again true"],
  },
  "connect-redis": {
    programs: ["connect-redis-before.ts", "connect-redis-after.ts"],
    lines: ["visit 1", "visit 2", "bye", "visit 1"],
  },
  "rate-limiter-flexible": {
    programs: ["rate-limiter-flexible-before.ts", "rate-limiter-flexible-after.ts"],
    lines: ["allowed 2", "allowed 1", "allowed 0", "refused true", "left 1"],
  },
  "node-cache": {
    programs: ["node-cache-before.ts", "node-cache-after.ts"],
    lines: ["product 17 product 17 loads 1", "true 1 null", "A B", "null"],
  },
  bentocache: {
    programs: ["bentocache-before.ts", "bentocache-after.ts"],
    lines: ["1 loads 1", "product 17 loads 2", "product 18 true null"],
  },
  "ioredis-mock": {
    programs: ["ioredis-mock-before.ts", "ioredis-mock-after.ts"],
    lines: ["1 -1", "1 1 ann", "refused"],
  },
  ioredis: {
    programs: ["ioredis-before.ts", "ioredis-after.ts"],
    lines: [
      "hello null",
      `{"name":"ann","visits":"1"} [ 'ben', 'ann' ]`,
      "1 10",
      "6 -1",
      "it works",
      "12",
      "[ 'work', 'first' ]",
      "[ 'user:1' ]",
    ],
  },
};

async function said(program: string, url: string | undefined): Promise<string[]> {
  const { REDIS_URL: _, ...env } = process.env;
  const args = nodeWordsOnPackages(join(import.meta.dirname, program));
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...env, ...(url === undefined ? {} : { REDIS_URL: url }) },
    timeout: 50_000,
  });
  return stdout.trimEnd().split("\n");
}

describe.runIf(installed("redis-server")).each(Object.entries(SAID))(
  "from %s",
  (guide, { programs: [before, after], lines }) => {
    let redis: ServerProcess;

    beforeAll(async () => {
      redis = await startRedis();
    });

    afterAll(() => redis?.stop());

    test("the program before", async () => {
      expect(await said(before, redis.url)).toEqual(lines);
    });

    test("the program after, on the same server", async () => {
      expect(await said(after, redis.url)).toEqual(lines);
    });

    test.runIf(full)("the program after, in the process", async () => {
      expect(await said(after, undefined)).toEqual(lines);
    });

    test("the guide shows both", () => {
      const text = readFileSync(join(GUIDES, `${guide}.md`), "utf8");
      for (const program of [before, after]) expect(text).toContain(`// toolkit/tests/migrating/${program}\n`);
    });
  },
);
