/** The keys of a set of log files. One tag: what the lines do must be committed together with how far the files are read. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("log-files");

export interface LogFilesKeys {
  readonly base: string;
  /** Sorted set: file by when it was last looked at, in milliseconds. */
  readonly index: string;
}

export function logFilesKeys(prefix: string, name: string): LogFilesKeys {
  const base = tagged(prefix, name, "set of log files");
  return { base, index: `${base}:index` };
}

/** Hash: how far a file is read (`offset`, `lines`, `tail`), as which `path`, and who is at it (`owner`, `until`). */
export const fileKey = (base: string, id: string): string => `${base}:file:${id}`;

/** Keys of the caller's own, in the same slot. */
export const ownKey = (base: string, name: string): string => `${base}:own:${name}`;
