/**
 * Search against MiniSearch and Orama, on the descriptions of Debian's packages (console/src/examples/corpus.ts): name, summary
 * and related packages of some 60 000 documents. All find the same kind of thing with their default ranking and give the best
 * ten; only ours keeps positions, and only ours is shared by processes. Each in a process of its own (search-subject.ts), one
 * query after the other unless the row says otherwise.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { median, startServer } from "./servers.ts";

export interface SearchRow {
  readonly what: string;
  readonly documents: number;
  readonly indexMs: number;
  /** Queries a second. */
  readonly and: number;
  readonly or: number;
  readonly prefix: number;
  readonly fuzzy: number;
  /** Of the process, and of the server where there is one: after indexing, and after all queries. */
  readonly indexedBytes: number;
  readonly askedBytes: number;
}

const SUBJECTS = [
  "cinnabar, embedded",
  "MiniSearch 7",
  "Orama 3",
  "cinnabar on Redis",
  "cinnabar on Redis, 64 at a time",
] as const;

async function measure(what: string, quick: boolean): Promise<SearchRow> {
  const server = what.includes("Redis") ? await startServer("redis") : undefined;
  const script = join(import.meta.dirname, "search-subject.ts");
  const args = [what, quick ? "3000" : "100000", quick ? "0.2" : "3", String(server?.port ?? 0)];
  const run = promisify(execFile)(
    process.execPath,
    [...process.execArgv, "--expose-gc", "--max-old-space-size=4096", script, ...args],
    { maxBuffer: 1 << 24 },
  );
  const { stdout } = await run.finally(() => server?.stop());
  process.stderr.write(".");
  return JSON.parse(stdout.trim().split("\n").at(-1)!);
}

export async function compareSearch(quick: boolean): Promise<SearchRow[]> {
  const rows = new Map<string, SearchRow[]>(SUBJECTS.map((what) => [what, []]));
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    for (const what of round % 2 === 0 ? SUBJECTS : [...SUBJECTS].reverse())
      rows.get(what)!.push(await measure(what, quick));
  }
  process.stderr.write("\n");
  return [...rows.values()].map((measured) => {
    const middle = (field: Exclude<keyof SearchRow, "what">) => median(measured.map((row) => row[field]));
    return {
      what: measured[0]!.what,
      documents: measured[0]!.documents,
      indexMs: middle("indexMs"),
      and: middle("and"),
      or: middle("or"),
      prefix: middle("prefix"),
      fuzzy: middle("fuzzy"),
      indexedBytes: middle("indexedBytes"),
      askedBytes: middle("askedBytes"),
    };
  });
}

export function searchTable(rows: readonly SearchRow[]): string {
  const whole = (value: number) => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
  const mb = (bytes: number) => whole(bytes / 1e6);
  return [
    `**Search**: ${whole(rows[0]!.documents)} package descriptions; queries a second, and memory after indexing and after the queries`,
    "",
    "| engine | index, s | AND/s | OR/s | prefix/s | fuzzy/s | memory, MB |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ...rows.map(
      (row) =>
        `| ${row.what} | ${(row.indexMs / 1000).toFixed(1)} | ${whole(row.and)} | ${whole(row.or)} | ${whole(row.prefix)} | ${whole(row.fuzzy)} | ${mb(row.indexedBytes)} / ${mb(row.askedBytes)} |`,
    ),
  ].join("\n");
}
