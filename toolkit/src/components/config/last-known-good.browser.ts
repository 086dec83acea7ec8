/** Browsers have no files for the last configuration that was found good. */
import { UnsupportedError } from "../../base/errors.ts";

export interface Snapshot {
  readonly version: number;
  readonly value: unknown;
}

const unsupported = (file: string): UnsupportedError =>
  new UnsupportedError(
    `a browser has no file "${file}": leave the file out, and open the store in a folder to keep it`,
  );

export async function readSnapshot(file: string): Promise<Snapshot | null> {
  throw unsupported(file);
}

export async function writeSnapshot(file: string, _snapshot: Snapshot): Promise<void> {
  throw unsupported(file);
}
