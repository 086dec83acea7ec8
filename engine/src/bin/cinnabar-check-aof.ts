/** cinnabar-check-aof: says whether an append-only file is sound, and cuts a bad tail off. Ends with 0 if it is sound now. */
import { readSync } from "node:fs";
import { messageOf } from "../lib/caught.ts";
import { checkAof } from "../persist/aof/check.ts";

const HELP = `Usage: cinnabar-check-aof [--fix | --truncate-to-timestamp SECONDS] <file.manifest|file.aof>

Reads an append-only file and prints where the first bad byte is. With --fix, says what would be dropped, asks, and cuts the
file there. Given a manifest, checks all files that it names; only the last of them can be cut.

With --truncate-to-timestamp, drops what was written later than that moment, in seconds since 1970. The file says when it was
written if aof-timestamp-enabled was on.
`;

/** Asks the person at the terminal. */
function confirm(): boolean {
  process.stdout.write("Continue? [y/N]: ");
  const answer = Buffer.alloc(64);
  const length = readSync(0, answer, 0, answer.length, null);
  return answer.latin1Slice(0, length).trim().toLowerCase().startsWith("y");
}

function main(argv: readonly string[]): number {
  if (argv[0] === "-h" || argv[0] === "--help") {
    process.stdout.write(HELP);
    return 0;
  }
  const fix = argv[0] === "--fix";
  const truncates = argv[0] === "--truncate-to-timestamp";
  const path = argv[truncates ? 2 : fix ? 1 : 0];
  if (path === undefined || path.startsWith("--") || argv.length !== (truncates ? 3 : fix ? 2 : 1)) {
    process.stderr.write(HELP);
    return 1;
  }
  const timestamp = truncates ? argv[1] : undefined;
  if (timestamp !== undefined && !/^\d+$/.test(timestamp)) {
    process.stdout.write("Invalid timestamp, aborting...\n");
    return 1;
  }
  const print = (line: string) => process.stdout.write(`${line}\n`);
  try {
    const wanted = timestamp === undefined ? {} : { truncateTo: Number(timestamp) };
    return checkAof(path, { fix, ...wanted, print, confirm }) ? 0 : 1;
  } catch (error) {
    process.stderr.write(`Cannot read ${path}: ${messageOf(error)}\n`);
    return 1;
  }
}

process.exitCode = main(process.argv.slice(2));
