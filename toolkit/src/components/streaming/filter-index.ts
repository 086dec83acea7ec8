/**
 * Whom a status goes to, among thousands of listeners: the filters turned around. A status is looked up by its words, its user
 * and its place, so that the cost follows the words of the status and the listeners that get it, not the listeners there are.
 *
 * Phrases: the same phrase of many listeners is one node, filed under one of its words (the one with the fewest nodes at that
 * moment, so that "the a", "the b", "the c" do not all stand under "the"); a status visits the nodes under each of its words
 * and checks their other words. Boxes: small ones stand in cells of one degree, larger ones in cells of ten, the largest in a
 * list; the status visits two cells and the list. Samples: sorted by size, and the status goes to all above its rank.
 */
import { type Box, type CompiledFilter, isInside, sampleRank, type Traits } from "./filters.ts";

export interface Listener {
  readonly filter: CompiledFilter;
  /** The last look-up that found it. Belongs to the index. */
  seenIn: number;
}

interface PhraseNode<L> {
  readonly words: readonly string[];
  readonly filedUnder: string;
  readonly listeners: Set<L>;
}

interface BoxNode<L> {
  readonly box: Box;
  readonly listeners: Set<L>;
  /** Where it is filed: sets to take it out of again. */
  readonly places: readonly { readonly cells: Map<number, Set<BoxNode<L>>>; readonly cell: number }[];
}

const LEVELS = [1, 10] as const;
/** A box in more cells than this goes a level up. */
const MOST_CELLS = 64;

export class FilterIndex<L extends Listener> {
  readonly #phrases = new Map<string, PhraseNode<L>>();
  readonly #phrasesByWord = new Map<string, Set<PhraseNode<L>>>();
  readonly #byUserId = new Map<string, Set<L>>();
  readonly #byLogin = new Map<string, Set<L>>();
  readonly #boxes = new Map<string, BoxNode<L>>();
  readonly #levels = LEVELS.map((size) => ({ size, cells: new Map<number, Set<BoxNode<L>>>() }));
  readonly #wide = new Set<BoxNode<L>>();
  /** The largest sample first. */
  readonly #samples: L[] = [];
  readonly #all = new Set<L>();
  /** Listeners that may have seen anything, as far as a delete alone can tell. */
  readonly #lookInside = new Set<L>();
  #lookUps = 0;

