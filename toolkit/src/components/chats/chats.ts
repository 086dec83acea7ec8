/**
 * Group chats.
 *
 * Who is in a chat is decided in the chat's slot. What chats a member is in is noted in the member's, in steps before and after
 * that, each with a new token: a join notes, joins, and notes again; a process takes a note back only while it is the one that
 * they saw before they looked whether the member is in the chat. So a join that was answered is noted for as long as it lasts,
 * whatever else goes on; what a crash can leave behind is a note too many, which `unread` sees and takes back.
 */
import { aStore } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { InputError, ServerError } from "../../base/errors.ts";
import { only, zipped } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { choice, defineOptions, flag, text, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import { asPairs, asTextOrNull } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { memberKey } from "./keys.ts";
import type { Message } from "./message.ts";
import {
  type ChatInfo,
  type ChatPosition,
  type ChatsOptions,
  DAY_MS,
  infoOf,
  type JoinOutcome,
  type LeaveOutcome,
  MAX_LIMIT,
  type MemberPosition,
  type MessagesOptions,
  type Position,
  positionOf,
  type ReadOptions,
  reading,
  rulesOf,
  type SendOptions,
  shared,
  streaming,
} from "./options.ts";
import { readOrWait, streamed } from "./reading.ts";
import { type MessagePage, memberName, Room, type Sent } from "./room.ts";
import { forget, inspect, join, leave, members, note, place, presence, present } from "./scripts.ts";

const NAMES_KEPT_MS = 30 * 86_400_000;
/** Members of a chat, or chats of a member, in one request. */
const CHUNK = 500;

const OPTIONS = defineOptions<ChatsOptions<unknown>>("Chats", {
  ...shared,
  keepSeen: whole(0),
  maxMembers: whole(1),
  maxChats: whole(1),
  presenceLeaseMs: whole(100, DAY_MS),
});

const JOIN_OPTIONS = defineOptions<{ readonly from?: "now" | "start" }>("Chats.join", {
  from: choice("now", "start"),
});

const SEND_OPTIONS = defineOptions<SendOptions>("Chats.send", {
  id: text,
  markSeen: flag,
});

const READ_OPTIONS = defineOptions<ReadOptions>("Chats.read", {
  ...reading,
  present: flag,
});

const STREAM_OPTIONS = defineOptions<MessagesOptions>("Chats.messages", {
  ...streaming,
  present: flag,
});

const PRESENT_OPTIONS = defineOptions<{ readonly limit?: number }>("Chats.present", {
  limit: whole(1, 10_000),
});

const LIST_OPTIONS = defineOptions<PageOptions>("Chats.list", pageChecks(100_000));

const MEMBERS_OPTIONS = defineOptions<{ readonly offset?: number; readonly limit?: number }>("Chats.members", {
  offset: whole(0),
  limit: whole(1, 10_000),
});

/**
 * Group chats with members who come and go: every member gets every message, in one order, whenever they come to read.
 *
 * @example
 * const chats = new Chats<string>(db);
 * await chats.joinMany("team", ["ann", "ben"]); // → [{ status: "joined" }, { status: "joined" }]
 * await chats.send("team", "ann", "lunch?", { id: "ann-1" }); // → { id: …, repeated: false }
 * const page = await chats.read("team", "ben", { limit: 10 });
 * page?.items.map(({ sender, body }) => `${sender}: ${body}`); // → ["ann: lunch?"]
 * (await chats.acknowledge("team", "ben", page!.cursor))?.unread; // → 0
 * @example
 * const chats = new Chats<string>(db);
 * await chats.join("team", "ann"); // → { status: "joined" }
 * await chats.send("team", "ann", "hello");
 * for await (const { body } of chats.messages("team", "ann")) if (body === "hello") break;
 * await chats.leave("team", "ann"); // → { status: "deleted" }
 * await chats.delete("team"); // → false
 * @example
 * const chats = new Chats<string>(db);
 * await chats.join("team", "ann");
 * await chats.send("team", "ann", "hello");
 * await chats.position("team", "ann"); // → { seen: …, unread: 1, missed: 0 }
 * await chats.unread("ann"); // → [{ chat: "team", seen: …, unread: 1, missed: 0 }]
 * @example
 * const chats = new Chats<string>(db);
 * await chats.join("team", "ann");
 * await chats.arrive("team", "ann"); // → true
 * await chats.present("team"); // → ["ann"]
 * await chats.members("team", { limit: 10 }); // → [{ member: "ann", present: true, seen: …, unread: 0, missed: 0 }]
 * await chats.depart("team", "ann"); // → true
 * @example
 * const chats = new Chats<string>(db);
 * await chats.join("team", "ann");
 * await chats.inspect("team"); // → { chat: "team", members: 1, present: 0, messages: 0, bytes: 0, oldestId: null, …
 * await chats.list({ limit: 10 }); // → { items: […], cursor: null }
 */
export class Chats<T = unknown> {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #room: Room<T>;
  readonly #maxMembers: number;
  readonly #maxChats: number;
  readonly #names: NameIndex;

  constructor(store: Store, options: ChatsOptions<T> = {}) {
    aStore("Chats", store);
    OPTIONS.check(options);
    this.#store = store;
    this.#prefix = options.prefix ?? "chat";
    this.#room = new Room(store, rulesOf(options, { what: "chat", prefix: this.#prefix, emptyMs: 0 }));
    this.#maxMembers = options.maxMembers ?? 10_000;
    this.#maxChats = options.maxChats ?? 10_000;
    this.#names = new NameIndex(store, { kind: "chats", prefix: this.#prefix, keepMs: NAMES_KEPT_MS });
  }

  // ---------------------------------------------------------------------------------------------- members

  /** The first who joins begins the chat. A member starts at what comes from now on, or at the start of what is kept. */
  async join(chat: string, member: string, options: { readonly from?: "now" | "start" } = {}): Promise<JoinOutcome> {
    JOIN_OPTIONS.check(options);
    return only(await this.#join(chat, [memberName(member)], options.from ?? "now"));
  }

  /** Many at once; answers what became of each. */
  async joinMany(
    chat: string,
    all: readonly string[],
    options: { readonly from?: "now" | "start" } = {},
  ): Promise<JoinOutcome[]> {
    JOIN_OPTIONS.check(options);
    const outcomes: JoinOutcome[] = [];
    for (const member of all) memberName(member);
    if (new Set(all).size < all.length) throw new InputError("a member is named twice");
    for (let at = 0; at < all.length; at += CHUNK) {
      outcomes.push(...(await this.#join(chat, all.slice(at, at + CHUNK), options.from ?? "now")));
    }
    return outcomes;
  }

  async #join(chat: string, all: readonly string[], from: string): Promise<JoinOutcome[]> {
    const { meta, seen } = this.#room.keys(chat);
    const noted = await this.#note(chat, all);
    for (const [nth, member] of all.entries()) {
      // Some of the chats in the member's list may be gone.
      if (!noted[nth] && (await this.unread(member)).length < this.#maxChats) {
        noted[nth] = only(await this.#note(chat, [member]));
      }
    }
    const able = all.filter((_, nth) => noted[nth]);
    const answers = new Map<string, JoinOutcome["status"]>();
    let hasBegun = false;
    const calls = able.map((member) => join.with({ meta, seen, from, maxMembers: this.#maxMembers, member }));
    for (const [member, answer] of zipped(able, await this.#store.pipeline(calls))) {
      if (answer instanceof ServerError) throw answer;
      const [outcome, begun] = answer;
      hasBegun ||= begun === 1;
      answers.set(member, outcome);
    }
    const inside = able.filter((member) => answers.get(member) !== "full");
    await this.#note(chat, inside);
    // A chat of that name may have been deleted a moment ago, and its name struck off the list.
    if (hasBegun) await this.#names.remove(chat);
    this.#names.announce(chat);
    return all.map((member) => ({ status: answers.get(member) ?? "too-many-chats" }));
  }

  /** Notes the chat for its members, with new tokens; false for members that are in too many. */
  async #note(chat: string, all: readonly string[]): Promise<boolean[]> {
    const most = this.#maxChats;
    const noted = await this.#store.pipeline(
      all.map((member) => note.with({ chats: memberKey(this.#prefix, member), chat, token: randomToken(), most })),
    );
    return noted.map((answer) => {
      if (answer instanceof ServerError) throw answer;
      return answer;
    });
  }

  /** Takes a member out. When the last member leaves, the chat and all that belongs to it are deleted. */
  async leave(chat: string, member: string): Promise<LeaveOutcome> {
    const { wake, ...keys } = this.#room.keys(chat);
    const chats = memberKey(this.#prefix, memberName(member));
    const token = asTextOrNull(await this.#store.call("HGET", chats, chat));
    const { keepSeen } = this.#room.rules;
    const answer = await this.#store.run(leave, { ...keys, member, keepSeen, channel: wake });
    if (token !== null) await this.#store.run(forget, { chats, chat, token });
    if (answer === 2) await this.#names.remove(chat);
    return { status: answer === 2 ? "deleted" : answer === 1 ? "left" : "not-found" };
  }

  /** Deletes a chat with its members. False: there was none. */
  async delete(chat: string): Promise<boolean> {
    const wasThere = await this.#room.remove(chat);
    await this.#names.remove(chat);
    return wasThere;
  }

  // ---------------------------------------------------------------------------------------------- messages

  /** Sends a message to all members. Null: there is no such chat, or the sender is not in it. */
  async send(chat: string, sender: string, body: T, options: SendOptions = {}): Promise<Sent | null> {
    SEND_OPTIONS.check(options);
    const { id, markSeen = false } = options;
    const sent = await this.#room.send(chat, { sender, body, id, markSeen, recipient: "", anyone: false });
    if (sent !== null) this.#names.announce(chat);
    return sent;
  }

  /** What there is now, or with `waitMs` the next that comes; else an empty page. Null: not, or no longer, a member. */
  async read(chat: string, member: string, options: ReadOptions = {}): Promise<MessagePage<T> | null> {
    READ_OPTIONS.check(options);
    return readOrWait(this.#room, chat, memberName(member), options);
  }

  /** Messages as they come, until the signal is aborted, the member leaves, or the store is closed. */
  messages(chat: string, member: string, options: MessagesOptions = {}): AsyncGenerator<Message<T>, void, undefined> {
    STREAM_OPTIONS.check(options);
    return streamed(this.#room, chat, memberName(member), options);
  }

  /** The member has seen everything up to this id; smaller ones than before change nothing. Null: not a member. */
  async acknowledge(chat: string, member: string, id: number): Promise<Position | null> {
    return positionOf(await this.#room.acknowledge(chat, memberName(member), id));
  }

  /** Where a member is in a chat. Null: not a member. */
  async position(chat: string, member: string): Promise<Position | null> {
    const { meta, seen } = this.#room.keys(chat);
    return positionOf(await this.#store.run(place, { meta, seen, member: memberName(member) }));
  }

  /** All chats that a member is in, and how many unread messages are in each. */
  async unread(member: string): Promise<ChatPosition[]> {
    const chats = memberKey(this.#prefix, memberName(member));
    const noted = asPairs(await this.#store.call("HGETALL", chats)).map(([chat, token]) => ({ chat, token }));
    const positions: ChatPosition[] = [];
    const stale: { chat: string; token: string }[] = [];
    for (let at = 0; at < noted.length; at += CHUNK) {
      const part = noted.slice(at, at + CHUNK);
      const calls = part.map(({ chat }) => {
        const { meta, seen } = this.#room.keys(chat);
        return place.with({ meta, seen, member });
      });
      for (const [noted, answer] of zipped(part, await this.#store.pipeline(calls))) {
        if (answer instanceof ServerError) throw answer;
        const position = positionOf(answer);
        if (position === null) stale.push(noted);
        else positions.push({ chat: noted.chat, ...position });
      }
    }
    await this.#store.pipeline(stale.map(({ chat, token }) => forget.with({ chats, chat, token })));
    return positions;
  }

  // ---------------------------------------------------------------------------------------------- presence

  /** A sign of life; waiting in `read` and `messages` give them by themselves. False: not a member. */
  async arrive(chat: string, member: string): Promise<boolean> {
    return this.#setPresence(chat, member, this.#room.rules.presenceMs);
  }

  /** No longer present, though still a member. False: not a member. */
  async depart(chat: string, member: string): Promise<boolean> {
    return this.#setPresence(chat, member, 0);
  }

  #setPresence(chat: string, member: string, presenceMs: number): Promise<boolean> {
    const keys = this.#room.keys(chat);
    return this.#store.run(presence, {
      seen: keys.seen,
      presence: keys.presence,
      member: memberName(member),
      presenceMs,
    });
  }

  /** The members who are present: `limit` of them at most, 1 000 by default. */
  async present(chat: string, options: { readonly limit?: number } = {}): Promise<string[]> {
    PRESENT_OPTIONS.check(options);
    const limit = options.limit ?? MAX_LIMIT;
    const { presenceMs } = this.#room.rules;
    return this.#store.run(present, { presence: this.#room.keys(chat).presence, limit, presenceMs });
  }

  // ---------------------------------------------------------------------------------------------- looking in

  /** Members, the furthest behind first. */
  async members(
    chat: string,
    options: { readonly offset?: number; readonly limit?: number } = {},
  ): Promise<MemberPosition[]> {
    MEMBERS_OPTIONS.check(options);
    const { offset: start = 0, limit = MAX_LIMIT } = options;
    const keys = this.#room.keys(chat);
    const [first, last, rows] = await this.#store.run(members, {
      meta: keys.meta,
      seen: keys.seen,
      presence: keys.presence,
      start,
      limit,
      presenceMs: this.#room.rules.presenceMs,
    });
    return rows.map(([member, at, isPresent]) => ({
      member,
      present: isPresent === 1,
      ...positionOf([first, last, at]),
    }));
  }

  /** How a chat is doing. Null: there is no such chat. */
  async inspect(chat: string): Promise<ChatInfo | null> {
    const { meta, seen, presence: presenceKey } = this.#room.keys(chat);
    const { presenceMs } = this.#room.rules;
    return infoOf(chat, await this.#store.run(inspect, { meta, seen, presence: presenceKey, presenceMs }));
  }

  /** Chats that exist and were used within the last thirty days, the latest announced first. For people. */
  async list(options: PageOptions = {}): Promise<Page<ChatInfo>> {
    LIST_OPTIONS.check(options);
    const { items: names, cursor } = await this.#names.list(options);
    const { presenceMs } = this.#room.rules;
    const calls = names.map((chat) => {
      const { meta, seen, presence: presenceKey } = this.#room.keys(chat);
      return inspect.with({ meta, seen, presence: presenceKey, presenceMs });
    });
    const found: ChatInfo[] = [];
    for (const [chat, answer] of zipped(names, await this.#store.pipeline(calls))) {
      if (answer instanceof ServerError) throw answer;
      const info = infoOf(chat, answer);
      if (info === null) await this.#names.remove(chat);
      else found.push(info);
    }
    return { items: found, cursor };
  }
}
