/**
 * Which keys of a database are in which slot of a Cluster. The door (db.ts) keeps it while cluster mode is on, so counting
 * the keys of a slot and listing some of them, which moving a slot does again and again, looks at no other key. A slot
 * without keys takes one place in an array.
 */

import { keySlot, SLOTS } from "../lib/key-slot.ts";

export class SlotIndex {
  readonly #keys: (Set<string> | undefined)[] = new Array(SLOTS).fill(undefined);

  add(key: string): void {
    const slot = keySlot(key);
    const keys = this.#keys[slot];
    if (keys === undefined) this.#keys[slot] = new Set([key]);
    else keys.add(key);
  }

  delete(key: string): void {
    const slot = keySlot(key);
    const keys = this.#keys[slot];
    if (keys?.delete(key) && keys.size === 0) this.#keys[slot] = undefined;
  }

  clear(): void {
    this.#keys.fill(undefined);
  }

  /** How many keys a slot has. */
  count(slot: number): number {
    return this.#keys[slot]?.size ?? 0;
  }

  /** So many keys of a slot, or all that it has. */
  keysOf(slot: number, most: number): string[] {
    const found: string[] = [];
    for (const key of this.#keys[slot] ?? []) {
      if (found.length >= most) break;
      found.push(key);
    }
    return found;
  }
}
