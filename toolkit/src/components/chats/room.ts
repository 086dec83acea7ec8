/**
 * What group chats and mailboxes have in common: a log with ids, read by members who each have a position in it. Every method is one
 * script; `Follower` (follower.ts) is what waits.
 */
import { integer, word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { type Codec, encodeWithin } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import type { Store } from "../../connection/store.ts";
import { type ChatKeys, chatKeys } from "./keys.ts";
import { decodeEntries, type Message } from "./message.ts";
import { acknowledge, look, lookBytes, type Place, remove, send } from "./scripts.ts";
import { Tail, type TailSource } from "./tail.ts";

/** A part of a chat, as a reader sees it. */
export interface MessagePage<T> {
  /** The messages, in the order of their ids. */
  readonly items: readonly Message<T>[];
  /** Where to go on: the next page is `after` this. */
  readonly cursor: number;
  /** How many messages were dropped between the reader's position and this page. 0 unless the reader was cut off. */
  readonly missed: number;
  /** How many there are after this page. */
  readonly remaining: number;
}

/** What became of a message that was sent. */
export interface Sent {
  /** The message's id. */
  readonly id: number;
  /** It had been sent before, by the same sender with the same id. */
  readonly repeated: boolean;
}

export interface Rules<T> {
  readonly what: "chat" | "mailbox";
  readonly prefix: string;
  readonly codec: Codec<T>;
  readonly maxMessageBytes: number;
  readonly maxMessages: number;
  readonly maxBytes: number;
  readonly keepSeen: number;
  readonly keepIdsMs: number;
  readonly presenceMs: number;
  readonly pollMs: number;
  /** How long a mailbox that was read to its end is kept; 0 for chats. */
  readonly emptyMs: number;
}

export interface Sending<T> {
  readonly sender: string;
  readonly body: T;
  readonly id: string | undefined;
  /** Whose mailbox it is; empty for a chat. */
  readonly recipient: string;
  readonly anyone: boolean;
  readonly markSeen: boolean;
}

export interface Looking<T> {
  readonly page: MessagePage<T>;
  /** Changes when anybody leaves. */
  readonly left: number;
}

/** A window of the senders' own ids ends when there are so many in it, if not by time. */
const REMEMBER_MOST = 50_000;
const MAX_NAME_BYTES = 256;
const MAX_KEYS_KEPT = 10_000;

export const memberName = (member: string, what = "member"): string => word(what, member, MAX_NAME_BYTES);

export class Room<T> {
  readonly store: Store;
  readonly rules: Rules<T>;
  readonly #tails = new Map<string, Tail<T>>();
  readonly #keys = new Map<string, ChatKeys>();

  constructor(store: Store, rules: Rules<T>) {
    this.store = store;
    this.rules = rules;
  }

  keys(name: string): ChatKeys {
    let keys = this.#keys.get(name);
    if (keys === undefined) {
      keys = chatKeys(this.rules.prefix, name, this.rules.what);
      if (this.#keys.size >= MAX_KEYS_KEPT) this.#keys.clear();
      this.#keys.set(name, keys);
    }
    return keys;
  }

  async send(name: string, { sender, body, id, recipient, anyone, markSeen }: Sending<T>): Promise<Sent | null> {
    const { codec, maxMessageBytes, maxMessages, maxBytes, keepSeen, keepIdsMs } = this.rules;
    memberName(sender, "sender");
    const ownId = id === undefined ? randomToken() : checkedId(id);
    const { meta, log, seen, ids, oldIds, wake } = this.keys(name);
    const sent = await this.store.run(send, {
      meta,
      log,
      seen,
      ids,
      oldIds,
      sender,
      // The length keeps apart what would look alike when joined.
      idKey: `${sender.length}:${sender}${ownId}`,
      ownId,
      body: encodeWithin(codec, body, maxMessageBytes, "a message"),
      recipient,
      anyone: anyone ? 1 : 0,
      markSeen: markSeen ? 1 : 0,
      maxMessages,
      maxBytes,
      keepSeen,
      keepIdsMs,
      rememberMost: REMEMBER_MOST,
      channel: wake,
    });
    return sent === null ? null : { id: sent[0], repeated: sent[1] === 1 };
  }

  /** `after` null: from what the member has acknowledged. Null: not a member. */
  async look(
    name: string,
    member: string,
    {
      after,
      limit,
      presenceMs,
    }: { readonly after: number | null; readonly limit: number; readonly presenceMs: number },
  ): Promise<Looking<T> | null> {
    const { meta, log, seen, presence } = this.keys(name);
    const script = this.rules.codec.binary ? lookBytes : look;
    const params = { meta, log, seen, presence, member, after: after ?? "", limit, presenceMs };
    const looked = await this.store.run(script, params);
    if (looked === null) return null;
    const [first, last, left, from, entries] = looked;
    const messages = decodeEntries(entries, this.rules.codec).map(({ message }) => message);
    return { page: pageOf(messages, { from, first, last }), left };
  }

  async acknowledge(name: string, member: string, id: number): Promise<Place | null> {
    const { keepSeen, emptyMs } = this.rules;
    const { meta, log, seen } = this.keys(name);
    return this.store.run(acknowledge, { meta, log, seen, member, id: integer("id", id, 0), keepSeen, emptyMs });
  }

  remove(name: string): Promise<boolean> {
    const { wake, ...keys } = this.keys(name);
    return this.store.run(remove, { ...keys, channel: wake });
  }

  /** What all readers of a chat in this process share. */
  tail(name: string): Tail<T> {
    const known = this.#tails.get(name);
    if (known !== undefined) return known;
    const { pollMs, presenceMs, codec } = this.rules;
    const source: TailSource<T> = {
      store: this.store,
      keys: this.keys(name),
      codec,
      // Presence is renewed when readers are woken, well before it ends.
      pollMs: presenceMs === 0 ? pollMs : Math.min(pollMs, presenceMs / 3),
    };
    const tail = new Tail(source, () => this.#tails.delete(name));
    this.#tails.set(name, tail);
    return tail;
  }
}

function pageOf<T>(
  messages: Message<T>[],
  { from, first, last }: { readonly from: number; readonly first: number; readonly last: number },
): MessagePage<T> {
  const missed = Math.max(0, first - 1 - from);
  const [oldest] = messages;
  if (missed > 0 && oldest !== undefined) messages[0] = { ...oldest, missed };
  const cursor = messages.at(-1)?.id ?? Math.max(from, first - 1);
  return { items: messages, cursor, missed, remaining: last - cursor };
}

/** In one line, since the body follows in the next. */
function checkedId(id: string): string {
  word("id", id, MAX_NAME_BYTES);
  if (/[\u0000-\u001f\u007f]/.test(id)) throw new InputError("id must not contain control characters");
  return id;
}
