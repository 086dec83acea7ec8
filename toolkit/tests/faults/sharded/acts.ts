/** What the processes of this folder do and say: a line before each act, and one with its answer. */

export interface ActorOrder {
  readonly url: string;
  /** No two actors of a test have the same. */
  readonly name: string;
  readonly seed: number;
}

export interface MoverOrder {
  readonly url: string;
  readonly seed: number;
}

export type Act =
  | { readonly kind: "hash" | "set" | "zset"; readonly element: string; readonly value: number | null }
  | { readonly kind: "bitmap"; readonly element: string; readonly value: number | null }
  | { readonly kind: "push"; readonly value: string }
  | { readonly kind: "pop" };

export type Line =
  | { readonly t: "try"; readonly n: number; readonly act: Act }
  | { readonly t: "ok"; readonly n: number; readonly answer: string | null }
  | { readonly t: "unknown"; readonly n: number }
  | { readonly t: "fault"; readonly what: string };

export const KINDS = ["hash", "set", "zset", "bitmap"] as const;
export type Kind = (typeof KINDS)[number];

/** Small, so that a few hundred elements are in many shards. */
export const SMALL = { tags: 4, expected: 100, shardSize: 16 } as const;
export const BITMAP = { tags: 4, shardSize: 1_024 } as const;
export const LIST = { lanes: 2, pieceSize: 8 } as const;

export function randomFrom(seed: number): (below: number) => number {
  let state = (seed * 7_919 + 12_345) % 2_147_483_647;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}
