/**
 * What SCAN, HSCAN, SSCAN and ZSCAN share: reading the cursor, reading MATCH, COUNT and TYPE, and the shape of the reply.
 *
 * The order in which Redis complains matters: the cursor is read before the key is looked up, the options after it. So a
 * bad cursor is an error whatever the key holds, and a missing key answers an empty page whatever the options say.
 */

import type { Client } from "../../core/client.ts";
import { INVALID_CURSOR, SYNTAX } from "../../core/errors.ts";
import type { Reply } from "../../core/reply.ts";
import { hideCursor, showCursor } from "../../core/scan-cursor.ts";
import { compileGlob } from "../../lib/glob.ts";
import type { Args } from "../../table/args.ts";
import type { Collection, CollectionClass } from "../../types/collection.ts";

export interface ScanOptions {
  /** About how many entries to look at. */
  readonly count: number;
  /** Whether a word passes MATCH; undefined when every word does. */
  readonly matches: ((word: string) => boolean) | undefined;
  /** SCAN's TYPE in lower case. */
  readonly type: string | undefined;
}

/** The page behind the last one, and the page of a key that does not exist. */
export const EMPTY_SCAN: Reply = ["0", []];

const CURSOR_LIMIT = 1n << 64n;
const CURSOR_BITS = (1n << 32n) - 1n;

/**
 * The next word as a cursor, read as C's strtoul does: digits with an optional sign, nothing at all means 0, bytes after a
 * NUL are not seen. Cursors are 32 bits wide here (scan-cursor.ts); of a wider one, which no server of ours has given, the low
 * bits count.
 */
export function scanCursor(args: Args): number {
  const word = args.next();
  const nul = word.indexOf("\0");
  const text = nul < 0 ? word : word.slice(0, nul);
  const sign = text.charCodeAt(0);
  const start = sign === 0x2d || sign === 0x2b ? 1 : 0;
  if (text.length === start && start === 1) throw INVALID_CURSOR;
  let value = 0;
  for (let i = start; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) throw INVALID_CURSOR;
    value = value * 10 + digit;
  }
  if (value < 4294967296 && sign !== 0x2d) return showCursor(value);
  const whole = BigInt(text.slice(start));
  if (whole >= CURSOR_LIMIT) throw INVALID_CURSOR;
  return showCursor(Number((sign === 0x2d ? -whole : whole) & CURSOR_BITS));
}

/** The options behind the cursor; TYPE is SCAN's alone. */
export function scanOptions(args: Args, withType = false): ScanOptions {
  let count = 10;
  let pattern: string | undefined;
  let type: string | undefined;
  while (args.more) {
    const option = args.option();
    if (option === "count" && args.more) {
      count = args.int();
      if (count < 1) throw SYNTAX;
    } else if (option === "match" && args.more) {
      pattern = args.next();
    } else if (option === "type" && withType && args.more) {
      type = args.option();
    } else {
      throw SYNTAX;
    }
  }
  const matches = pattern === undefined || pattern === "*" ? undefined : compileGlob(pattern);
  return { count, matches, type };
}

/** Walks one step through a collection from a cursor on; returns the next cursor, 0 at the end. */
export type Walk<V> = (
  value: V,
  cursor: number,
  count: number,
  /** `word` is what MATCH looks at; `beside` is a hash's value or a member's score, printed. */
  emit: (word: string, beside?: string) => void,
) => number;

/** HSCAN, SSCAN and ZSCAN from their key on. */
export function scanCollection<V extends Collection>(
  client: Client,
  args: Args,
  type: CollectionClass<V>,
  walk: Walk<V>,
): Reply {
  const key = args.next();
  const cursor = scanCursor(args);
  const value = client.db.get(key, type);
  if (value === undefined) return EMPTY_SCAN;
  const { count, matches } = scanOptions(args);
  const items: string[] = [];
  const next = walk(value, cursor, count, (word, beside) => {
    if (matches !== undefined && !matches(word)) return;
    items.push(word);
    if (beside !== undefined) items.push(beside);
  });
  return [String(hideCursor(next)), items];
}
