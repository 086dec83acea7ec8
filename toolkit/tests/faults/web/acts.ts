/**
 * What actors do and say. An actor says what it is about to do before it does it, and what came of it afterwards; what it was
 * doing when it was killed has only the first line. So the test knows for each act that it was done, or that it may have been.
 */

export const MARKETS = ["script", "watch", "lock"] as const;
export type MarketWay = (typeof MARKETS)[number];
export const TRADERS = ["ann", "ben", "cat", "dan"] as const;
export const GOODS: readonly string[] = Array.from({ length: 8 }, (_, nth) => `item ${nth}`);
/** The lease of traders under locks: how long a killed one keeps others waiting. */
export const LEASE_MS = 500;
export const ARTICLES: readonly string[] = ["first", "second", "third"];
export const VISITORS: readonly string[] = ["v0", "v1", "v2", "v3"];
export const SHOPPERS: readonly string[] = ["s0", "s1", "s2"];
export const CARTS = { maxItems: 10_000 };
/** Those of killed actors stay: none may be ended because there are too many. */
export const SESSIONS = { maxPerUser: 10_000 };
/** Long ones only: nothing may fall out of a counter while it is being tested. */
export const COUNTERS = { precisionsMs: [86_400_000], keepCount: 5, bufferMs: 1 };

export type Act =
  /** An amount below zero is taken out. */
  | {
      readonly kind: "move";
      readonly way: MarketWay;
      readonly user: string;
      readonly amount: number;
      readonly id: string;
    }
  | {
      readonly kind: "buy";
      readonly way: MarketWay;
      readonly user: string;
      readonly item: string;
      readonly price: number;
      readonly id: string;
    }
  | { readonly kind: "trade"; readonly way: MarketWay }
  | { readonly kind: "vote"; readonly article: string; readonly user: string; readonly weight: number }
  /** One of an item that nobody else puts anywhere. */
  | { readonly kind: "put"; readonly visitor: string; readonly item: string }
  | { readonly kind: "merge"; readonly from: string; readonly to: string }
  /** A session with a mark that no other has. */
  | { readonly kind: "visit"; readonly mark: string }
  | { readonly kind: "sign in"; readonly mark: string; readonly token: string }
  | { readonly kind: "sign out"; readonly mark: string; readonly token: string }
  | { readonly kind: "use"; readonly token: string }
  | { readonly kind: "count"; readonly name: string };

export type Line =
  | { readonly t: "try"; readonly n: number; readonly act: Act }
  /** `answer`: what the component answered, as text. */
  | { readonly t: "ok"; readonly n: number; readonly answer: string }
  /** The connection was lost: it may have been done. */
  | { readonly t: "unknown"; readonly n: number };

/** An act as the test knows it. `answer` is null if nobody knows what came of it. */
export interface Deed {
  readonly act: Act;
  answer: string | null;
}

/** Pulls the acts out of lines, in the order in which they were begun. */
export class Deeds {
  readonly all: Deed[] = [];
  readonly #byNumber = new Map<number, Deed>();

  hear(line: Line): void {
    if (line.t === "try") {
      const deed: Deed = { act: line.act, answer: null };
      this.#byNumber.set(line.n, deed);
      this.all.push(deed);
    } else if (line.t === "ok") {
      this.#byNumber.get(line.n)!.answer = line.answer;
    }
  }
}

export function randomFrom(seed: number): (below: number) => number {
  let state = (seed * 2654435761) >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
