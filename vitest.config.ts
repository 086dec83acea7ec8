import { defineConfig } from "vitest/config";
import { inlineTextsInVite } from "./scripts/inline-texts.js";

/**
 * They put other modules into the place of Node's, or of ours; or fix the key of all hashes of the process, so that a store which
 * another file has opened would not find its own keys; or look at everything that the process has loaded; or at what is said once
 * for each process.
 */
const ALONE = [
  "console/tests/password.test.ts",
  "engine/src/core/dict.test.ts",
  "engine/src/core/eviction.test.ts",
  "engine/src/core/heap-guard.test.ts",
  "engine/src/core/word-hash.test.ts",
  "engine/src/persist/aof/appender.test.ts",
  "engine/tests/faults/failing-disk.test.ts",
  "toolkit/src/base/options.test.ts",
  "toolkit/src/connection/open.test.ts",
];

const EVERYWHERE = ["**/node_modules/**", "**/dist/**"];

export default defineConfig({
  plugins: [inlineTextsInVite],
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    // For what hangs, not for what is slow: machines may be busy, no test is tried twice, and a browser takes many steps.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Much of the time suites wait for servers and timers: four keep two cores busy.
    maxWorkers: 4,
    // A test that fails has failed: docs/tests.md lists those that cannot be deterministic.
    retry: 0,
    // Machines may be busy: what becomes true is waited for.
    expect: { poll: { timeout: 20_000, interval: 50 } },
    // The console's search example reads what apt knows, which differs from machine to machine, and is much.
    env: { CINNABAR_CORPUS: "sample" },
    globalSetup: ["toolkit/tests/kit/global-setup.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: ["*.test.ts", "{engine,toolkit,console,examples,site}/**/*.test.ts"],
          exclude: [...EVERYWHERE, ...ALONE],
          // Files that run one after the other in a worker share its modules: loading them took a quarter of all processor time.
          isolate: false,
        },
      },
      { extends: true, test: { name: "alone", include: ALONE, exclude: EVERYWHERE } },
    ],
  },
});
