/** What callers say and get. Money is in integer micro-units of the currency: 1 000 000 are one euro, dollar … */

export type Model = "cpm" | "cpc" | "cpa";

export interface AdSpec<T> {
  /** Paid for a thousand views, for a click, or for an action. */
  readonly model: Model;
  /** What is paid for it. Of a thousand views a multiple of 1 000, so that a view costs a whole number. */
  readonly bidMicros: number;
  /** Shown only where one of these is asked for; everywhere by default. */
  readonly locations?: readonly string[];
  /** Words of pages that it fits. */
  readonly words?: readonly string[];
  /** What it may spend in all, and in a day. */
  readonly budget?: {
    readonly totalMicros?: number;
    readonly dailyMicros?: number;
    /** "even" (the default) spreads a daily budget over the day; "asap" does not. */
    readonly pacing?: "even" | "asap";
  };
  /** No user is shown it more than `views` times within `everyMs`. Without a user it is not shown at all. */
  readonly cap?: { readonly views: number; readonly everyMs: number };
  /**
   * What is kept back of the budget by an ad that was shown and not yet clicked (or acted on): what it will cost on average, or the
   * whole price. With "expected" a click may come when nothing is left: it is counted and not charged. With "full" every click is
   * paid, and a small budget is soon tied up by views that will never be clicked.
   */
  readonly reserve?: "expected" | "full";
  /** What is handed back when it is chosen: the creative. */
  readonly data?: T;
}

export interface Ad<T> extends AdSpec<T> {
  readonly id: string;
  readonly locations: readonly string[];
  readonly words: readonly string[];
  readonly state: "on" | "paused";
  readonly spentMicros: number;
  readonly spentTodayMicros: number;
  /** Kept back for impressions that are open. */
  readonly heldMicros: number;
  /** What is believed about it; counts fade. */
  readonly learned: {
    readonly views: number;
    readonly clicks: number;
    readonly actions: number;
    /** Worth of a thousand views, on average. */
    readonly ecpmMicros: number;
    /** What each of its words on a page adds. */
    readonly bonusMicros: Readonly<Record<string, number>>;
  };
  /** When it may be shown again, of an ad that cannot be paid for at present; `never` if its budget is used up. */
  readonly resumesAt: Date | "never" | null;
}

export interface TargetRequest {
  readonly locations?: readonly string[];
  /** The page's text, or its words. */
  readonly content?: string | readonly string[];
  /** Whose views are capped. */
  readonly user?: string;
  /** With the same id again: the same impression. */
  readonly id?: string;
  /** Decides what chance decides; drawn at random by default. */
  readonly seed?: number;
  /** It is being shown: count the view in the same call. */
  readonly viewed?: boolean;
  /** Ads that are not wanted, for example since they are on the page already. */
  readonly exclude?: readonly string[];
  /** Also say what was considered. */
  readonly explain?: boolean;
}

export interface Impression<T> {
  /** For `view`, `click` and `action`. */
  readonly id: string;
  readonly ad: string;
  readonly model: Model;
  /** What the view, click or action will cost. */
  readonly priceMicros: number;
  /** By which it was chosen: drawn eCPM and bonus. */
  readonly valueMicros: number;
  /** Words of the page that it fits. */
  readonly words: readonly string[];
  readonly data: T | undefined;
}

export interface Candidate {
  readonly ad: string;
  readonly ecpmMicros: number;
  readonly bonusMicros: number;
  /** Null if it was out of the question. */
  readonly valueMicros: number | null;
  readonly reason: "budget" | "daily-budget" | "pace" | "excluded" | "no-user" | "cap" | null;
}

export interface Explained<T> {
  readonly impression: Impression<T> | null;
  readonly candidates: readonly Candidate[];
}

export type Refusal = "unknown" | "removed" | "duplicate" | "late" | "soon" | "not-viewed" | "not-clicked";

export type EventOutcome =
  | { readonly status: "counted"; readonly chargedMicros: number }
  | { readonly status: "refused"; readonly reason: Refusal };

export interface SetOutcome {
  /** "full": there are `maxAds`, and this would be one more. */
  readonly status: "added" | "changed" | "full";
}

export interface DayStats {
  /** The day's first moment. */
  readonly day: Date;
  readonly chosen: number;
  readonly views: number;
  readonly clicks: number;
  readonly actions: number;
  readonly spentMicros: number;
  /** Events that came when the budget was used up. */
  readonly unpaid: number;
  readonly refused: number;
}

export interface AdsOptions {
  readonly prefix?: string;
  /** Over how many parts the ads are spread; fixed for the life of the data. */
  readonly shards?: number;
  readonly explore?: "thompson" | "ucb" | "off";
  /** After this long, what was learned counts half. */
  readonly halfLifeMs?: number;
  /** How many views what is believed of a new ad is worth. */
  readonly priorViews?: number;
  /** What a word that fits is worth before it is known, as a share of the ad's eCPM. */
  readonly matchLift?: number;
  /** How many ads one call looks at, up to four times that when the first ones cannot be shown. */
  readonly candidates?: number;
  /** How long after being chosen an ad may be viewed. */
  readonly viewWindowMs?: number;
  /** How long after a view a click counts, and how soon not yet. */
  readonly clickWindowMs?: number;
  readonly minClickDelayMs?: number;
  /** How long after a click an action counts. */
  readonly actionWindowMs?: number;
  /** When the day of budgets and reports begins, after midnight UTC. */
  readonly dayStartMs?: number;
  /** By how much of a day an evenly paced ad may be ahead. */
  readonly burstMs?: number;
  /** Days that reports go back. */
  readonly keepMs?: number;
  /** Of each shard. */
  readonly maxAds?: number;
  /** Open impressions of each shard; beyond it the ones that end soonest end early. */
  readonly maxOpen?: number;
}
