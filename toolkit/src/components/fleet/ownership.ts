/**
 * Which keys of a server belong to which component.
 *
 * A component with `prefixes` owns the keys that begin with one of them. A component without owns every key of its servers, so
 * it shares a server with nobody. The keys of the fleet itself (`fleet:…`) belong to no component, wherever they are.
 *
 * A move deletes keys: what an unfinished move left at the target, and what has moved at the source. So a mover looks at owned
 * keys only, and a server that holds other keys is taken in only if they belong to another component of the fleet, or if the
 * caller says that the server is shared with something outside of the fleet.
 */

import { word } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { HOUSE_KEYS } from "../../base/layout.ts";
import type { ComponentLayout, Layout } from "./layout.ts";

const MOST_PREFIXES = 64;
const LISTS = Buffer.from(HOUSE_KEYS);

/**
 * Whose a key is: this component's, another one's, the fleet's own, or nobody's that the fleet knows. The lists of what a server is
 * used for (`cinnabar:`, see layout.ts and names.ts) stay where they are, as the fleet's own keys do: each server has its own.
 */
export type KeyOwner = "own" | "other" | "fleet" | "none";

export type Owners = (key: Buffer) => KeyOwner;

export function checkPrefixes(prefixes: readonly string[], reserved: string): readonly string[] {
  if (!Array.isArray(prefixes) || prefixes.length === 0 || prefixes.length > MOST_PREFIXES) {
    throw new InputError(`prefixes must be an array of 1 to ${MOST_PREFIXES} strings`);
  }
  for (const prefix of prefixes) {
    word("a prefix", prefix, 256);
    if (begins(prefix, reserved)) throw new InputError(`keys that begin with "${reserved}" belong to the fleet itself`);
  }
  return [...new Set(prefixes)].sort();
}

/** Whether one of two texts begins with the other. */
function begins(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}

/** Refuses two components on one server whose keys nobody could tell apart. */
export function checkNeighbours(
  name: string,
  component: ComponentLayout,
  neighbours: readonly (readonly [string, ComponentLayout])[],
): void {
  for (const [other, { prefixes }] of neighbours) {
    if (prefixes === undefined || component.prefixes === undefined) {
      throw new InputError(
        `"${name}" and "${other}" would share a server, and their keys could not be told apart: define both with prefixes`,
      );
    }
    for (const one of component.prefixes) {
      const same = prefixes.find((each) => begins(one, each));
      if (same !== undefined) {
        throw new InputError(`"${name}" and "${other}" would both own keys that begin with "${longer(one, same)}"`);
      }
    }
  }
}

const longer = (one: string, other: string): string => (one.length > other.length ? one : other);

/** Tells for every key of a component's servers whose it is. */
export function ownersFor({ components }: Layout, name: string, reserved: string): Owners {
  const toBytes = (prefixes: readonly string[] = []) => prefixes.map((prefix) => Buffer.from(prefix));
  const fleet = Buffer.from(reserved);
  const own = components[name]?.prefixes;
  const ownPrefixes = toBytes(own);
  const otherPrefixes = Object.entries(components).flatMap(([each, { prefixes }]) =>
    each === name ? [] : toBytes(prefixes),
  );
  return (key) => {
    if (starts(key, fleet) || starts(key, LISTS)) return "fleet";
    if (own === undefined || ownPrefixes.some((prefix) => starts(key, prefix))) return "own";
    return otherPrefixes.some((prefix) => starts(key, prefix)) ? "other" : "none";
  };
}

function starts(key: Buffer, prefix: Buffer): boolean {
  return key.length >= prefix.length && key.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}

/** A key for a message: as text, and not too long. */
export function shown(key: Buffer): string {
  const text = key.toString();
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
