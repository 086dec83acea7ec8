/** How HRANDFIELD, SRANDMEMBER and ZRANDMEMBER read their count and the word behind it. */

import type { Client } from "../../core/client.ts";
import { COUNT_OUT_OF_BOUNDS, SYNTAX, VALUE_OUT_OF_RANGE } from "../../core/errors.ts";
import { INT64_MAX, INT64_MIN } from "../../lib/numbers.ts";
import { heapFigures } from "../../platform/memory.ts";
import type { Args } from "../../table/args.ts";

/**
 * The most draws that one call may ask for. A reply is one array here, and V8 ends the process rather than the command when
 * an array grows past some 100 million elements, or past its heap; Redis would go on until its memory is full.
 */
const MAX_DRAWS = Math.min(2 ** 25, Math.floor(heapFigures().limit / 64));

export interface RandomCount {
  /** Positive: so many different ones. Negative: so many draws, each from all. */
  readonly count: number;
  /** Whether values or scores are wanted beside them. */
  readonly withBeside: boolean;
}

/** The count, then perhaps `token` (in lower case: `withvalues`, `withscores`), then the end. */
export function randomCount(args: Args, token?: string): RandomCount {
  const count = args.int64();
  if (count === INT64_MIN) throw COUNT_OUT_OF_BOUNDS;
  const withBeside = token !== undefined && args.more;
  if (withBeside && (args.left > 1 || !args.accept(token))) throw SYNTAX;
  args.end();
  // With something beside each one the reply is twice as long, and that must be countable too.
  if (withBeside && typeof count === "bigint" && (count > INT64_MAX / 2n || count < -INT64_MAX / 2n)) {
    throw VALUE_OUT_OF_RANGE;
  }
  return { count: Number(count), withBeside };
}

/** What a drawn element takes in a reply at least. */
const LEAST_BYTES = 6;

/**
 * How many draws a negative count stands for. Asked only where there is something to draw from. A client for which the reply
 * would be over its output limit in any case is cut off, as if the reply had been written up to there.
 */
export function drawsOf(client: Client, count: number): number {
  client.cutOffAt(-count * LEAST_BYTES);
  if (client.closed || count < -MAX_DRAWS) throw VALUE_OUT_OF_RANGE;
  return -count;
}
