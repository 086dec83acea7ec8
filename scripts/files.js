/** The files below a folder whose names a test accepts; none where there is no folder. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

export function files(folder, accepts) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && accepts(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}
