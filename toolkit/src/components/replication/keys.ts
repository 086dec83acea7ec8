/** The key of waiting for replicas. */

import { InputError } from "../../base/errors.ts";
import { slotOf } from "../../connection/slots.ts";

/** String, lives for a minute: written before waiting, so that there is something to wait for. In the slot of `key`, if any. */
export function markKey(prefix: string, key: string | undefined): string {
  if (key === undefined) return `${prefix}:mark`;
  const mark = `${prefix}:mark:{${/\{([^}]+)\}/.exec(key)?.[1] ?? key}}`;
  if (slotOf(mark) !== slotOf(key)) throw new InputError(`no other key can be put beside "${key}": give it a {tag}`);
  return mark;
}
