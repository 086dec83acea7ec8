/**
 * One channel for all that wait in this process on one store. A waiter that is served by another's release is told here; the message
 * begins with the waiter's token, and only that waiter is woken.
 *
 * The channel is subscribed to before the first waiter enters a line, so that no message can be too early, and stays until
 * the store is closed. Messages are hints: each waiter also polls, and at once when the subscription was interrupted.
 */
import { randomToken } from "../base/clock.ts";
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

const mailboxes = new WeakMap<Store, Mailbox>();

export class Mailbox {
  readonly channel = `cinnabar:wake:${randomToken()}`;
  readonly #hearing: Channel;
  readonly #recipients = new Map<string, Recipient>();

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
  }

  forget(token: string): void {
    this.#recipients.delete(token);
  }

  #deliver(message: string): void {
    const [token = "", fence, serverMs, leaseMs] = message.split(" ");
    this.#recipients.get(token)?.granted({
      fence: Number(fence),
      serverMs: Number(serverMs),
      leaseMs: Number(leaseMs),
    });
  }

  #interrupted(): void {
    for (const recipient of [...this.#recipients.values()]) recipient.interrupted();
  }
}
