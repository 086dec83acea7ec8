/**
 * One channel for all that wait in this process on one store. A waiter that is served by another's release is told here; the message
 * begins with the waiter's token, and only that waiter is woken.
 *
 * The channel stays until the store is closed. Messages are hints: each waiter also polls, and at once when the subscription was
 * interrupted. A waiter is known here from the answer on that it has to wait; a message that overtakes that answer is kept for it.
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

export class Mailbox {
  readonly channel = `cinnabar:wake:${randomToken()}`;
  readonly #hearing: Channel;
  readonly #recipients = new Map<string, Recipient>();
  readonly #early = new Map<string, Grant>();
  /** How often messages may have been lost. */
  interruptions = 0;

  private constructor(store: Store) {
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
    return this.#hearing.open();
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
    for (const recipient of [...this.#recipients.values()]) recipient.interrupted();
  }
}
