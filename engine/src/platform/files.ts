/** Files and folders. A store waits for the disk before it acknowledges, so most of these wait too. */
import { close, fsync, open } from "node:fs";
import { open as openHandle } from "node:fs/promises";
import { promisify } from "node:util";

export {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  unlink,
  write,
  writeFileSync,
  writeSync,
} from "node:fs";

/** What a call throws that the disk has refused. */
export type FileError = NodeJS.ErrnoException;

export const opened = promisify(open);
export const synced = promisify(fsync);
export const closed = promisify(close);

/** A file that is read piece by piece while others write elsewhere. */
export interface ReadHandle {
  read(into: Uint8Array, at: number, length: number, from: number): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

export const openForReading = (path: string): Promise<ReadHandle> => openHandle(path);
