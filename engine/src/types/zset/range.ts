/**
 * The two kinds of interval that sorted-set commands speak of: by score and by the bytes of the member. Commands read them
 * from words, the encodings turn them into ranks.
 */

export interface ScoreRange {
  readonly min: number;
  readonly max: number;
  /** The bound itself is left out. */
  readonly minOpen: boolean;
  readonly maxOpen: boolean;
}

/** One end of an interval of members: a word, or a place before (-1) or behind (1) every word. */
export interface LexBound {
  readonly beyond: -1 | 0 | 1;
  readonly word: string;
  readonly open: boolean;
}

export interface LexRange {
  readonly min: LexBound;
  readonly max: LexBound;
}

export function isAtOrAfter(member: string, min: LexBound): boolean {
  if (min.beyond !== 0) return min.beyond < 0;
  return min.open ? member > min.word : member >= min.word;
}

export function isAtOrBefore(member: string, max: LexBound): boolean {
  if (max.beyond !== 0) return max.beyond > 0;
  return max.open ? member < max.word : member <= max.word;
}

/** Ranks `from` up to but not including `to`. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

export const NO_INTERVAL: Interval = { from: 0, to: 0 };

/** Called with each member in turn; returning false ends the walk. */
export type Visit = (member: string, score: number) => unknown;
