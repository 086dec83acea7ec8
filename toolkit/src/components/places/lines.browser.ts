/** Browsers have neither files nor streams of Node's. */
import { UnsupportedError } from "../../base/errors.ts";

export type Source = string;

export type Line = readonly string[];

// biome-ignore lint/correctness/useYield: it has the shape of what stands here in Node.
export async function* lines(_source: Source): AsyncGenerator<Line> {
  throw new UnsupportedError(
    "a browser has no files to read places from: give load() the rows: { from, to, place }, with addresses as text",
  );
}
