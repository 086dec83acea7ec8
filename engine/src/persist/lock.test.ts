/** Who gets the lock of a folder. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DirectoryLocked, lockDirectory } from "./lock.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cinnabar-lock-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const DEAD = "999999999 1 999999999 shared\n";

test("a lock says whether others may join, and leaves nothing behind", () => {
  const unlock = lockDirectory(folder, { shared: true });
  expect(readFileSync(join(folder, "cinnabar.lock"), "latin1")).toMatch(/^\d+ \d* \d+ shared\n$/);
  expect(() => lockDirectory(folder)).toThrow(expect.objectContaining({ pid: process.pid, isShared: true }));
  unlock();
  const alone = lockDirectory(folder);
  expect(() => lockDirectory(folder)).toThrow(expect.objectContaining({ isShared: false }));
  alone();
  expect(readdirSync(folder)).toEqual([]);
});

test("locks of dead processes are taken over, those for taking over included", () => {
  for (const name of ["", ".takeover", ".takeover.takeover"]) writeFileSync(join(folder, `cinnabar.lock${name}`), DEAD);
  lockDirectory(folder)();
  expect(readdirSync(folder)).toEqual([]);
});

test("while somebody takes a lock over, others are refused", () => {
  writeFileSync(join(folder, "cinnabar.lock"), DEAD);
  writeFileSync(join(folder, "cinnabar.lock.takeover"), "1 \n");
  expect(() => lockDirectory(folder)).toThrow(DirectoryLocked);
  expect(readFileSync(join(folder, "cinnabar.lock"), "latin1")).toBe(DEAD);
});

test("of threads that find the lock of a dead process at the same moment, one gets it", async () => {
  const program = join(folder, "..", `lock-${process.pid}.mjs`);
  const entry = new URL("./lock.ts", import.meta.url).pathname;
  await build({ entryPoints: [entry], bundle: true, platform: "node", format: "esm", outfile: program });
  const source = `
    const { workerData, parentPort } = require("node:worker_threads");
    import(workerData.program).then(({ lockDirectory }) => {
      const start = new Int32Array(workerData.start);
      const tries = [];
      for (let round = 0; round < workerData.folders.length; round++) {
        parentPort.postMessage("ready");
        Atomics.wait(start, 0, round);
        try {
          lockDirectory(workerData.folders[round]);
          tries.push(true);
        } catch (error) {
          if (error.name !== "DirectoryLocked") throw error;
          tries.push(false);
        }
      }
      parentPort.postMessage(tries);
      parentPort.on("message", () => {}); // and lives on: its locks count
    });
  `;
  const folders = Array.from({ length: 40 }, () => mkdtempSync(join(folder, "contended-")));
  for (const each of folders) writeFileSync(join(each, "cinnabar.lock"), DEAD);
  const start = new SharedArrayBuffer(4);
  const threads = Array.from(
    { length: 4 },
    () => new Worker(source, { eval: true, workerData: { program, folders, start } }),
  );
  let ready = 0;
  const results = await Promise.all(
    threads.map(
      (thread) =>
        new Promise<boolean[]>((resolve, reject) => {
          thread.on("error", reject);
          thread.on("message", (message: "ready" | boolean[]) => {
            if (message !== "ready") resolve(message);
            else if (++ready % threads.length === 0) {
              Atomics.add(new Int32Array(start), 0, 1);
              Atomics.notify(new Int32Array(start), 0);
            }
          });
        }),
    ),
  );
  for (const thread of threads) await thread.terminate();
  rmSync(program);
  const winners = folders.map((_, round) => results.filter((tries) => tries[round]).length);
  expect(winners).toEqual(folders.map(() => 1));
});
