/** A client for tests of the engine's inside: it keeps what it is sent, in order, as the values that handlers returned. */

import type { Client } from "../../src/core/client.ts";
import type { Engine } from "../../src/core/engine.ts";
import { BLOCKED, NO_REPLY, POSTPONED, Replies, type Reply, WithMessages } from "../../src/core/reply.ts";
import type { Transport } from "../../src/core/transport.ts";

export class TestClient implements Transport {
  readonly address: string;
  readonly localAddress = "127.0.0.1:6379";
  readonly fd = -1;
  readonly outputBytes = 0;
  readonly inputBytes = 0;
  readonly client: Client;
  readonly #engine: Engine;
  /** Everything that was sent and not yet taken. */
  #sent: Reply[] = [];
  closed: "after replies" | "at once" | null = null;

  constructor(engine: Engine, protocol: 2 | 3 = 2) {
    this.#engine = engine;
    this.client = engine.addClient(this);
    this.client.protocol = protocol;
    this.address = `127.0.0.1:${this.client.id}`;
  }

  /** Runs a command, words parted by spaces. What it is answered is in `taken`. */
  run(line: string): this {
    const argv = line.split(" ");
    this.#engine.renewClock();
    const reply = this.#engine.execute(this.client, argv);
    if (reply === POSTPONED) this.#engine.pause.whenResumed(this.client, () => this.run(line));
    else if (reply !== BLOCKED) this.send(this.client.filterReply(reply));
    return this;
  }

  /** Runs a command and takes what has been sent since the last time. */
  call(line: string): Reply[] {
    return this.run(line).taken();
  }

  taken(): Reply[] {
    const sent = this.#sent;
    this.#sent = [];
    return sent;
  }

  send(reply: Reply): void {
    if (reply instanceof Replies) this.#sent.push(...reply.items);
    else if (reply instanceof WithMessages) this.#sent.push(reply.reply, ...reply.messages);
    else if (reply !== NO_REPLY) this.#sent.push(reply);
  }

  push(message: Reply): void {
    this.#sent.push(message);
  }

  close(afterReplies: boolean): void {
    this.closed = afterReplies ? "after replies" : "at once";
    this.#engine.removeClient(this.client);
  }
}
