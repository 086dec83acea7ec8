/**
 * What stands before every command of a node: may it run here (redirection.ts)? Asked for commands of clients, for those that
 * scripts call, and now and then for clients that wait for a key, since its slot may have left meanwhile.
 */

import type { Client, QueuedCommand } from "../core/client.ts";
import type { RedirectError, ReplyError } from "../core/errors.ts";
import type { ClusterGate, RunningScript } from "../core/ports.ts";
import {
  CLUSTER_DOWN,
  CLUSTER_DOWN_READS_ONLY,
  moved,
  SCRIPT_CLUSTER_DOWN,
  SCRIPT_CLUSTER_READS_ONLY,
  SCRIPT_NOT_LOCAL,
  SCRIPT_OTHER_SLOT,
  SLOT_NOT_SERVED,
} from "../core/rare-errors.ts";
import type { Reply } from "../core/reply.ts";
import { keySlot } from "../lib/key-slot.ts";
import { ASKING, type Command, READONLY, WRITE } from "../table/command-table.ts";
import { slotWordsOf } from "../table/key-extraction.ts";
import { type Routed, type Router, route } from "./redirection.ts";

/** Clients that may wait, and how a wait is ended. */
interface Waiting {
  readonly clients: ReadonlyMap<number, Client>;
  readonly blocking: { release(client: Client, reply: Reply): void };
}

export class Gate implements ClusterGate {
  readonly #node: Router;

  constructor(node: Router) {
    this.#node = node;
  }

  /** What a client gets instead of its command's reply; null if the command runs here. */
  refusal(client: Client, command: Command, argv: readonly string[]): RedirectError | null {
    if (client.asking !== "no") {
      if (client.asking === "next") client.asking = "now";
      else if (client.multi === null) client.asking = "no";
    }
    if (!command.isRouted || (command.runsQueue && client.multi === null)) return null;
    if (!command.runsQueue && this.#isPlainlyHere(command, argv)) return null;
    const calls: readonly QueuedCommand[] = command.runsQueue ? client.queuedFor(command) : [{ command, argv }];
    const routed = route(this.#node, this.#routed(client, command, calls));
    return typeof routed === "number" ? null : routed;
  }

  /** The usual case, for nothing: all keys in one slot that is this node's and stays here. The others are looked into. */
  #isPlainlyHere(command: Command, argv: readonly string[]): boolean {
    const node = this.#node;
    if (node.migrating.size > 0 || node.importing.size > 0 || !node.isUp) return false;
    const places = slotWordsOf(command, argv);
    if (places.length === 0) return true;
    const slot = keySlot(argv[places[0]!]!);
    for (let i = 1; i < places.length; i++) if (keySlot(argv[places[i]!]!) !== slot) return false;
    return node.state.ownerOf(slot) === node.self;
  }

  #routed({ asking, readsReplica }: Client, command: Command, calls: readonly QueuedCommand[]): Routed {
    return {
      calls,
      writes: calls.some((call) => (call.command.flags & WRITE) !== 0),
      asking: asking === "now" || (command.flags & ASKING) !== 0,
      readsReplica,
      movesKeys: command.row.movesKeys ?? false,
    };
  }

  /** The slot of a call's first key; -1 without one. */
  slotOf(command: Command, argv: readonly string[]): number {
    const [place] = slotWordsOf(command, argv);
    return place === undefined ? -1 : keySlot(argv[place]!);
  }

  /** Why a script may not call a command; null if it may. */
  scriptRefusal(script: RunningScript, command: Command, argv: readonly string[]): ReplyError | null {
    const { caller } = script;
    if (caller.isPrimary || !command.isRouted) return null;
    const slot = route(this.#node, this.#routed(caller, command, [{ command, argv }]));
    if (typeof slot !== "number") {
      if (slot === CLUSTER_DOWN) return SCRIPT_CLUSTER_DOWN;
      return slot === CLUSTER_DOWN_READS_ONLY ? SCRIPT_CLUSTER_READS_ONLY : SCRIPT_NOT_LOCAL;
    }
    if (slot < 0 || script.mayCrossSlots) return null;
    if (script.slot < 0) script.slot = slot;
    return script.slot === slot ? null : SCRIPT_OTHER_SLOT;
  }

  /** Clients that wait for a key which is served elsewhere by now hear where. */
  redirectBlocked({ clients, blocking }: Waiting): void {
    for (const client of clients.values()) {
      const request = client.blocked;
      if (request === null || request.keys.length === 0) continue;
      const error = this.#whyNotHere(client, keySlot(request.keys[0]!));
      if (error !== null) blocking.release(client, error);
    }
  }

  #whyNotHere(client: Client, slot: number): RedirectError | null {
    const { state, self, importing, isUp } = this.#node;
    if (!isUp) return CLUSTER_DOWN;
    const owner = state.ownerOf(slot);
    if (owner === self || importing.has(slot)) return null;
    if (owner === null) return SLOT_NOT_SERVED;
    const reads = client.readsReplica && ((client.lastCommand?.flags ?? 0) & READONLY) !== 0;
    return reads && self.primary === owner ? null : moved(slot, this.#node.addressOf(owner));
  }
}
