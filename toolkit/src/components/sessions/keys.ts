/**
 * The keys of sessions. The tag is the owner: a user's, made from their name, or a random one for somebody who has not signed in.
 * So all sessions of a user, and the list of them, are in one slot, and users spread over the nodes. The tag is part of the
 * token, which is how a session is found without asking who its user is.
 */

import { createHash, randomBytes } from "node:crypto";
import { hashOf, sha256 } from "../../base/hash.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("sessions");

const TAG_BYTES = 9;
const SECRET_BYTES = 16;
const TOKEN = /^([\w-]{12})\.([\w-]{22})$/;

/** Where a session is kept. The secret of its token is not stored, only what it hashes to. */
export interface SessionPlace {
  readonly tag: string;
  readonly id: string;
}

/** A new token, and where its session will be. */
export function newToken(tag: string): { readonly token: string; readonly place: SessionPlace } {
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  return { token: `${tag}.${secret}`, place: { tag, id: idOf(secret) } };
}

/** Null for a text that is not a token: the store is not asked then. */
export function placeOf(token: string): SessionPlace | null {
  const [, tag, secret] = TOKEN.exec(token) ?? [];
  return tag === undefined || secret === undefined ? null : { tag, id: idOf(secret) };
}

const idOf = (secret: string): string => sha256(secret).slice(0, 22);

export function userTag(user: string): string {
  return createHash("sha256").update(`user:${user}`).digest().subarray(0, TAG_BYTES).toString("base64url");
}

export const anonymousTag = (): string => randomBytes(TAG_BYTES).toString("base64url");

export interface SessionKeys {
  /** Hash: `user`, `created`, `seen`, `ends`, `version`, and `d:<name>` for each piece of data. Expires. */
  readonly session: string;
  /** Sorted set: what was viewed, by when. Expires with the session. */
  readonly viewed: string;
  /** Sorted set: the owner's sessions, by when they were last used. */
  readonly owned: string;
}

/** Set: keys of other components that live as long as a session and end with it. They have its tag. Expires with it. */
export const boundKey = (session: string): string => `${session}:bound`;

export function sessionKeys(prefix: string, { tag, id }: SessionPlace): SessionKeys {
  const base = `${prefix}:{${tag}}`;
  return { session: `${base}:${id}`, viewed: `${base}:${id}:viewed`, owned: `${base}:owned` };
}

/** How many sorted sets the list of all live sessions is spread over, so that no node has to take every touch. */
const LIVE_SHARDS = 16;

/** Sorted set: `tag NUL id` by last use, for the limit on live sessions. */
export function liveKey(prefix: string, { tag }: Pick<SessionPlace, "tag">): string {
  return liveKeyAt(prefix, hashOf(tag) % LIVE_SHARDS);
}

export const liveKeys = (prefix: string): string[] =>
  Array.from({ length: LIVE_SHARDS }, (_, shard) => liveKeyAt(prefix, shard));

const liveKeyAt = (prefix: string, shard: number): string => `${prefix}:live:{${shard}}`;
