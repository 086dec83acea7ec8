/**
 * One channel for all that wait in this process on one store. A waiter that is served by another's release is told here; the message
 * begins with the waiter's token, and only that waiter is woken.
 *
 * The channel stays until the store is closed. Messages are hints: each waiter also polls, and at once when the subscription was
 * interrupted. A waiter is known here from the answer on that it has to wait; a message that overtakes that answer is kept for it.
 *
 * Its address names the server too that it is listened to on (scripts.ts, rule 4). Where that is not known, because the server says
 * it to nobody or has not answered yet, the address is the channel alone.
 */
import { randomToken } from "../base/clock.ts";
import { dropOldest } from "../base/lists.ts";
import type { Store } from "../connection/store.ts";
import { Channel } from "../waiting/channel.ts";

export interface Grant {
  readonly fence: number;
  /** The server's clock when it was given. */
  readonly serverMs: number;
  readonly leaseMs: number;
}

export interface Recipient {
  granted(grant: Grant): void;
  /** Messages may have been lost. */
  interrupted(): void;
}

/** Messages that nobody has asked for yet. Most of them nobody ever will: their waiter has given up. */
const MOST_EARLY = 256;

const mailboxes = new WeakMap<Store, Mailbox>();

/** How many letters of a server's run id are enough to tell it from the one that it replaced. */
const SERVER_LETTERS = 8;

export class Mailbox {
  readonly channel = `cinnabar:wake:${randomToken()}`;
  readonly #store: Store;
  readonly #hearing: Channel;
  readonly #recipients = new Map<string, Recipient>();
  readonly #early = new Map<string, Grant>();
  #opening: Promise<void> | null = null;
  /** How often messages may have been lost. */
  interruptions = 0;
  /** Where the scripts find this mailbox. */
  address: string = this.channel;

  private constructor(store: Store) {
    this.#store = store;
    this.#hearing = new Channel(store, this.channel, {
      message: (message) => this.#deliver(message.toString("latin1")),
      resumed: () => this.#interrupted(),
    });
  }

  static of(store: Store): Mailbox {
    const mailbox = mailboxes.get(store) ?? new Mailbox(store);
    mailboxes.set(store, mailbox);
    return mailbox;
  }

  /** Whether messages arrive. */
  get ready(): boolean {
    return this.#hearing.isOpen;
  }

  open(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async #open(): Promise<void> {
    try {
      await this.#hearing.open();
      await this.#learnServer();
    } catch (error) {
      this.#opening = null;
      throw error;
    }
  }

  async #learnServer(): Promise<void> {
    // In a Cluster the scripts do not ask who listens.
    if (this.#store.topology === "cluster") return;
    const about = await this.#store.send(["INFO", "server"]).catch(() => "");
    const server = /^run_id:(\w+)/m.exec(String(about))?.[1];
    if (server !== undefined) this.address = `${this.channel}@${server.slice(0, SERVER_LETTERS)}`;
  }

  expect(token: string, recipient: Recipient): void {
    this.#recipients.set(token, recipient);
    const early = this.#early.get(token);
    if (early === undefined) return;
    this.#early.delete(token);
    recipient.granted(early);
  }

  forget(token: string): void {
    this.#recipients.delete(token);
  }

  #deliver(message: string): void {
    const [token = "", fence, serverMs, leaseMs] = message.split(" ");
    const grant = { fence: Number(fence), serverMs: Number(serverMs), leaseMs: Number(leaseMs) };
    const recipient = this.#recipients.get(token);
    if (recipient !== undefined) {
      recipient.granted(grant);
      return;
    }
    if (this.#early.size >= MOST_EARLY) dropOldest(this.#early);
    this.#early.set(token, grant);
  }

  #interrupted(): void {
    this.interruptions++;
    void this.#learnServer();
    for (const recipient of [...this.#recipients.values()]) recipient.interrupted();
  }
}
