/** What callers say and get. Money is in integer micro-units of the currency: 1 000 000 are one euro, dollar … */

export type Model = "cpm" | "cpc" | "cpa";

/** What an advertiser says about an ad. Money is in millionths of the currency. */
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

/** An ad: what the advertiser said, its money, and what was learned. */
export interface Ad<T> extends AdSpec<T> {
  /** The id that it was set under. */
  readonly id: string;
  /** Where it is shown; empty: everywhere. */
  readonly locations: readonly string[];
  /** Words of pages that it fits, in lower case. */
  readonly words: readonly string[];
  /** `paused`: it is not chosen until it is resumed. */
  readonly state: "on" | "paused";
  /** What it has spent in all. */
  readonly spentMicros: number;
  /** What it has spent since the day of budgets began. */
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

/** Where an ad is to be shown, and to whom. */
export interface TargetRequest {
  /** Where it is to be shown: 16 places at most. Without one, only ads for everywhere are chosen. */
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

/** An ad that was chosen, with its price reserved. */
export interface Impression<T> {
  /** For `view`, `click` and `action`. */
  readonly id: string;
  /** The ad's id. */
  readonly ad: string;
  /** What it is paid for. */
  readonly model: Model;
  /** What the view, click or action will cost. */
  readonly priceMicros: number;
  /** By which it was chosen: drawn eCPM and bonus. */
  readonly valueMicros: number;
  /** Words of the page that it fits. */
  readonly words: readonly string[];
  /** What the ad was set with as `data`; undefined if nothing. */
  readonly data: T | undefined;
}

/** An ad that was considered, and why it was not chosen. */
export interface Candidate {
  /** The ad's id. */
  readonly ad: string;
  /** What a thousand views are worth, on average. */
  readonly ecpmMicros: number;
  /** What the words of the page add to that. */
  readonly bonusMicros: number;
  /** By which it was compared: eCPM as drawn for this call, and bonus. Null if it was out of the question. */
  readonly valueMicros: number | null;
  /** Why it was out of the question; null if it was not. */
  readonly reason: "budget" | "daily-budget" | "pace" | "excluded" | "no-user" | "cap" | null;
}

/** The answer of `explain`. */
export interface Explained<T> {
  /** What was chosen; null if no ad could be. */
  readonly impression: Impression<T> | null;
  /** The ads that were considered. */
  readonly candidates: readonly Candidate[];
}

/**
 * Why an event did not count. `unknown`: no such impression, or over for more than an hour. `removed`: the ad is gone. `soon`: a
 * click within `minClickDelayMs` of the view. `late`: its window is over.
 */
export type Refusal = "unknown" | "removed" | "duplicate" | "late" | "soon" | "not-viewed" | "not-clicked";

/** What became of a view, a click or an action. */
export type EventOutcome =
  | {
      /** `counted`: it is the first of its kind for the impression. */
      readonly status: "counted";
      /** What was charged; 0 if this event is not what is paid for, or nothing was left. */
      readonly chargedMicros: number;
    }
  | {
      /** `refused`: nothing has changed except the count of refusals. */
      readonly status: "refused";
      /** Why it does not count. */
      readonly reason: Refusal;
    };

/** What `set` did. */
export interface SetOutcome {
  /** "full": there are `maxAds`, and this would be one more. */
  readonly status: "added" | "changed" | "full";
}

/** What happened with an ad in one day. */
export interface DayStats {
  /** The day's first moment. */
  readonly day: Date;
  /** How often `target` chose it. */
  readonly chosen: number;
  /** Views that counted. */
  readonly views: number;
  /** Clicks that counted. */
  readonly clicks: number;
  /** Actions that counted. */
  readonly actions: number;
  /** What was charged. */
  readonly spentMicros: number;
  /** Events that came when the budget was used up. */
  readonly unpaid: number;
  /** Events that were refused. */
  readonly refused: number;
}

/** Settings of `Ads`. All processes give the same ones. */
export interface AdsOptions {
  /** How all keys begin (default `"ads"`). */
  readonly prefix?: string;
  /** Over how many parts the ads are spread; fixed for the life of the data. 1 by default, 256 at most. */
  readonly shards?: number;
  /**
   * How new ads get their chance: `thompson` draws from what is believed, `ucb` takes its upper bound, `off` its mean (default
   * `"thompson"`).
   */
  readonly explore?: "thompson" | "ucb" | "off";
  /** After this long, what was learned counts half. A week by default. */
  readonly halfLifeMs?: number;
  /** How many views what is believed of a new ad is worth. 500 by default. */
  readonly priorViews?: number;
  /** What a word that fits is worth before it is known, as a share of the ad's eCPM. 0 by default. */
  readonly matchLift?: number;
  /** How many ads one call looks at, up to four times that when the first ones cannot be shown. 16 by default, 200 at most. */
  readonly candidates?: number;
  /** How long after being chosen an ad may be viewed. A minute by default. */
  readonly viewWindowMs?: number;
  /** How long after a view a click counts. Half an hour by default. */
  readonly clickWindowMs?: number;
  /** How soon after a view a click does not count yet (default 300). */
  readonly minClickDelayMs?: number;
  /** How long after a click an action counts. A day by default. */
  readonly actionWindowMs?: number;
  /** When the day of budgets and reports begins, after midnight UTC. 0 by default. */
  readonly dayStartMs?: number;
  /** By how much of a day an evenly paced ad may be ahead. An hour by default. */
  readonly burstMs?: number;
  /** How far reports go back, in whole days. 90 days by default. */
  readonly keepMs?: number;
  /** How many ads each shard takes (default 100 000). */
  readonly maxAds?: number;
  /** Open impressions of each shard; beyond it the ones that end soonest end early. 500 000 by default. */
  readonly maxOpen?: number;
}
