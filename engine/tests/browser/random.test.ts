/** Random commands on the engine in a worker of Chromium and on a real server: equal replies and equal state. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { hasBrowser } from "../../../console/tests/chromium.ts";
import { compareRecorded, RECORDED_SEEDS } from "../conformance/recorded.ts";
import { redisMissing } from "../conformance/redis-server.ts";
import { realTarget, type Target } from "../conformance/target.ts";
import { type BrowserStore, browserStore } from "./target.ts";

describe.skipIf(!hasBrowser || redisMissing() !== undefined)("random commands in a browser", () => {
  let real: Target;
  let store: BrowserStore;
  let ours: Target;

  beforeAll(async () => {
    real = await realTarget();
    store = await browserStore("worker");
    ours = await store.open();
  });
  afterAll(async () => {
    await ours?.close();
    await Promise.all([real?.close(), store?.close()]);
  });

  test.each(RECORDED_SEEDS)("seed %i: the same answers and the same state", { timeout: 600_000 }, async (seed) => {
    await compareRecorded(real, ours, seed);
  });
});
