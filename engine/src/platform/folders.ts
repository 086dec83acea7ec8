/** Folders that stores are kept in. */
import { mkdirSync } from "node:fs";

/** Makes a folder ready for use; resolves with what lets go of it. */
export async function openFolder(path: string): Promise<() => void> {
  mkdirSync(path, { recursive: true });
  return () => {};
}
