/**
 * Mailboxes: each has one owner, who reads, and anybody sends. A mailbox is a chat with one member, begun by the first message to it;
 * what the owner has acknowledged is dropped, and a mailbox that stays empty for long is forgotten.
 *
 *   const mailboxes = new Mailboxes<string>(store);
 *   await mailboxes.send("ann", "ben", "lunch?");
 *   for await (const message of mailboxes.messages("ann", { signal })) show(message);
 */
import { aStore } from "../../base/checks.ts";
import { ServerError } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { defineOptions, text, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import type { Store } from "../../connection/store.ts";
import type { Message } from "./message.ts";
import {
  type ChatsOptions,
  DAY_MS,
  infoOf,
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
import { inspect, place } from "./scripts.ts";

/** Settings of `Mailboxes`. All processes give the same ones. */
export interface MailboxesOptions<T>
  extends Omit<ChatsOptions<T>, "keepSeen" | "maxMembers" | "maxChats" | "presenceLeaseMs"> {
  /** How long a mailbox is kept after it was read to its end. 30 days by default. */
  readonly idleMs?: number;
}

/** How a mailbox is doing. */
export interface MailboxInfo {
  /** Whose it is. */
  readonly owner: string;
  /** How many messages are kept. */
  readonly messages: number;
  /** What they take. */
  readonly bytes: number;
  /** Id of the oldest message that is kept; null when none is. */
  readonly oldestId: number | null;
  /** Id of the last message that was sent. */
  readonly lastId: number;
}

const NAMES_KEPT_MS = 30 * DAY_MS;
const NOTHING: Position = { seen: 0, unread: 0, missed: 0 };

const OPTIONS = defineOptions<MailboxesOptions<unknown>>("Mailboxes", {
  ...shared,
  idleMs: whole(1_000),
});

const SEND_OPTIONS = defineOptions<Pick<SendOptions, "id">>("Mailboxes.send", {
  id: text,
});

const READ_OPTIONS = defineOptions<Omit<ReadOptions, "present">>("Mailboxes.read", reading);

const STREAM_OPTIONS = defineOptions<Omit<MessagesOptions, "present">>("Mailboxes.messages", streaming);

const LIST_OPTIONS = defineOptions<PageOptions>("Mailboxes.list", pageChecks(100_000));

/**
 * Mailboxes: each has one owner, who reads, and anybody sends. What the owner has acknowledged is dropped.
 *
 * @example
 * const mailboxes = new Mailboxes<string>(db);
 * await mailboxes.send("ann", "ben", "lunch?"); // → { id: …, repeated: false }
 * (await mailboxes.position("ann")).unread; // → 1
 * const page = await mailboxes.read("ann");
 * page.items.map(({ sender, body }) => `${sender}: ${body}`); // → ["ben: lunch?"]
 * (await mailboxes.acknowledge("ann", page.cursor)).unread; // → 0
 * @example
 * const mailboxes = new Mailboxes<string>(db);
 * await mailboxes.send("ann", "ben", "lunch?");
 * for await (const { body } of mailboxes.messages("ann")) if (body === "lunch?") break;
 * await mailboxes.inspect("ann"); // → { owner: "ann", messages: …, bytes: …, oldestId: …, lastId: … }
 * await mailboxes.list(); // → { items: […], cursor: null }
 * await mailboxes.delete("ann"); // → true
 */
export class Mailboxes<T = unknown> {
  readonly #store: Store;
  readonly #room: Room<T>;
  readonly #names: NameIndex;

  constructor(store: Store, options: MailboxesOptions<T> = {}) {
    aStore("Mailboxes", store);
    OPTIONS.check(options);
    const { prefix = "mailbox", idleMs = 30 * DAY_MS } = options;
    this.#store = store;
    this.#room = new Room(store, rulesOf(options, { what: "mailbox", prefix, emptyMs: idleMs }));
    this.#names = new NameIndex(store, { kind: "mailboxes", prefix, keepMs: NAMES_KEPT_MS });
  }

  /** Puts a message into a mailbox, which the first one begins. */
  async send(owner: string, sender: string, body: T, options: Pick<SendOptions, "id"> = {}): Promise<Sent> {
    SEND_OPTIONS.check(options);
    const recipient = memberName(owner, "owner");
    const how = { sender, body, id: options.id, markSeen: false, recipient, anyone: true };
    const sent = await this.#room.send(owner, how);
    this.#names.announce(owner);
    return sent!;
  }

  /** What there is now, or with `waitMs` the next that comes; else an empty page. */
  async read(owner: string, options: Omit<ReadOptions, "present"> = {}): Promise<MessagePage<T>> {
    READ_OPTIONS.check(options);
    const page = await readOrWait(this.#room, owner, memberName(owner, "owner"), options);
    return page ?? { items: [], cursor: options.cursor ?? 0, missed: 0, remaining: 0 };
  }

  /** Messages as they come, until the signal is aborted or the store is closed. */
  messages(owner: string, options: Omit<MessagesOptions, "present"> = {}): AsyncGenerator<Message<T>, void, undefined> {
    STREAM_OPTIONS.check(options);
    return streamed(this.#room, owner, memberName(owner, "owner"), options);
  }

  /** The owner has seen everything up to this id, and it is dropped. */
  async acknowledge(owner: string, id: number): Promise<Position> {
    return positionOf(await this.#room.acknowledge(owner, memberName(owner, "owner"), id)) ?? NOTHING;
  }

  /** Where the owner is in the mailbox; all 0 if there is none. */
  async position(owner: string): Promise<Position> {
    const { meta, seen } = this.#room.keys(owner);
    return positionOf(await this.#store.run(place, { meta, seen, member: memberName(owner, "owner") })) ?? NOTHING;
  }

  /** Deletes a mailbox with all that is in it. False: there was none. */
  async delete(owner: string): Promise<boolean> {
    const wasThere = await this.#room.remove(owner);
    await this.#names.remove(owner);
    return wasThere;
  }

  /** How a mailbox is doing. Null: there is none of this owner. */
  async inspect(owner: string): Promise<MailboxInfo | null> {
    const { meta, seen, presence } = this.#room.keys(owner);
    return mailboxInfo(owner, await this.#store.run(inspect, { meta, seen, presence, presenceMs: 0 }));
  }

  /** Mailboxes that exist and got a message within the last thirty days, the latest announced first. For people. */
  async list(options: PageOptions = {}): Promise<Page<MailboxInfo>> {
    LIST_OPTIONS.check(options);
    const { items: names, cursor } = await this.#names.list(options);
    const calls = names.map((owner) => {
      const { meta, seen, presence } = this.#room.keys(owner);
      return inspect.with({ meta, seen, presence, presenceMs: 0 });
    });
    const items = zipped(names, await this.#store.pipeline(calls)).flatMap(([owner, answer]) => {
      if (answer instanceof ServerError) throw answer;
      return mailboxInfo(owner, answer) ?? [];
    });
    return { items, cursor };
  }
}

function mailboxInfo(owner: string, found: ReturnType<typeof inspect.reply>): MailboxInfo | null {
  const info = infoOf(owner, found);
  if (info === null) return null;
  const { messages, bytes, oldestId, lastId } = info;
  return { owner, messages, bytes, oldestId, lastId };
}
