/**
 * Every key of a queue. All carry one tag, `{name}`, and so live in one slot; a queue spread over N slots is N such sets of keys,
 * with the tags `{name:0}` … `{name:N-1}` and `ofN` in the key, so that it never meets a queue that is called `name:0`.
 */

import { InputError } from "../../base/errors.ts";
import { hashOf } from "../../base/hash.ts";
import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("queues");

/** In the order in which every script of this component declares them. README.md says what each holds. */
export const KEY_NAMES = [
  "data",
  "wait",
  "prio",
  "delayed",
  "active",
  "done",
  "dead",
  "timers",
  "wake",
  "events",
  "ring",
  "index",
] as const;

export type KeyName = (typeof KEY_NAMES)[number];
export type QueueKeys = { readonly [name in KeyName]: string };

export const MAX_SHARDS = 64;

export function queueKeys(prefix: string, name: string, shard: number, shards: number): QueueKeys {
  const base =
    shards === 1 ? tagged(prefix, name, "queue") : `${tagged(prefix, `${name}:${shard}`, "queue")}:of${shards}`;
  return Object.fromEntries(KEY_NAMES.map((part) => [part, `${base}:${part}`])) as QueueKeys;
}

/** The tag that a key must carry to be in the slot of this shard. */
export function shardTag(name: string, shard: number, shards: number): string {
  return shards === 1 ? `{${name}}` : `{${name}:${shard}}`;
}

/** Where a name belongs among the shards: the same in every process and every version. */
export function shardOf(name: string, shards: number): number {
  return shards === 1 ? 0 : hashOf(name) % shards;
}

export function cancelChannel(keys: QueueKeys): string {
  return `${keys.data}:cancel`;
}

const MAX_WORD_BYTES = 512;

/** Ids, groups and names of schedules: short text in one line, since lines and NULs separate them in the store. */
export function checkWord(value: unknown, what: string): string {
  if (typeof value !== "string" || value === "") throw new InputError(`${what} must be a non-empty string`);
  if (/[\u0000-\u001f\u007f]/.test(value)) throw new InputError(`${what} must not contain control characters`);
  if (Buffer.byteLength(value, "utf8") > MAX_WORD_BYTES) {
    throw new InputError(`${what} must not be longer than ${MAX_WORD_BYTES} bytes`);
  }
  return value;
}
