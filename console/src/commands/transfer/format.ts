/** Which form a file has: as told, or by the end of its name. */
import { UsageError } from "../../options.ts";

export const FORMATS = ["rdb", "aof", "jsonl", "commands"] as const;
export type FileFormat = (typeof FORMATS)[number];

const ENDINGS: Readonly<Record<string, FileFormat>> = {
  rdb: "rdb",
  aof: "aof",
  jsonl: "jsonl",
  ndjson: "jsonl",
  txt: "commands",
  redis: "commands",
};

export function formatOf(told: string | undefined, file: string): FileFormat {
  const name = told ?? ENDINGS[/\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? ""];
  const format = FORMATS.find((each) => each === name);
  if (format !== undefined) return format;
  throw new UsageError(`the name '${file}' does not say its format: give --format ${FORMATS.join("|")}`);
}
