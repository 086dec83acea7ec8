/** Programs that tests start in processes of their own, as Node takes them. */
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const PROGRAMS = join(ROOT, "node_modules/.cinnabar-programs");

/** What a run of the tests has made of a file (scripts/test-programs.js); undefined outside of one, where it may be old. */
function made(file: string, folder: string): string | undefined {
  if (process.env.CINNABAR_TEST_RUN === undefined) return undefined;
  const path = join(PROGRAMS, folder, relative(ROOT, file).replace(/\.ts$/, ".mjs"));
  return existsSync(path) ? path : undefined;
}

/** The words for Node that start a program of ours, from the sources as they are. */
export function nodeWords(file: string): string[] {
  const program = made(file, ".");
  return program === undefined ? ["--conditions=source", "--import", import.meta.resolve("tsx"), file] : [program];
}

/** The same for a program that imports the packages as users do: it runs on what is shipped. */
export function nodeWordsOnPackages(file: string): string[] {
  const program = made(file, "on-packages");
  return program === undefined ? ["--import", import.meta.resolve("tsx"), file] : [program];
}
