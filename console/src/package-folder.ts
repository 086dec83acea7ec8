/**
 * The folder of this package. Files that are read while it runs (the page, the documentation, the sources of the examples) are named
 * from there, since a bundler puts the code that reads them into any file.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

function above(folder: string): string {
  return existsSync(join(folder, "package.json")) ? folder : above(dirname(folder));
}

export const PACKAGE_FOLDER = above(dirname(fileURLToPath(import.meta.url)));
