/** The keys of a stream: one log in one order is one structure by nature, so all have its tag. */

import { createHash } from "node:crypto";
import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("streaming");

export interface StreamKeys {
  /** Stream: `k` is kind and id, `e` the event as JSON. */
  readonly log: string;
  /** Hash: kind and id of everything in the log → where it stands. */
  readonly known: string;
  /** Hash: `top` and `lost` (the last event, the last that was dropped), `bytes`, `checked`, `epoch`. Stays. */
  readonly meta: string;
  /** Channel: something new is in the log. */
  readonly wake: string;
}

export function streamKeys(prefix: string, name: string): StreamKeys {
  const base = tagged(prefix, name, "stream");
  return { log: `${base}:log`, known: `${base}:known`, meta: `${base}:meta`, wake: `${base}:wake` };
}

/** A user's name as a tag that is part of their tokens, so that a token is found without asking whose it is. */
export function tokenTag(user: string): string {
  return createHash("sha256").update(`stream-token:${user}`).digest().subarray(0, 9).toString("base64url");
}

/** Hash: id of a token → what it is good for, and the hash of its secret. */
export function tokensKey(prefix: string, tag: string): string {
  return `${prefix}:{${tag}}:tokens`;
}

/** Channel: tokens that were revoked. */
export function revokedChannel(prefix: string): string {
  return `${prefix}:revoked`;
}
