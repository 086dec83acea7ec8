/**
 * Plays transcripts and prints the answers: `node --conditions=source --import tsx engine/tests/conformance/replay.ts FILE…`
 * `--real` asks only the real server; `--differences` prints only where the two part. Exit code 1 if they do.
 */
import { readFileSync } from "node:fs";
import { print } from "./print.ts";
import { describeDifference, replay } from "./replays.ts";
import { engineTarget, realTarget } from "./target.ts";
import { TranscriptError } from "./transcript.ts";

const options = process.argv.slice(2).filter((word) => word.startsWith("--"));
const files = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const realOnly = options.includes("--real");
const quiet = options.includes("--differences");
if (files.length === 0) {
  console.error("usage: replay.ts [--real] [--differences] FILE…");
  process.exit(2);
}

let parted = 0;
const real = await realTarget();
try {
  for (const file of files) {
    const ours = await (realOnly ? realTarget() : engineTarget());
    let lines = 0;
    try {
      await replay(readFileSync(file, "utf8"), real, ours, (played) => {
        lines++;
        if (!played.equal) {
          parted++;
          console.log(`✗ ${describeDifference(file, played, real, ours)}\n`);
        } else if (!quiet && played.line !== undefined) {
          console.log(`${file}:${played.line.number}  ${played.line.source}\n    ${print(played.real, "    ")}`);
        }
      });
    } catch (error) {
      if (!(error instanceof TranscriptError)) throw error;
      parted++;
      console.log(`✗ ${file}:${error.line}  ${error.message}`);
    } finally {
      await ours.close();
    }
    if (quiet) console.log(`${file}: ${lines} answers compared`);
  }
} finally {
  await real.close();
}
process.exitCode = parted > 0 ? 1 : 0;
