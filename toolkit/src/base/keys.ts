/**
 * How components name their keys: `prefix:{name}:part`. What stands in braces decides the slot in a Cluster, so all keys of one
 * thing (a lock, a queue, a user) are together, and different things spread over the nodes.
 */
import { wellFormed } from "./checks.ts";
import { InputError } from "./errors.ts";

const MAX_NAME_BYTES = 1_024;

/** The beginning of all keys of one thing. `what` names it in messages: "lock", "queue". */
export function tagged(prefix: string, name: string, what: string): string {
  const thing = /^[aeio]/.test(what) ? `an ${what}` : `a ${what}`;
  if (typeof name !== "string" || name === "") throw new InputError(`the name of ${thing} must be a non-empty string`);
  // "{}" would be no tag at all, and the keys would land in different slots.
  if (name.startsWith("}")) throw new InputError(`the name of ${thing} must not begin with "}"`);
  if (prefix.includes("{")) throw new InputError(`the prefix of ${thing} must not contain "{"`);
  wellFormed(`the name of ${thing}`, name);
  if (Buffer.byteLength(name, "utf8") > MAX_NAME_BYTES) {
    throw new InputError(`the name of ${thing} must not be longer than ${MAX_NAME_BYTES} bytes`);
  }
  return `${prefix}:{${name}}`;
}
