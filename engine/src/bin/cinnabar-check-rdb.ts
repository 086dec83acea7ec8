/** cinnabar-check-rdb: says what is in an RDB file, and where it is broken. Ends with 0 if it is sound, with 1 if not. */
import { systemClock } from "../core/clock.ts";
import { messageOf } from "../lib/caught.ts";
import { checkRdb } from "../persist/rdb/check.ts";

const HELP = `Usage: cinnabar-check-rdb <rdb-file-name>

Reads an RDB file as a load would, prints what is in it (version, keys and expiries of each database, forms of values),
and for a broken one the offset and the reason. The file is not changed.
`;

function main(argv: readonly string[]): number {
  const [path] = argv;
  if (path === "-h" || path === "--help") {
    process.stdout.write(HELP);
    return 0;
  }
  if (path === undefined || argv.length !== 1) {
    process.stderr.write(HELP);
    return 1;
  }
  try {
    return checkRdb(path, systemClock.now(), (line) => process.stdout.write(`${line}\n`)) ? 0 : 1;
  } catch (error) {
    process.stderr.write(`Cannot read ${path}: ${messageOf(error)}\n`);
    return 1;
  }
}

process.exitCode = main(process.argv.slice(2));
