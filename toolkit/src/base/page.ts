/** One page of a listing, the same shape in every component. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Give it back as `cursor` for the next page. Null: this was the last one. */
  readonly cursor: string | null;
}

/** What every listing takes. */
export interface PageOptions {
  /** At most so many items. */
  readonly limit?: number;
  /** `cursor` of the page before. */
  readonly cursor?: string;
}
