/** Every transcript, on the engine and on a real server: equal, line by line. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CONFORMANCE, transcriptFiles } from "./files.ts";
import { redisMissing } from "./redis-server.ts";
import { differences } from "./replays.ts";
import { engineTarget, realTarget, type Target } from "./target.ts";

const missing = redisMissing();
if (missing !== undefined) console.warn(`Transcripts are skipped: ${missing}`);

describe.skipIf(missing !== undefined)("transcripts", () => {
  let real: Target;

  beforeAll(async () => {
    real = await realTarget();
  });
  afterAll(() => real?.close());

  test.each(transcriptFiles())("%s", { timeout: 60_000 }, async (file) => {
    const ours = await engineTarget();
    try {
      const text = readFileSync(join(CONFORMANCE, file), "utf8");
      const found = await differences(`engine/tests/conformance/${file}`, text, real, ours);
      if (found.length > 0) expect.fail(`${found.length} differences\n\n${found.join("\n\n")}`);
    } finally {
      await ours.close();
    }
  });
});
