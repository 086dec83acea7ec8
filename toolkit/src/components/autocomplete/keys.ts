/** The keys of both completions: tagged by the person for recent contacts, by the group for prefixes. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("autocomplete");

/** Sorted set: folded name by the time it was last used. Hash: folded name → name as written. */
export function recentKeys(prefix: string, user: string): { recent: string; names: string } {
  const base = tagged(prefix, user, "user");
  return { recent: `${base}:recent`, names: `${base}:names` };
}

/**
 * Sorted set, all scores 0: `folded NUL name`, in the order of bytes. Hash: folded → weight. Sorted sets, one for each short
 * beginning: the same entries by weight.
 */
export function groupKeys(prefix: string, group: string): { lex: string; weights: string; top: string } {
  const base = tagged(prefix, group, "group");
  return { lex: `${base}:lex`, weights: `${base}:weights`, top: `${base}:top:` };
}
