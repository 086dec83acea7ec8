/** Files of folders, for the scripts. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The files below a folder whose names a test accepts; none where there is no folder. */
export function files(folder, accepts) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && accepts(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

/**
 * Puts the outputs of esbuild into a folder. Programs may be running from these files: files without a change stay, and files that
 * are not needed any more go last.
 */
export function replaceFiles(folder, outputs, isMade) {
  for (const { path, contents } of outputs) {
    if (existsSync(path) && readFileSync(path).equals(contents)) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
  const made = new Set(outputs.map(({ path }) => path));
  for (const old of files(folder, (name) => /\.m?js(\.map)?$/.test(name)))
    if (!made.has(old) && isMade(old)) rmSync(old);
}
