/**
 * Things that come and go by the thousand, in no order: in and out in constant time, by the place that each was given.
 *
 * Not a Map or a Set, for the collector's sake. When those grow, shrink or tidy up, V8 links the outdated table to the new one. Once
 * a full collection has moved a table to the old generation, that link keeps every later table alive, with all that stood in it,
 * until the next full collection; and scavenges copy what they could have dropped. With 50 locks taken and given back at a time,
 * ten times as much survived, and half of the process's time went there.
 */
export interface BagPlace<T> {
  readonly item: T;
  /** Where it is now; -1 once it is out. */
  at: number;
}

export class Bag<T> {
  readonly #places: BagPlace<T>[] = [];

  get size(): number {
    return this.#places.length;
  }

  add(item: T): BagPlace<T> {
    const place = { item, at: this.#places.length };
    this.#places.push(place);
    return place;
  }

  /** False if it is out already. */
  remove(place: BagPlace<T>): boolean {
    const { at } = place;
    if (at < 0 || this.#places[at] !== place) return false;
    place.at = -1;
    const last = this.#places.pop();
    if (last !== undefined && last !== place) {
      this.#places[at] = last;
      last.at = at;
    }
    return true;
  }

  /** All that are in it now: it may change while the caller goes through them. */
  items(): T[] {
    return this.#places.map(({ item }) => item);
  }

  clear(): void {
    for (const place of this.#places) place.at = -1;
    this.#places.length = 0;
  }
}
