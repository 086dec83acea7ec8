import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["*.test.ts", "{engine,toolkit,console,examples,site}/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    // For what hangs, not for what is slow: machines may be busy, and no test is tried twice.
    testTimeout: 60_000,
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
  },
});
