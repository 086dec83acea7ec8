/** Choosing some of many, evenly and none twice. */

/** `count` different numbers below `size`, every choice equally likely (the first steps of a Fisher–Yates shuffle). */
export function sampleIndexes(size: number, count: number, random: () => number): number[] {
  const indexes = new Array<number>(size);
  for (let i = 0; i < size; i++) indexes[i] = i;
  for (let i = 0; i < count; i++) {
    const j = i + Math.floor(random() * (size - i));
    const chosen = indexes[j]!;
    indexes[j] = indexes[i]!;
    indexes[i] = chosen;
  }
  indexes.length = count;
  return indexes;
}
