/**
 * The keys of a chat. All have its tag, since a message is numbered, stored, counted and announced in one step. What chats a member is
 * in has the member's tag: other slots, other steps (index.ts says how the two stay right).
 */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("chats");

export interface ChatKeys {
  /**
   * Hash: `first` and `last` id of what is kept (`first` is one more when nothing is), `base`: the number before the first id of all,
   * `left`: a number that changes when somebody leaves, `total` bytes sent and `freed`, `idsFrom` and `idsUntil`: the ids' window.
   */
  readonly meta: string;
  /** Stream: the messages; an entry's id is the message's, its one field is the sender. */
  readonly log: string;
  /** Sorted set: member by the last id that they have acknowledged. */
  readonly seen: string;
  /** Sorted set: member by when their presence ends, in milliseconds. */
  readonly presence: string;
  /** Hashes: a sender's own message id → id; those of the present window, and of the one before. They expire. */
  readonly ids: string;
  readonly oldIds: string;
  /** Channel: the id of each new message; anything else says "look". */
  readonly wake: string;
}

export function chatKeys(prefix: string, name: string, what: string): ChatKeys {
  const base = tagged(prefix, name, what);
  return {
    meta: `${base}:meta`,
    log: `${base}:log`,
    seen: `${base}:seen`,
    presence: `${base}:presence`,
    ids: `${base}:ids`,
    oldIds: `${base}:ids:old`,
    wake: `${base}:wake`,
  };
}

/** Hash: chat → the token of the last join, for each chat that a member is in, and maybe some that they have left. */
export function memberKey(prefix: string, member: string): string {
  return tagged(`${prefix}:of`, member, "member");
}
