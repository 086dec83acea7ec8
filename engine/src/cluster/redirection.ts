/**
 * Which node runs a command: this one, or another that the client is sent to (MOVED, ASK), or nobody just now.
 *
 * The slot of the first key decides; all other keys must be in the same. While a slot moves, each of its keys is on one of
 * two nodes. The old owner (migrating) serves what it still has and sends the client on for the rest (ASK); the new owner
 * (importing) serves only who was sent so (ASKING). A command with several keys that are not all in one place has to be
 * tried again (TRYAGAIN). A replica serves reads of its primary's slots to clients that said READONLY.
 */

import type { QueuedCommand } from "../core/client.ts";
import type { Db } from "../core/db.ts";
import type { RedirectError } from "../core/errors.ts";
import {
  ask,
  CLUSTER_DOWN,
  CLUSTER_DOWN_READS_ONLY,
  CROSSSLOT,
  moved,
  SLOT_NOT_SERVED,
  TRYAGAIN,
} from "../core/rare-errors.ts";
import { keySlot } from "../lib/key-slot.ts";
import { slotWordsOf } from "../table/key-extraction.ts";
import type { ClusterNode, ClusterState } from "./state.ts";

/** A node, as far as it decides where commands run. */
export interface Router {
  readonly state: ClusterState;
  readonly self: ClusterNode;
  /** Slots on their way, and to or from which node. */
  readonly migrating: ReadonlyMap<number, string>;
  readonly importing: ReadonlyMap<number, string>;
  readonly isUp: boolean;
  readonly allowsReadsWhenDown: boolean;
  readonly allowsShardChannelsWhenDown: boolean;
  readonly db: Db;
  /** A node's address as clients of this node are told it. */
  addressOf(node: ClusterNode): string;
}

/** What is asked for: one command, or those of a transaction. */
export interface Routed {
  readonly calls: readonly QueuedCommand[];
  readonly writes: boolean;
  readonly asking: boolean;
  readonly readsReplica: boolean;
  /** MIGRATE: works on a slot that is open, on whichever node its keys are. */
  readonly movesKeys: boolean;
}

/** The words that decide, as far as they agree. */
interface Words {
  slot: number;
  first: string;
  several: boolean;
  onlyChannels: boolean;
  missing: number;
  existing: number;
}

/** The slot that a call is about if this node runs it, -1 without keys; or what the client gets instead. */
export function route(router: Router, routed: Routed): number | RedirectError {
  const words: Words = { slot: -1, first: "", several: false, onlyChannels: true, missing: 0, existing: 0 };
  for (const call of routed.calls) if (!collect(router, call, words)) return CROSSSLOT;
  const { slot } = words;
  if (slot < 0) return slot;
  const { state, self } = router;
  const owner = state.ownerOf(slot);
  if (owner === null) return SLOT_NOT_SERVED;
  const refusal = router.isUp ? null : whileDown(router, routed, words);
  if (refusal !== null) return refusal;
  const target = owner === self ? router.migrating.get(slot) : undefined;
  const isImporting = target === undefined && router.importing.has(slot);
  if ((target !== undefined || isImporting) && routed.movesKeys) return slot;
  if (target !== undefined && words.missing > 0) {
    if (words.existing > 0) return TRYAGAIN;
    const node = state.nodes.get(target);
    if (node !== undefined && node !== self) return ask(slot, router.addressOf(node));
  }
  if (isImporting && routed.asking) return words.several && words.missing > 0 ? TRYAGAIN : slot;
  if (owner === self) return slot;
  const readsHere = routed.readsReplica || words.onlyChannels;
  if (readsHere && self.primary === owner && !routed.writes) return slot;
  return moved(slot, router.addressOf(owner));
}

/** Adds the words of one command; false if they are in another slot. */
function collect(router: Router, { command, argv }: QueuedCommand, words: Words): boolean {
  for (const place of slotWordsOf(command, argv)) {
    const word = argv[place]!;
    if (words.slot < 0) {
      words.slot = keySlot(word);
      words.first = word;
    } else if (word !== words.first) {
      if (keySlot(word) !== words.slot) return false;
      words.several = true;
    }
    if (command.namesShardChannels) continue;
    words.onlyChannels = false;
    if (!router.migrating.has(words.slot) && !router.importing.has(words.slot)) continue;
    if (router.db.has(word) && !router.db.isDue(word)) words.existing++;
    else words.missing++;
  }
  return true;
}

function whileDown(router: Router, { writes }: Routed, { onlyChannels }: Words): RedirectError | null {
  if (onlyChannels) return router.allowsShardChannelsWhenDown ? null : CLUSTER_DOWN;
  if (!router.allowsReadsWhenDown) return CLUSTER_DOWN;
  return writes ? CLUSTER_DOWN_READS_ONLY : null;
}
