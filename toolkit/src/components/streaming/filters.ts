/**
 * What a listener asks for, checked and compiled once.
 *
 * A status is sent when any of the parts wants it: one of the phrases, one of the followed, one of the boxes, the sample. `matches`
 * judges one filter by itself, as resuming does; for all listeners at once there is the index in filter-index.ts, which must
 * give the same answers.
 */

import { integer, word } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { hashOf } from "../../base/hash.ts";
import { anything, defineOptions, flag, listOf, number, text, whole } from "../../base/options.ts";
import type { StatusEvent } from "./events.ts";
import { foldWord, wordsOf, wordsOfPhrase } from "./words.ts";

/** In degrees. A box whose west is east of its east crosses the line where days change. */
export interface Box {
  /** Longitude of its western edge, from −180 to 180. */
  readonly west: number;
  /** Latitude of its southern edge, from −90 to 90. */
  readonly south: number;
  /** Longitude of its eastern edge, from −180 to 180. */
  readonly east: number;
  /** Latitude of its northern edge, from −90 to 90. */
  readonly north: number;
}

/** What a listener wants: statuses that any of the parts wants. At least one part must be given. */
export interface StreamFilter {
  /** Phrases: all words of one, in any order. `#tag`, `@name` and `$sign` are found only with their sign. */
  readonly track?: readonly string[];
  /** `@login` for what that user posts and where they are mentioned; anything else is a user's id, for what they post. */
  readonly follow?: readonly string[];
  /** Statuses that have a place in one of these. */
  readonly locations?: readonly Box[];
  /** This percentage of all statuses, above 0 and up to 100: the same ones for everybody. */
  readonly sample?: number;
  /** Everything. */
  readonly all?: boolean;
}

/** How much a filter may ask for. */
export interface FilterLimits {
  /** Phrases in `track` (default 400). */
  readonly maxPhrases: number;
  /** Bytes of a phrase (default 128). */
  readonly maxPhraseBytes: number;
  /** Users in `follow` (default 5 000). */
  readonly maxFollowed: number;
  /** Boxes in `locations` (default 25). */
  readonly maxBoxes: number;
}

export const FILTER_LIMITS: FilterLimits = { maxPhrases: 400, maxPhraseBytes: 128, maxFollowed: 5_000, maxBoxes: 25 };

const FILTER_OPTIONS = defineOptions<StreamFilter>("StatusStream.filter", {
  track: listOf(text),
  follow: listOf(text),
  locations: listOf(anything),
  sample: number(0, 100),
  all: flag,
});

export const FILTER_LIMIT_OPTIONS = defineOptions<Partial<FilterLimits>>("StatusStream.filterLimits", {
  maxPhrases: whole(0),
  maxPhraseBytes: whole(1),
  maxFollowed: whole(0),
  maxBoxes: whole(0),
});

/** A status as filters see it. Made once for each, for all listeners. */
export class Traits {
  readonly id: string;
  readonly userId: string;
  readonly login: string;
  readonly words: ReadonlySet<string>;
  readonly place: { readonly longitude: number; readonly latitude: number } | undefined;
  /** From 0 up to 100: where it stands among all for samples. */
  readonly rank: number;

  constructor(status: Extract<StatusEvent, { kind: "status" }>) {
    this.id = status.id;
    this.userId = status.userId;
    this.login = foldWord(status.login);
    this.words = wordsOf(status.text);
    this.place = status.place;
    this.rank = sampleRank(status.id);
  }
}

export function sampleRank(id: string): number {
  return (hashOf(id) / 2 ** 32) * 100;
}

export class CompiledFilter {
  /** Each with its words sorted. */
  readonly phrases: readonly (readonly string[])[];
  readonly userIds: ReadonlySet<string>;
  readonly logins: ReadonlySet<string>;
  readonly boxes: readonly Box[];
  /** 0: none. */
  readonly sample: number;
  readonly all: boolean;

