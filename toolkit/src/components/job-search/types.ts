/** What callers say and get. Names of skills and places are the same whatever their case. */

export interface GeoPoint {
  /** Degrees north, from −90 to 90. */
  readonly latitude: number;
  /** Degrees east, from −180 to 180. */
  readonly longitude: number;
}

/** A skill that a job asks for: at least this level and at least these years, where they are said. */
export interface Requirement {
  /** The skill's name; answers have it in lower case. */
  readonly skill: string;
  /** A whole number (default 0): what the numbers mean is up to the application. */
  readonly level?: number;
  /** Years of experience (default 0). */
  readonly years?: number;
}

/** A skill that somebody has. */
export type Have = Requirement;

/** A skill that is welcome, and how much. */
export interface Wish extends Requirement {
  /** How much it adds to the score (default 1). */
  readonly weight?: number;
}

/** A job to set. */
export interface JobSpec<J> {
  /** All of these; nothing required means everybody is qualified. */
  readonly requires: readonly Requirement[];
  /** Skills that raise the score; none by default. */
  readonly optional?: readonly Wish[];
  /** Names of places, 32 at most; none by default. */
  readonly places?: readonly string[];
  /** Where it is, for searches near a point; null by default. */
  readonly at?: GeoPoint | null;
  /** When it was first put, by default. */
  readonly postedAt?: Date;
  /** When it is no longer found; null by default: never. */
  readonly closesAt?: Date | null;
  /** What the application keeps with it, as JSON of at most 16 KiB; none by default. */
  readonly data?: J | undefined;
}

/** What is known of somebody who looks for a job. */
export interface CandidateSpec<C> {
  /** What they can, 128 skills at most. */
  readonly skills: readonly Have[];
  /** Names of places where they would work; none by default. */
  readonly places?: readonly string[];
  /** Where they are, for searches near a point; null by default. */
  readonly at?: GeoPoint | null;
  /** What the application keeps with them, as JSON of at most 16 KiB; none by default. */
  readonly data?: C | undefined;
}

/** A requirement that is not met. */
export interface Lacking {
  /** The skill. */
  readonly skill: string;
  /** The level that is required. */
  readonly level: number;
  /** The years that are required. */
  readonly years: number;
  /** What is there of it, and not enough; null if nothing. */
  readonly has: { readonly level: number; readonly years: number } | null;
}

/** How somebody's skills compare with a job. */
export interface Explanation {
  /** Whether every requirement is met. */
  readonly qualified: boolean;
  /** The requirements that are met. */
  readonly met: readonly Requirement[];
  /** The requirements that are not met. */
  readonly missing: readonly Lacking[];
  /** Optional skills that are there. */
  readonly bonus: readonly string[];
  /** Sum of their weights. */
  readonly score: number;
}

/** A job, as it is stored. */
export interface Job<J> {
  /** The id that it was set under. */
  readonly id: string;
  /** All that is required. */
  readonly requires: readonly Requirement[];
  /** Skills that raise the score. */
  readonly optional: readonly Wish[];
  /** Names of places. */
  readonly places: readonly string[];
  /** Where it is; null if that was not said. */
  readonly at: GeoPoint | null;
  /** When it was posted: as its sender said, or when it was first set. */
  readonly postedAt: Date;
  /** When it is no longer found; null: never. */
  readonly closesAt: Date | null;
  /** What the application keeps with it; undefined if nothing. */
  readonly data: J | undefined;
}

/** A candidate, as stored. */
export interface Candidate<C> {
  /** The id that they were set under. */
  readonly id: string;
  /** What they can. */
  readonly skills: readonly Have[];
  /** Names of places. */
  readonly places: readonly string[];
  /** Where they are; null if that was not said. */
  readonly at: GeoPoint | null;
  /** When they were set last, by the server's clock. */
  readonly updatedAt: Date;
  /** What the application keeps with them; undefined if nothing. */
  readonly data: C | undefined;
}

/** Which matches to find. */
export interface SearchOptions {
  /** Also those with at most so many requirements that are not met, as long as one is. 0 by default, 3 at most. */
  readonly missing?: number;
  /** In one of these places. Anywhere by default. */
  readonly places?: readonly string[];
  /** And within `radiusKm` of this point. Anywhere by default. */
  readonly near?: GeoPoint & { readonly radiusKm: number };
  /** At most so many matches (default 25, at most 1 000). */
  readonly limit?: number;
  /** `cursor` of the page before; the first page by default. */
  readonly cursor?: string;
}

/** A page of matches. */
export interface Page<M> {
  /** Least missing first, then the highest score, then the newest. */
  readonly items: readonly M[];
  /** Where the next page begins; null when this was the last. */
  readonly cursor: string | null;
  /** How many meet every requirement, of all pages. */
  readonly qualified: number;
  /** How many lack something, but no more than `missing`, of all pages. */
  readonly nearMisses: number;
  /** How many were looked at; when there were more to look at than `maxExamined`, the newest were, and `complete` is false. */
  readonly examined: number;
  /** Whether all that there were to look at were looked at, in every shard. */
  readonly complete: boolean;
}

/** A job that matches, and how well. */
export interface JobMatch<J> extends Explanation {
  /** The job. */
  readonly job: Job<J>;
  /** From the point that was asked for; null if none was, or the job has no place on the map. */
  readonly distanceKm: number | null;
}

/** A candidate who matches, and how well. */
export interface CandidateMatch<C> extends Explanation {
  /** The candidate. */
  readonly candidate: Candidate<C>;
  /** From the point that was asked for; null if none was, or the candidate has no place on the map. */
  readonly distanceKm: number | null;
}

/** Settings of a `JobSearch`. All processes give the same ones. */
export interface JobSearchOptions {
  /** How all keys begin (default `"jobs"`). */
  readonly prefix?: string;
  /** Over how many parts jobs and candidates are spread; fixed for the life of the data. 1 by default, 256 at most. */
  readonly shards?: number;
  /** How many jobs, and how many candidates, each shard takes (default 1 000 000). */
  readonly maxEntries?: number;
  /** How many a search looks at in each shard. 10 000 by default. */
  readonly maxExamined?: number;
}

/** What became of a job or a candidate that was set. */
export interface SetOutcome {
  /** `full`: there are `maxEntries`, and this would be one more. */
  readonly status: "added" | "changed" | "full";
}
