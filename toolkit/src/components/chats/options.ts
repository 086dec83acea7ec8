/** What can be asked of chats and mailboxes, and what the answers look like. */
import { integer, word } from "../../base/checks.ts";
import { type Codec, json } from "../../base/codec.ts";
import { type Checks, codec, flag, prefix, signal, whole } from "../../base/options.ts";
import type { Rules } from "./room.ts";
import type { inspect, Place } from "./scripts.ts";

/** Settings of `Chats`. All processes give the same ones. */
export interface ChatsOptions<T> {
  /** How all keys begin (default `"chat"`; `"mailbox"` for mailboxes). */
  readonly prefix?: string;
  /** How bodies become text or bytes (default `json()`). */
  readonly codec?: Codec<T>;
  /** A body larger than this is refused (default 64 KiB). */
  readonly maxMessageBytes?: number;
  /** The oldest messages beyond this many are dropped, even if a member has not seen them. 10 000 by default. */
  readonly maxMessages?: number;
  /** The oldest messages beyond this many bytes are dropped, even if a member has not seen them. 16 MiB by default. */
  readonly maxBytes?: number;
  /** How many messages stay when all have seen them: history for members who join later. 0 by default. */
  readonly keepSeen?: number;
  /** How many members a chat can have (default 10 000). */
  readonly maxMembers?: number;
  /** In how many chats a member can be. 10 000 by default. */
  readonly maxChats?: number;
  /** How long at least a message's own id is known, so that sending it again does not send it twice. 10 minutes by default. */
  readonly keepIdsMs?: number;
  /** How long a member counts as present after the last sign of life. 30 s by default. */
  readonly presenceLeaseMs?: number;
  /** How long a message can be late when the wake-up for it was lost. 5 s by default. */
  readonly pollMs?: number;
}

/** How to send a message. */
export interface SendOptions {
  /**
   * The sender's own id of this message. The same sender's next message with it is this one again. By default each call is a new
   * message.
   */
  readonly id?: string;
  /**
   * If the sender had seen everything before, they have seen this one too: it does not count as unread for them. False by
   * default.
   */
  readonly markSeen?: boolean;
}

/** Which messages to read, and how long to wait. */
export interface ReadOptions {
  /** Goes on after the message with this id; by default after the last one that the member has acknowledged. */
  readonly cursor?: number;
  /** At most so many messages in a page (default 100, at most 1 000). */
  readonly limit?: number;
  /** How long to wait for a message when there is none; then the page is empty. 0, the default: not at all. */
  readonly waitMs?: number;
  /** Ends waiting: the call rejects with the signal's reason. None by default. */
  readonly signal?: AbortSignal;
  /** Makes the member present; by default while it waits. */
  readonly present?: boolean;
}

/** How to follow a chat. */
export interface MessagesOptions extends Pick<ReadOptions, "limit" | "signal" | "present"> {
  /** Begins after the message with this id; by default after the last one that the member has acknowledged. */
  readonly from?: number;
  /** Whether each message is acknowledged when the loop comes back for the next one (default true). */
  readonly acknowledge?: boolean;
}

/** What became of a wish to join. */
export interface JoinOutcome {
  /** `exists`: the member was in it. `full`: the chat has `maxMembers`. `too-many-chats`: the member is in `maxChats`. */
  readonly status: "joined" | "exists" | "full" | "too-many-chats";
}

/** What became of a wish to leave. */
export interface LeaveOutcome {
  /** `deleted`: it was the last member, and the chat is gone. `not-found`: the member was not in it. */
  readonly status: "left" | "deleted" | "not-found";
}

/** Where a member is in a chat. */
export interface Position {
  /** The last id that they have acknowledged. */
  readonly seen: number;
  /** How many messages there are for them. */
  readonly unread: number;
  /** How many there were that were dropped before they had seen them. */
  readonly missed: number;
}

/** Where a member is in one of their chats. */
export interface ChatPosition extends Position {
  /** The chat's name. */
  readonly chat: string;
}

/** Where one of the members is in a chat. */
export interface MemberPosition extends Position {
  /** The member's name. */
  readonly member: string;
  /** Whether the member is present. */
  readonly present: boolean;
}

/** How a chat is doing. */
export interface ChatInfo {
  /** The chat's name. */
  readonly chat: string;
  /** How many members it has. */
  readonly members: number;
  /** How many of them are present. */
  readonly present: number;
  /** How many messages are kept. */
  readonly messages: number;
  /** What they take. */
  readonly bytes: number;
  /** Id of the oldest message that is kept; null when none is. */
  readonly oldestId: number | null;
  /** Id of the last message that was sent; of none yet, the number before the first. */
  readonly lastId: number;
  /** How many messages the member who is furthest behind has not seen. */
  readonly furthestBehind: number;
}

export const DAY_MS = 86_400_000;
export const MAX_LIMIT = 1_000;

/** What chats and mailboxes have in common. */
export const shared = {
  prefix,
  codec,
  maxMessageBytes: whole(1),
  maxMessages: whole(1),
  maxBytes: whole(1),
  keepIdsMs: whole(100, 7 * DAY_MS),
  pollMs: whole(10),
};

const limit = whole(1, MAX_LIMIT);

export const reading: Checks<Omit<ReadOptions, "present">> = {
  cursor: whole(0),
  limit,
  waitMs: whole(0, DAY_MS),
  signal,
};

export const streaming: Checks<Omit<MessagesOptions, "present">> = { from: whole(0), limit, signal, acknowledge: flag };

/** Options that chats and mailboxes have in common, with their defaults. */
export function rulesOf<T>(options: ChatsOptions<T>, fixed: Pick<Rules<T>, "what" | "prefix" | "emptyMs">): Rules<T> {
  word("prefix", fixed.prefix, 256);
  const maxMessages = options.maxMessages ?? 10_000;
  const pollMs = options.pollMs ?? 5_000;
  return {
    ...fixed,
    codec: options.codec ?? json<T>(),
    maxMessageBytes: options.maxMessageBytes ?? 64 * 1024,
    maxMessages,
    maxBytes: options.maxBytes ?? 16 * 1024 * 1024,
    keepSeen: integer("keepSeen", options.keepSeen ?? 0, 0, maxMessages),
    keepIdsMs: options.keepIdsMs ?? 600_000,
    presenceMs: options.presenceLeaseMs ?? 30_000,
    pollMs,
  };
}

export function positionOf(found: Place): Position;
export function positionOf(found: Place | null): Position | null;
export function positionOf(found: Place | null): Position | null {
  if (found === null) return null;
  const [first, last, seen] = found;
  return { seen, unread: last - Math.max(seen, first - 1), missed: Math.max(0, first - 1 - seen) };
}

export function infoOf(chat: string, found: ReturnType<typeof inspect.reply>): ChatInfo | null {
  if (found === null) return null;
  const [first, last, bytes, count, presentCount, behind] = found;
  return {
    chat,
    members: count,
    present: presentCount,
    messages: last - first + 1,
    bytes,
    oldestId: first > last ? null : first,
    lastId: last,
    furthestBehind: last - behind,
  };
}
