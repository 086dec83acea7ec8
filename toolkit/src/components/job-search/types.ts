/** What callers say and get. Names of skills and places are the same whatever their case. */

export interface GeoPoint {
  readonly latitude: number;
  readonly longitude: number;
}

/** A skill that a job asks for: at least this level and at least these years, where they are said. */
export interface Requirement {
  readonly skill: string;
  readonly level?: number;
  readonly years?: number;
}

/** A skill that somebody has. */
export type Have = Requirement;

/** A skill that is welcome, and how much. */
export interface Wish extends Requirement {
  readonly weight?: number;
}

export interface JobSpec<J> {
  /** All of these; nothing required means everybody is qualified. */
  readonly requires: readonly Requirement[];
  readonly optional?: readonly Wish[];
  readonly places?: readonly string[];
  readonly at?: GeoPoint | null;
  /** When it was first put, by default. */
  readonly postedAt?: Date;
  readonly closesAt?: Date | null;
  readonly data?: J | undefined;
}

export interface CandidateSpec<C> {
  readonly skills: readonly Have[];
  readonly places?: readonly string[];
  readonly at?: GeoPoint | null;
  readonly data?: C | undefined;
}

export interface Lacking {
  readonly skill: string;
  readonly level: number;
  readonly years: number;
  /** What is there of it, and not enough; null if nothing. */
  readonly has: { readonly level: number; readonly years: number } | null;
}

export interface Explanation {
  readonly qualified: boolean;
  readonly met: readonly Requirement[];
  readonly missing: readonly Lacking[];
  /** Optional skills that are there. */
  readonly bonus: readonly string[];
  /** Sum of their weights. */
  readonly score: number;
}

export interface Job<J> {
  readonly id: string;
  readonly requires: readonly Requirement[];
  readonly optional: readonly Wish[];
  readonly places: readonly string[];
  readonly at: GeoPoint | null;
  readonly postedAt: Date;
  readonly closesAt: Date | null;
  readonly data: J | undefined;
}

export interface Candidate<C> {
  readonly id: string;
  readonly skills: readonly Have[];
  readonly places: readonly string[];
  readonly at: GeoPoint | null;
  readonly updatedAt: Date;
  readonly data: C | undefined;
}

export interface SearchOptions {
  /** Also those with at most so many requirements that are not met, as long as one is. */
  readonly missing?: number;
  /** In one of these places. */
  readonly places?: readonly string[];
  /** And so near to this point. */
  readonly near?: GeoPoint & { readonly radiusKm: number };
  readonly limit?: number;
  /** `next` of the page before. */
  readonly cursor?: string;
}

export interface Page<M> {
  /** Least missing first, then the highest score, then the newest. */
  readonly items: readonly M[];
  /** Where the next page begins; null when this was the last. */
  readonly cursor: string | null;
  /** Of all pages. */
  readonly qualified: number;
  readonly nearMisses: number;
  /** How many were looked at; when there were more to look at than `maxExamined`, the newest were, and `complete` is false. */
  readonly examined: number;
  readonly complete: boolean;
}

export interface JobMatch<J> extends Explanation {
  readonly job: Job<J>;
  /** From the point that was asked for. */
  readonly distanceKm: number | null;
}

export interface CandidateMatch<C> extends Explanation {
  readonly candidate: Candidate<C>;
  readonly distanceKm: number | null;
}

export interface JobSearchOptions {
  readonly prefix?: string;
  /** Over how many parts jobs and candidates are spread; fixed for the life of the data. */
  readonly shards?: number;
  /** Of each shard, and of jobs and of candidates. */
  readonly maxEntries?: number;
  /** How many a search looks at in each shard. */
  readonly maxExamined?: number;
}

export interface SetOutcome {
  /** `full`: there are `maxEntries`, and this would be one more. */
  readonly status: "added" | "changed" | "full";
}
