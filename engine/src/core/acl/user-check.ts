/** For `user` lines of a configuration, before there is an engine. */
import { table } from "../parts.ts";
import { Catalog } from "./catalog.ts";
import { lineFault } from "./index.ts";

/** Tells what is wrong with the words of one `user` line after the other; undefined if nothing is. */
export function userCheck(): (words: readonly string[]) => string | undefined {
  const seen = new Set<string>();
  return (words) => lineFault({ catalog: Catalog.of(table), allChannels: false }, words, seen);
}
