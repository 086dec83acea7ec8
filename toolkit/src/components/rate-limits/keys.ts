/** The keys of a limiter. Each subject has a tag of its own, so that subjects spread over the nodes of a Cluster. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("rate-limits");

/** The beginning of the subject's keys. */
export function subjectKey(prefix: string, limiter: string, subject: string): string {
  return tagged(`${prefix}:${limiter}`, subject, "subject of a rate limit");
}

/** One for each rule, by its place: string (fixed window: count; GCRA: theoretical arrival time) or sorted set (sliding). */
export const ruleKey = (base: string, at: number): string => `${base}:${at}`;
