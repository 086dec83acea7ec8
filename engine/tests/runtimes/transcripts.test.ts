/** Every transcript, on the server as it is shipped, run by Bun and by Deno, and on a real server. In the full run. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { full } from "../../../scripts/full.ts";
import { CONFORMANCE, transcriptFiles } from "../conformance/files.ts";
import { redisMissing } from "../conformance/redis-server.ts";
import { differences } from "../conformance/replays.ts";
import { realTarget, type Target } from "../conformance/target.ts";
import { RUNTIMES, startOn } from "./target.ts";

/** JavaScriptCore leaves the frame of a function whose last act is a call: errors that are raised there lack the script's line. */
const NO_PLACE = "errors in a call that a script ends with do not name their line";

/** What differs, by file, and why. */
const KNOWN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Bun: Object.fromEntries(
    [
      ...[
        "acl/calls",
        "function/call",
        "function/globals",
        "function/read-only",
        "function/register",
        "function/state",
      ],
      ...["replication/read-only", "replication/standalone", "script/calls", "script/eval", "script/flags"],
      ...["script/monitored-failures", "server/persistence"],
    ].map((file) => [`${file}.redis`, NO_PLACE]),
  ),
  Deno: {},
};

describe.skipIf(!full || redisMissing() !== undefined).each(RUNTIMES)("transcripts on $name", (runtime) => {
  const { name } = runtime;
  let real: Target;
  let dir: string;

  beforeAll(async () => {
    real = await realTarget();
    dir = mkdtempSync(join(tmpdir(), "cinnabar-runtime-"));
  });
  afterAll(async () => {
    await real?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test.each(transcriptFiles())("%s", { timeout: 60_000 }, async (file) => {
    const ours = await startOn(runtime, dir);
    try {
      const text = readFileSync(join(CONFORMANCE, file), "utf8");
      const found = await differences(`engine/tests/conformance/${file}`, text, real, ours);
      if (KNOWN[name]![file] !== undefined) expect(found.length, "it differs no more").toBeGreaterThan(0);
      else if (found.length > 0) expect.fail(`${found.length} differences\n\n${found.join("\n\n")}`);
    } finally {
      await ours.close();
    }
  });
});