  constructor(filter: StreamFilter, limits: FilterLimits = FILTER_LIMITS) {
    FILTER_OPTIONS.check(filter);
    const { track = [], follow = [], locations = [] } = filter;
    this.phrases = compileTrack(track, limits);
    const followed = compileFollow(follow, limits);
    this.userIds = followed.userIds;
    this.logins = followed.logins;
    integer("the number of boxes in locations", locations.length, 0, limits.maxBoxes);
    this.boxes = locations.map(checkBox);
    this.sample = filter.sample ?? 0;
    if (filter.sample !== undefined && !(filter.sample > 0 && filter.sample <= 100)) {
      throw new InputError("sample must be a percentage above 0 and up to 100");
    }
    this.all = filter.all ?? false;
    if (this.isEmpty) throw new InputError("a filter needs track, follow, locations, sample or all");
  }

  get isEmpty(): boolean {
    const { phrases, userIds, logins, boxes, sample, all } = this;
    return phrases.length + userIds.size + logins.size + boxes.length + sample === 0 && !all;
  }

  /** Asks for something that a delete, which has only the ids of the status and its user, does not tell. */
  get looksInside(): boolean {
    return this.phrases.length + this.logins.size + this.boxes.length > 0;
  }

  matches(traits: Traits): boolean {
    const { words, place } = traits;
    if (this.all || traits.rank < this.sample || this.userIds.has(traits.userId)) return true;
    if (this.logins.size > 0) {
      if (this.logins.has(traits.login)) return true;
      for (const login of this.logins) if (words.has(`@${login}`)) return true;
    }
    if (this.phrases.some((phrase) => phrase.every((each) => words.has(each)))) return true;
    return place !== undefined && this.boxes.some((box) => isInside(box, place.longitude, place.latitude));
  }

  /** Whether who listens with this filter may have got a status of which only this is known. */
  mayHaveMatched(id: string, userId: string): boolean {
    return this.all || this.looksInside || this.userIds.has(userId) || sampleRank(id) < this.sample;
  }
}

export function isInside({ west, south, east, north }: Box, longitude: number, latitude: number): boolean {
  if (latitude < south || latitude > north) return false;
  return west <= east ? longitude >= west && longitude <= east : longitude >= west || longitude <= east;
}

function compileTrack(track: readonly string[], limits: FilterLimits): string[][] {
  integer("the number of phrases in track", track.length, 0, limits.maxPhrases);
  const phrases = new Map<string, string[]>();
  for (const phrase of track) {
    const words = wordsOfPhrase(word("a phrase of track", phrase, limits.maxPhraseBytes));
    if (words.length === 0) throw new InputError(`"${phrase}" in track has no words`);
    phrases.set(words.join(" "), words);
  }
  return [...phrases.values()];
}

function compileFollow(
  follow: readonly string[],
  { maxFollowed }: FilterLimits,
): { userIds: Set<string>; logins: Set<string> } {
  integer("the number of users in follow", follow.length, 0, maxFollowed);
  const userIds = new Set<string>();
  const logins = new Set<string>();
  for (const each of follow) {
    word("a user in follow", each, 256);
    if (!each.startsWith("@")) userIds.add(each);
    else logins.add(foldWord(word("a login in follow", each.slice(1), 255)));
  }
  return { userIds, logins };
}

function checkBox(box: Box): Box {
  const { west, south, east, north } = box;
  for (const longitude of [west, east]) degrees("the longitudes of a box", longitude, 180);
  for (const latitude of [south, north]) degrees("the latitudes of a box", latitude, 90);
  if (south > north) throw new InputError("the south of a box must not be north of its north");
  return { west, south, east, north };
}

export function degrees(what: string, value: number, most: number): number {
  if (typeof value !== "number" || !(Math.abs(value) <= most)) {
    throw new InputError(`${what} must be numbers from -${most} to ${most}`);
  }
  return value;
}
