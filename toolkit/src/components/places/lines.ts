/** The lines of CSV files, cut into columns. */
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";

/** A file's path, or a stream of its bytes. */
export type Source = string | Readable;

export type Line = readonly string[];

export async function* lines(source: Source): AsyncGenerator<Line> {
  const { parse } = await import("csv-parse");
  const input = typeof source === "string" ? createReadStream(source) : source;
  const parser = parse({
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    bom: true,
    max_record_size: 65_536,
  });
  input.once("error", (error: Error) => parser.destroy(error));
  yield* input.pipe(parser);
}
