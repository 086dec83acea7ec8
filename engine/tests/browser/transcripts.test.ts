/** Every transcript, on the engine in Chromium and on a real server: equal, line by line, but for what a browser cannot do. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser } from "../../../console/tests/chromium.ts";
import { CONFORMANCE, transcriptFiles } from "../conformance/files.ts";
import { redisMissing } from "../conformance/redis-server.ts";
import { differences } from "../conformance/replays.ts";
import { realTarget, type Target } from "../conformance/target.ts";
import { type BrowserStore, browserStore } from "./target.ts";

const isReady = hasBrowser && redisMissing() === undefined;

/** Files whose lines show what depends on how the engine is built and run; all files are played in the full run. */
const FEW =
  /^(string\/|hash\/fields|list\/moves|script|function\/call|connection\/client-kill|generic\/migrate|server\/latency)/;

describe.skipIf(!isReady).each(["worker", "page"] as const)("transcripts in a browser, on a %s", (where) => {
  let real: Target;
  let store: BrowserStore;

  beforeAll(async () => {
    real = await realTarget();
    store = await browserStore(where);
  });
  afterAll(async () => {
    await store?.close();
    await real?.close();
  });

  const files = transcriptFiles().filter((file) => process.env.FULL !== undefined || FEW.test(file));
  test.each(files)("%s", { timeout: 60_000 }, async (file) => {
    const ours = await store.open();
    const text = readFileSync(join(CONFORMANCE, file), "utf8");
    const found = await differences(`engine/tests/conformance/${file}`, text, real, ours);
    await ours.close();
    if (found.length > 0) expect.fail(`${found.length} differences\n\n${found.join("\n\n")}`);
  });
});
