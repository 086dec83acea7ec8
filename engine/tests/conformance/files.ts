/** Where the transcripts are. */
import { readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const CONFORMANCE = dirname(fileURLToPath(import.meta.url));

/** Every `.redis` file below this folder, by its path from here, in order. */
export function transcriptFiles(): string[] {
  return readdirSync(CONFORMANCE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".redis"))
    .map((entry) => relative(CONFORMANCE, join(entry.parentPath, entry.name)))
    .sort();
}
