/**
 * Processes that share a folder are killed at random moments, again and again, while the files grow; what the store has counted
 * must be what a naive count over the files gives. LOG_FILES_KILLS sets how many are killed; a few in the test run.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { nodeWords } from "../../../../scripts/program.ts";
import { installed, startRedis } from "../../../tests/kit/servers.ts";
import { open } from "../../connection/open.ts";
import { LogFiles } from "./index.ts";

const KILLS = Number(process.env.LOG_FILES_KILLS ?? 6);
const FILES = 4;
const LINES = 3_000;

const texts = (file: number, from: number, count: number): string =>
  Array.from({ length: count }, (_, at) => `${file} ${from + at} status=${(from + at) % 7}\n`).join("");

/** Works on the folder until it is killed or finds nothing more; a byte on stdout for each step that it takes. */
function worker(url: string, folder: string): ChildProcess {
  const program = join(import.meta.dirname, "testing/worker.ts");
  const args = [...nodeWords(program), url, folder];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
}

/** Kills it when it has taken so many steps; resolves to whether it was killed, when it is gone. */
function killedAfter(child: ChildProcess, steps: number): Promise<boolean> {
  let seen = 0;
  child.stdout!.on("data", (data: Buffer) => {
    seen += data.length;
    if (seen >= steps) child.kill("SIGKILL");
  });
  return new Promise((resolve) => void child.once("exit", (_, signal) => resolve(signal === "SIGKILL")));
}

test.skipIf(!installed("redis-server"))(
  "processes that are killed at random moments neither skip nor repeat a line",
  { timeout: 120_000 + KILLS * 10_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "cinnabar-logs-"));
    const redis = await startRedis();
    try {
      const seed = Number(process.env.SEED ?? process.pid);
      let state = (seed % 2_147_483_646) + 1;
      const random = (below: number): number => {
        state = (state * 48_271) % 2_147_483_647;
        return state % below;
      };
      const written = Array<number>(FILES).fill(LINES);
      for (let file = 0; file < FILES; file++) writeFileSync(join(folder, `${file}.log`), texts(file, 0, LINES));
      writeFileSync(join(folder, "packed.log.gz"), gzipSync(texts(FILES, 0, LINES)));
      let killed = 0;
      for (let started = 0; started < KILLS; started += 2) {
        const both = [worker(redis.url, folder), worker(redis.url, folder)];
        const ends = await Promise.all(both.map((child) => killedAfter(child, 1 + random(40))));
        killed += ends.filter(Boolean).length;
        const file = random(FILES);
        const more = 1 + random(500);
        appendFileSync(join(folder, `${file}.log`), texts(file, written[file]!, more));
        written[file]! += more;
      }
      expect(killed, `seed ${seed}`).toBeGreaterThan(0);
      expect(await killedAfter(worker(redis.url, folder), Number.POSITIVE_INFINITY)).toBe(false);

      const expected: Record<string, number> = {};
      const naive = (line: string): void => {
        const status = line.split("=")[1] as string;
        expected[status] = (expected[status] ?? 0) + 1;
      };
      for (let file = 0; file < FILES; file++) {
        readFileSync(join(folder, `${file}.log`), "utf8")
          .trimEnd()
          .split("\n")
          .forEach(naive);
      }
      texts(FILES, 0, LINES).trimEnd().split("\n").forEach(naive);
      const store = await open(redis.url);
      const logs = new LogFiles(store, "crash");
      const flat = (await store.call("HGETALL", logs.key("by status"))) as string[];
      const lines = await store.call("SCARD", logs.key("lines"));
      await store.close();
      const counted = Object.fromEntries(flat.flatMap((field, at) => (at % 2 ? [] : [[field, Number(flat[at + 1])]])));
      expect(counted, `seed ${seed}`).toEqual(expected);
      expect(lines, `seed ${seed}`).toBe(Object.values(expected).reduce((sum, each) => sum + each, 0));
    } finally {
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
