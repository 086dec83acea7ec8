/**
 * What actors of the network of ads do and say. An actor says what it is about to do before it does it, and what came of it
 * afterwards; what it was doing when it was killed has only the first line.
 */
import type { AdSpec, Ads, AdsOptions } from "../../../src/components/ads/index.ts";

export const NETWORK = "faults";
/** Impressions that somebody leaves behind are over after a moment and give their money back, and clicks are never too soon. */
export const OPTIONS: AdsOptions = {
  minClickDelayMs: 0,
  viewWindowMs: 300,
  clickWindowMs: 300,
  actionWindowMs: 300,
  priorViews: 20,
};
export const CAP = 4;
export const USERS: readonly string[] = Array.from({ length: 12 }, (_, nth) => `user ${nth}`);

/** Budgets that are used up on the way, of every kind. */
export const ADS: Readonly<Record<string, AdSpec<null>>> = {
  "by view": { model: "cpm", bidMicros: 7_000, budget: { totalMicros: 7 * 150 } },
  "by click": {
    model: "cpc",
    bidMicros: 1_100,
    budget: { totalMicros: 1_100 * 20, dailyMicros: 1_100 * 15, pacing: "asap" },
  },
  "by click, sure": { model: "cpc", bidMicros: 1_300, reserve: "full", budget: { totalMicros: 1_300 * 20 } },
  "by action": { model: "cpa", bidMicros: 9_000, budget: { totalMicros: 9_000 * 12 } },
  capped: { model: "cpm", bidMicros: 9_000, cap: { views: CAP, everyMs: 86_400_000 } },
  everywhere: { model: "cpm", bidMicros: 1_000 },
};

export type Kind = "view" | "click" | "action";

export type Act =
  | { readonly kind: "target"; readonly id: string; readonly user: string }
  | {
      readonly kind: Kind;
      readonly id: string;
      readonly impression: string;
      readonly ad: string;
      readonly user: string;
    };

export type Answer =
  | { readonly impression: string; readonly ad: string }
  | { readonly charged: number }
  | { readonly why: string }
  | { readonly nothing: true };

export type Line =
  | { readonly t: "try"; readonly n: number; readonly act: Act }
  | { readonly t: "ok"; readonly n: number; readonly answer: Answer };

/** An act as the test knows it. `answer` is null if nobody knows what came of it. */
export interface Deed {
  readonly act: Act;
  answer: Answer | null;
}

/** Does what an act says, in whichever process. */
export async function perform(ads: Ads<null>, act: Act): Promise<Answer> {
  if (act.kind === "target") {
    const shown = await ads.target({ id: act.id, user: act.user });
    return shown === null ? { nothing: true } : { impression: shown.id, ad: shown.ad };
  }
  const outcome = await ads[act.kind](act.impression, { id: act.id });
  return outcome.status === "counted" ? { charged: outcome.chargedMicros } : { why: outcome.reason };
}
