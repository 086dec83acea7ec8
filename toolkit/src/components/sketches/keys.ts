/** The keys of a sketch: what it is made of and its bytes, together on one node. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("sketches");

export interface SketchKeys {
  /** Hash: `plan` how the bytes are laid out, and figures: `count`, `layer`, `total`. */
  readonly meta: string;
  /** String: bits, fingerprints or cells. */
  readonly cells: string;
}

export function sketchKeys(prefix: string, name: string, what: string): SketchKeys {
  const base = tagged(prefix, name, what);
  return { meta: `${base}:meta`, cells: `${base}:cells` };
}

export interface TopKeys {
  /** Sorted set: item by its count, which may be too large by what `errors` says. */
  readonly counts: string;
  /** Hash: item → by how much its count may be too large. */
  readonly errors: string;
  /** Hash: `plan`, and `total`. */
  readonly meta: string;
}

export function topKeys(prefix: string, name: string): TopKeys {
  const base = tagged(prefix, name, "top-k");
  return { counts: `${base}:counts`, errors: `${base}:errors`, meta: `${base}:meta` };
}
