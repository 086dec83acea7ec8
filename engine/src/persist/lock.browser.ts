/** A folder's lock in a browser: who has its files open has it alone, since OPFS gives them to one at a time. */
import { resolve } from "../platform/paths.ts";

const held = new Set<string>();

/** Stores with other names for their append-only files may share a folder. */
export const lockNameOf = (appendDir: string, appendFile: string): string => `${appendDir}/${appendFile}`;

export class DirectoryLocked extends Error {
  override readonly name = "DirectoryLocked";
  readonly isShared = false;
}

export function lockDirectory(
  folder: string,
  { name = "" }: { readonly name?: string; readonly shared?: boolean } = {},
): () => void {
  const path = resolve(folder, name);
  if (held.has(path)) throw new DirectoryLocked(`${folder} is in use: two engines cannot share a data folder`);
  held.add(path);
  return () => held.delete(path);
}
