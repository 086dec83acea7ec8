import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["*.test.ts", "{engine,toolkit,console}/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // Thousands of tests with real servers, browsers and clocks on a shared machine: one that fails is run once more, and is
    // shown with "(retry x1)" if it passes then. Such a test is to be mended, not left.
    retry: 1,
    // Machines may be busy: what becomes true is waited for.
    expect: { poll: { timeout: 20_000, interval: 50 } },
    // The console's search example reads what apt knows, which differs from machine to machine, and is much.
    env: { CINNABAR_CORPUS: "sample" },
    globalSetup: ["toolkit/src/testing/global-setup.ts"],
  },
});