  add(listener: L): void {
    const { filter } = listener;
    for (const words of filter.phrases) this.#addPhrase(words, listener);
    for (const userId of filter.userIds) addTo(this.#byUserId, userId, listener);
    for (const login of filter.logins) addTo(this.#byLogin, login, listener);
    for (const box of filter.boxes) this.#addBox(box, listener);
    if (filter.sample > 0) this.#samples.splice(this.#firstSampleBelow(filter.sample), 0, listener);
    if (filter.all) this.#all.add(listener);
    if (filter.looksInside) this.#lookInside.add(listener);
  }

  delete(listener: L): void {
    const { filter } = listener;
    for (const words of filter.phrases) this.#deletePhrase(words, listener);
    for (const userId of filter.userIds) deleteFrom(this.#byUserId, userId, listener);
    for (const login of filter.logins) deleteFrom(this.#byLogin, login, listener);
    for (const box of filter.boxes) this.#deleteBox(box, listener);
    if (filter.sample > 0) {
      const at = this.#samples.indexOf(listener, this.#firstNotAbove(filter.sample));
      if (at >= 0) this.#samples.splice(at, 1);
    }
    this.#all.delete(listener);
    this.#lookInside.delete(listener);
  }

  /** Everyone who wants the status, once. */
  find(traits: Traits): L[] {
    const found: L[] = [];
    const lookUp = ++this.#lookUps;
    const take = (listeners: Iterable<L> | undefined): void => {
      if (listeners !== undefined) collect(listeners, lookUp, found);
    };
    take(this.#all);
    this.#takeSamples(traits.rank, lookUp, found);
    take(this.#byUserId.get(traits.userId));
    take(this.#byLogin.get(traits.login));
    for (const word of traits.words) {
      if (word.charCodeAt(0) === AT) take(this.#byLogin.get(word.slice(1)));
      const nodes = this.#phrasesByWord.get(word);
      if (nodes === undefined) continue;
      for (const { words, listeners } of nodes) if (words.every((each) => traits.words.has(each))) take(listeners);
    }
    if (traits.place !== undefined && this.#boxes.size > 0) {
      const { longitude, latitude } = traits.place;
      for (const node of this.#boxesAt(longitude, latitude)) {
        if (isInside(node.box, longitude, latitude)) take(node.listeners);
      }
    }
    return found;
  }

  /** Everyone who may have got a status of which only this is known, once. */
  findForDelete(id: string, userId: string): L[] {
    const found: L[] = [];
    const lookUp = ++this.#lookUps;
    collect(this.#all, lookUp, found);
    collect(this.#lookInside, lookUp, found);
    this.#takeSamples(sampleRank(id), lookUp, found);
    collect(this.#byUserId.get(userId) ?? [], lookUp, found);
    return found;
  }

  #takeSamples(rank: number, lookUp: number, found: L[]): void {
    for (const listener of this.#samples) {
      if (listener.filter.sample <= rank) break;
      if (listener.seenIn === lookUp) continue;
      listener.seenIn = lookUp;
      found.push(listener);
    }
  }

  #addPhrase(words: readonly string[], listener: L): void {
    const key = words.join(" ");
    let node = this.#phrases.get(key);
    if (node === undefined) {
      const load = (word: string): number => this.#phrasesByWord.get(word)?.size ?? 0;
      const filedUnder = words.reduce((best, word) => {
        const less = load(word) - load(best);
        return less < 0 || (less === 0 && word.length > best.length) ? word : best;
      });
      node = { words, filedUnder, listeners: new Set() };
      this.#phrases.set(key, node);
      addTo(this.#phrasesByWord, filedUnder, node);
    }
    node.listeners.add(listener);
  }

  #deletePhrase(words: readonly string[], listener: L): void {
    const key = words.join(" ");
    const node = this.#phrases.get(key);
    if (node === undefined || !node.listeners.delete(listener) || node.listeners.size > 0) return;
    this.#phrases.delete(key);
    deleteFrom(this.#phrasesByWord, node.filedUnder, node);
  }

  #addBox(box: Box, listener: L): void {
    const key = boxKey(box);
    let node = this.#boxes.get(key);
    if (node === undefined) {
      const places = this.#placesOf(box);
      node = { box, listeners: new Set(), places: places ?? [] };
      this.#boxes.set(key, node);
      for (const place of node.places) addTo(place.cells, place.cell, node);
      if (places === null) this.#wide.add(node);
    }
    node.listeners.add(listener);
  }

  #deleteBox(box: Box, listener: L): void {
    const key = boxKey(box);
    const node = this.#boxes.get(key);
    if (node === undefined || !node.listeners.delete(listener) || node.listeners.size > 0) return;
    this.#boxes.delete(key);
    this.#wide.delete(node);
    for (const place of node.places) deleteFrom(place.cells, place.cell, node);
  }

  /** The cells of the finest level that a box does not fill too many of; null for a box that is too wide for all. */
  #placesOf(box: Box): BoxNode<L>["places"] | null {
    for (const { size, cells } of this.#levels) {
      const covered = cellsOf(box, size);
      if (covered !== null) return covered.map((cell) => ({ cells, cell }));
    }
    return null;
  }

  *#boxesAt(longitude: number, latitude: number): Generator<BoxNode<L>> {
    for (const { size, cells } of this.#levels) {
      const nodes = cells.get(cellAt(longitude, latitude, size));
      if (nodes !== undefined) yield* nodes;
    }
    yield* this.#wide;
  }

  /** Where a new one of this size goes: behind its equals. */
  #firstSampleBelow(sample: number): number {
    return bisect(this.#samples, (each) => each.filter.sample < sample);
  }

  #firstNotAbove(sample: number): number {
    return bisect(this.#samples, (each) => each.filter.sample <= sample);
  }
}

const AT = "@".charCodeAt(0);

function collect<L extends Listener>(listeners: Iterable<L>, lookUp: number, found: L[]): void {
  for (const listener of listeners) {
    if (listener.seenIn === lookUp) continue;
    listener.seenIn = lookUp;
    found.push(listener);
  }
}

function addTo<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([value]));
  else set.add(value);
}

function deleteFrom<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key);
  if (set?.delete(value) === true && set.size === 0) sets.delete(key);
}

/** The first place from which on it holds. */
function bisect<T>(sorted: readonly T[], holds: (each: T) => boolean): number {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (holds(sorted[middle]!)) to = middle;
    else from = middle + 1;
  }
  return from;
}

const boxKey = ({ west, south, east, north }: Box): string => `${west},${south},${east},${north}`;

const column = (longitude: number, size: number): number => Math.floor((longitude + 180) / size);
const row = (latitude: number, size: number): number => Math.floor((latitude + 90) / size);

function cellAt(longitude: number, latitude: number, size: number): number {
  return row(latitude, size) * 1_000 + column(longitude, size);
}

/** The cells that a box touches; null when they are too many. */
function cellsOf({ west, south, east, north }: Box, size: number): number[] | null {
  const ranges = west <= east ? [[west, east] as const] : [[west, 180] as const, [-180, east] as const];
  const columns = ranges.map(([from, to]) => [column(from, size), column(to, size)] as const);
  const rows = [row(south, size), row(north, size)] as const;
  const wide = columns.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  if (wide * (rows[1] - rows[0] + 1) > MOST_CELLS) return null;
  const cells: number[] = [];
  for (let y = rows[0]; y <= rows[1]; y++) {
    for (const [from, to] of columns) for (let x = from; x <= to; x++) cells.push(y * 1_000 + x);
  }
  return cells;
}
