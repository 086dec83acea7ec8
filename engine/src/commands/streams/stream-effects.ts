/**
 * What happens in consumer groups, as the append-only file and the replicas get it: times, counts and who got what depend on
 * the moment, so XREADGROUP, XCLAIM and XAUTOCLAIM say what came of them.
 */
import type { Client } from "../../core/client.ts";
import { type Delivery, formatId, type Group } from "../../types/stream/index.ts";

/** The changes that one command makes to the groups of a stream. Nothing is kept while nobody listens. */
export class GroupEffects {
  readonly #client: Client;
  readonly #commands: string[][] | null;

  constructor(client: Client) {
    this.#client = client;
    this.#commands = client.propagate.heard ? [] : null;
  }

  /** A delivery as it is now, with who has it. */
  delivered(name: string, group: Group, delivery: Delivery): void {
    if (this.#commands === null) return;
    const { consumer, id, timeMs, count } = delivery;
    this.#commands.push([
      ...["XCLAIM", name, group.name, consumer.name, "0", formatId(id)],
      ...["TIME", String(timeMs), "RETRYCOUNT", String(count), "FORCE", "JUSTID", "LASTID", formatId(group.lastId)],
    ]);
  }

  /** How far a group has read. */
  read(name: string, group: Group): void {
    if (this.#commands === null) return;
    const entriesRead = String(group.entriesRead);
    this.#commands.push(["XGROUP", "SETID", name, group.name, formatId(group.lastId), "ENTRIESREAD", entriesRead]);
  }

  consumerCreated(name: string, group: Group, consumer: string): void {
    this.#commands?.push(["XGROUP", "CREATECONSUMER", name, group.name, consumer]);
  }

  /** Says all of it instead of the running command. */
  say(): void {
    this.#client.propagate.asGroupChanges(this.#commands ?? []);
  }
}
