/**
 * MONITOR: clients that see every command as it is run, in a line each:
 *
 *   1700000000.123456 [0 127.0.0.1:5000] "set" "k" "v"
 */
import type { Client } from "../core/client.ts";
import type { Clock } from "../core/clock.ts";
import type { MonitorPort } from "../core/ports.ts";
import { type Reply, Status } from "../core/reply.ts";
import { quoteWord } from "../lib/quote.ts";

/** What MONITOR needs of the store around it. */
interface MonitorHost {
  readonly clock: Clock;
  /** Sends a message that must not come between a client's own command and its reply. */
  tell(client: Client, message: Reply): void;
}

export class Monitor implements MonitorPort {
  readonly #host: MonitorHost;
  readonly #clients = new Set<Client>();

  constructor(host: MonitorHost) {
    this.#host = host;
  }

  get active(): boolean {
    return this.#clients.size > 0;
  }

  add(client: Client): void {
    client.monitoring = true;
    this.#clients.add(client);
  }

  remove(client: Client): void {
    client.monitoring = false;
    this.#clients.delete(client);
  }

  /** Shows a command that a client has run to all who monitor. */
  feed(client: Client, argv: readonly string[]): void {
    const micros = this.#host.clock.nowMicros();
    const seconds = Math.floor(micros / 1_000_000);
    const fraction = String(micros - seconds * 1_000_000).padStart(6, "0");
    let line = `${seconds}.${fraction} [${client.db.index} ${client.transport.address}]`;
    for (const word of argv) line += ` ${quoteWord(word)}`;
    const message = new Status(line);
    // The lines are replies, in Redis too: CLIENT REPLY OFF silences them.
    for (const monitor of this.#clients) if (monitor.replyMode === "on") this.#host.tell(monitor, message);
  }
}
