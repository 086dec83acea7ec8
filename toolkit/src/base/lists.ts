/**
 * Lists whose items belong together by their places: requests and their answers, names and what was read for each, fields and
 * values in turn. Code that walks them by an index has to claim that the other list is as long. The functions here look, once, and
 * give items that are known to be there.
 */
import { CinnabarError } from "./errors.ts";

/** A list that has a first item. */
export type Filled<T> = readonly [T, ...T[]];

export function isFilled<T>(list: readonly T[]): list is Filled<T> {
  return list.length > 0;
}

/** What a list that has a first item becomes, item by item. */
export function mapFilled<T, U>([first, ...others]: Filled<T>, to: (item: T) => U): Filled<U> {
  return [to(first), ...others.map((item) => to(item))];
}

/** Lists that must fit each other do not: a fault of this program or of the server, never of the caller. */
export class ListError extends CinnabarError {
  override readonly name = "ListError";

  constructor(message: string) {
    super("LIST", message);
  }
}

/** The items of two lists of one length, place by place. */
export function zipped<A, B>(left: readonly A[], right: readonly B[]): [A, B][] {
  const others = right.values();
  const pairs = left.map((each): [A, B] => {
    const other = others.next();
    if (other.done === true) throw new ListError(`${left.length} items were expected, not ${right.length}`);
    return [each, other.value];
  });
  if (right.length > left.length) throw new ListError(`${left.length} items were expected, not ${right.length}`);
  return pairs;
}

/** The items of a flat list two by two: fields and values, members and scores. */
export function inPairs<T>(flat: readonly T[]): [T, T][] {
  return zipped(
    flat.filter((_, at) => at % 2 === 0),
    flat.filter((_, at) => at % 2 === 1),
  );
}

/** The item of a list that has exactly one: the answer to a question about one thing, asked where many can be asked. */
export function only<T>(list: readonly T[]): T {
  for (const item of list) if (list.length === 1) return item;
  throw new ListError(`one item was expected, not ${list.length}`);
}

/** Makes room in a map or a set that keeps its entries in the order of their arrival. */
export function dropOldest<K>(entries: { keys(): Iterable<K>; delete(key: K): boolean }): void {
  for (const key of entries.keys()) {
    entries.delete(key);
    return;
  }
}

/** What a map has for a key, made first if it has nothing. */
export function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Asks for so many items at a time, one step after the other; the answers of all, in order. */
export async function inSteps<I, O>(
  items: readonly I[],
  atOnce: number,
  ask: (some: readonly I[]) => Promise<readonly O[]>,
): Promise<O[]> {
  const answers: O[] = [];
  for (let at = 0; at < items.length; at += atOnce) {
    for (const answer of await ask(items.slice(at, at + atOnce))) answers.push(answer);
  }
  return answers;
}
