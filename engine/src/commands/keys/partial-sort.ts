/**
 * Sorts only as much of an array as is needed to have the items of one interval in place: quicksort that leaves alone the
 * parts outside it.
 *
 * SORT uses it where Redis does (BY together with LIMIT), and it is Bentley and McIlroy's quicksort, step by step as they
 * published it, because the order in which it leaves equal items is something that clients can see.
 */

type Compare<T> = (a: T, b: T) => number;

function swap<T>(items: T[], i: number, j: number): void {
  const item = items[i]!;
  items[i] = items[j]!;
  items[j] = item;
}

function swapRuns<T>(items: T[], i: number, j: number, count: number): void {
  for (let n = 0; n < count; n++) swap(items, i + n, j + n);
}

function insertionSort<T>(items: T[], compare: Compare<T>, low: number, high: number): void {
  for (let i = low + 1; i < high; i++) {
    for (let j = i; j > low && compare(items[j - 1]!, items[j]!) > 0; j--) swap(items, j, j - 1);
  }
}

/** Which of three places holds the middle item. */
function median<T>(items: T[], compare: Compare<T>, a: number, b: number, c: number): number {
  const x = items[a]!;
  const y = items[b]!;
  const z = items[c]!;
  if (compare(x, y) < 0) {
    if (compare(y, z) < 0) return b;
    return compare(x, z) < 0 ? c : a;
  }
  if (compare(y, z) > 0) return b;
  return compare(x, z) < 0 ? a : c;
}

function pivotOf<T>(items: T[], compare: Compare<T>, low: number, high: number): number {
  const count = high - low;
  const middle = low + (count >> 1);
  if (count === 7) return middle;
  if (count <= 40) return median(items, compare, low, middle, high - 1);
  const d = count >> 3;
  const first = median(items, compare, low, low + d, low + 2 * d);
  const second = median(items, compare, middle - d, middle, middle + d);
  const third = median(items, compare, high - 1 - 2 * d, high - 1 - d, high - 1);
  return median(items, compare, first, second, third);
}

/**
 * Splits the items from `low` up to `high` around a pivot: smaller ones first, then those equal to it, then larger ones.
 * Returns where the equal ones begin and end.
 */
function partition<T>(items: T[], compare: Compare<T>, low: number, high: number): [number, number] {
  swap(items, low, pivotOf(items, compare, low, high));
  const pivot = items[low]!;
  // Equal ones gather at both ends: up to a, and behind d.
  let a = low + 1;
  let b = a;
  let c = high - 1;
  let d = c;
  for (;;) {
    for (; b <= c; b++) {
      const order = compare(items[b]!, pivot);
      if (order > 0) break;
      if (order === 0) swap(items, a++, b);
    }
    for (; b <= c; c--) {
      const order = compare(items[c]!, pivot);
      if (order < 0) break;
      if (order === 0) swap(items, c, d--);
    }
    if (b > c) break;
    swap(items, b++, c--);
  }
  const left = Math.min(a - low, b - a);
  swapRuns(items, low, b - left, left);
  const right = Math.min(d - c, high - 1 - d);
  swapRuns(items, b, high - right, right);
  return [low + (b - a), high - (d - c)];
}

/** Brings the items of the places from `from` up to `to` into place. */
export function partialSort<T>(items: T[], compare: Compare<T>, from: number, to: number): void {
  const pending: [number, number][] = [[0, items.length]];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    const [low, high] = part;
    if (high - low < 2 || high <= from || low >= to) continue;
    if (high - low < 7) {
      insertionSort(items, compare, low, high);
      continue;
    }
    const [equal, larger] = partition(items, compare, low, high);
    pending.push([low, equal], [larger, high]);
  }
}
