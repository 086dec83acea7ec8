/** Figures of several rounds as one: the median, and a ratio with how far the rounds are apart. */

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export interface Ratio {
  /** Median of the ratios of the rounds. */
  readonly ratio: number;
  /** The lowest and the highest of a round. */
  readonly low: number;
  readonly high: number;
}

/** One figure of each round on both sides: `a` in proportion to `b`, round by round. Null: no round has both. */
export function ratioOf(a: readonly number[], b: readonly number[]): Ratio | null {
  const ratios = a.flatMap((each, at) => {
    const other = b[at];
    return other === undefined || other === 0 || each === 0 ? [] : [each / other];
  });
  if (ratios.length === 0) return null;
  return { ratio: median(ratios), low: Math.min(...ratios), high: Math.max(...ratios) };
}
