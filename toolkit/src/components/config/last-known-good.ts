/** The last configuration that was found good, in a file: what a process starts with when the store cannot be reached. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { randomToken } from "../../base/clock.ts";

export interface Snapshot {
  readonly version: number;
  readonly value: unknown;
}

/** Null when there is no such file, or one that is no snapshot: a torn or foreign file is as good as none. */
export async function readSnapshot(file: string): Promise<Snapshot | null> {
  try {
    const read: unknown = JSON.parse(await readFile(file, "utf8"));
    if (typeof read !== "object" || read === null || !("version" in read) || !("value" in read)) return null;
    return typeof read.version === "number" ? { version: read.version, value: read.value } : null;
  } catch {
    return null;
  }
}

/** Whole or not at all: written beside, then put in place. */
export async function writeSnapshot(file: string, snapshot: Snapshot): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const beside = `${file}.${randomToken()}`;
  await writeFile(beside, JSON.stringify(snapshot), { mode: 0o600 });
  await rename(beside, file);
}
