/**
 * The keys of a channel of files. They all have the channel's tag: a block is stored only if the whole channel stays within its
 * budget, and freed when the last of the channel's readers has passed it, and both must be one step. So the channel is the unit
 * that lives on one node; several channels spread.
 */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("files");

export interface ChannelKeys {
  /** Beginning of all keys of the channel, which scripts complete by the number of a file or the name of a reader. */
  readonly base: string;
  /** Hash: `bytes` that are stored in blocks now, `files` announced so far. */
  readonly channel: string;
  /** Sorted set: name of each file by its number. */
  readonly files: string;
  /** Sorted set: numbers of the files that are still being written. */
  readonly open: string;
  /** Sorted set: names of files that everybody has read, by number; the last so many. */
  readonly ended: string;
  /** Sorted set: reader by the end of its lease. */
  readonly readers: string;
  /** Where everybody is told what has happened: "b" blocks or the end of a file, "f" a file, "r" room. */
  readonly signal: string;
  /** Hash of a file: name, status, size, crc, blocks, first … */
  file(number: number): string;
  /** Hash: block by its number, a checksum of four bytes before its bytes. */
  blocks(number: number): string;
  /** Sorted set: reader by the first block that it still needs. */
  at(number: number): string;
  /** Hash of a reader: its token, and how far it is by number of file. */
  reader(name: string): string;
  /** Hash: totals that readers commit together with how far they are. */
  total(name: string): string;
}

export function channelKeys(prefix: string, name: string): ChannelKeys {
  const base = tagged(prefix, name, "channel of files");
  return {
    base,
    channel: `${base}:channel`,
    files: `${base}:files`,
    open: `${base}:open`,
    ended: `${base}:ended`,
    readers: `${base}:readers`,
    signal: `${base}:signal`,
    file: (number) => `${base}:file:${number}`,
    blocks: (number) => `${base}:blocks:${number}`,
    at: (number) => `${base}:at:${number}`,
    reader: (reader) => `${base}:reader:${reader}`,
    total: (total) => `${base}:total:${total}`,
  };
}
