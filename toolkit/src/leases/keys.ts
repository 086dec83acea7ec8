/** The keys of one name, all in one slot. */
import { tagged } from "../base/keys.ts";

export interface PermitKeys {
  readonly state: string;
  readonly held: string;
  readonly queue: string;
  /** Locks have no limit to store: theirs is never read. */
  readonly limitKey: string;
}

export function permitKeys(prefix: string, name: string, what: string): PermitKeys {
  const state = tagged(prefix, name, what);
  return { state, held: `${state}:held`, queue: `${state}:queue`, limitKey: `${state}:limit` };
}

/** What stands in the first braces of a key: equal tags, equal slots. */
export function tagOf(key: string): string {
  const from = key.indexOf("{") + 1;
  return key.slice(from, key.indexOf("}", from));
}
