/** The keys of a series: one tag each, so that series spread. Which labels they have is one index, with a tag of its own. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("time-series");

export interface SeriesKeys {
  /** Hash: `at` and `value` of the newest sample. Expires when nothing is kept any more. */
  readonly newest: string;
  /** The beginning of the keys of buckets. Each holds 128 of one width, one after the other: hash, number → figures. Expires. */
  readonly buckets: string;
}

export function seriesKeys(prefix: string, name: string): SeriesKeys {
  const base = tagged(prefix, name, "time series");
  return { newest: `${base}:newest`, buckets: `${base}:b:` };
}

export interface LabelKeys {
  /** Hash: series → its labels as JSON. */
  readonly labels: string;
  /** The beginning of the keys of labels: sorted set, all scores 0, of the series that have it. */
  readonly having: string;
}

/** The name of no series: those are in braces without a colon before them. */
export function labelKeys(prefix: string): LabelKeys {
  const base = tagged(`${prefix}:index`, "labels", "index of labels");
  return { labels: `${base}:of`, having: `${base}:is:` };
}
