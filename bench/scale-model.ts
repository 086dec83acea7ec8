/**
 * A social network of a hundred million users, calculated: who has how many followers, what they do in a day, and what that costs with
 * the figures that were measured. Everything is deterministic; chance comes from a seed.
 */
import type { ScaleCosts } from "./scale-costs.ts";
import type { SocialCosts } from "./social-costs.ts";

/** What nobody has measured. Each is told in docs/scale.md, and the ones that matter are varied there. */
export interface Assumptions {
  readonly users: number;
  /** The same, on average, for followers and for followed. */
  readonly meanFollowers: number;
  /** Followers by rank fall as (rank + shift) ^ -tail, from the most that anybody has. */
  readonly tail: number;
  readonly mostFollowers: number;
  /** How unequally people follow: the spread of a log-normal. */
  readonly followingSpread: number;
  /** Part of the users whose timeline is kept: read in the last two weeks. */
  readonly warm: number;
  /** For each user, on average over all of them. */
  readonly postsPerDay: number;
  readonly pagesPerDay: number;
  /** Those with more followers post more: as followers to this power; but nobody more than so often a day. */
  readonly postsGrow: number;
  readonly mostPostsPerDay: number;
  /** The busiest minute against the mean. */
  readonly peak: number;
  readonly timelineSize: number;
  readonly nodeBytes: number;
  /** How full nodes are in memory, and how busy their one thread is at the peak; workers likewise. */
  readonly fill: number;
  readonly busy: number;
  /** Memory that the allocator loses. */
  readonly fragmentation: number;
}

export const ASSUMED: Assumptions = {
  users: 100_000_000,
  meanFollowers: 200,
  tail: 0.9,
  mostFollowers: 30_000_000,
  followingSpread: 1,
  warm: 0.45,
  postsPerDay: 0.3,
  pagesPerDay: 6,
  postsGrow: 0.25,
  mostPostsPerDay: 50,
  peak: 3,
  timelineSize: 1_000,
  nodeBytes: 64 * 2 ** 30,
  fill: 0.7,
  busy: 0.5,
  fragmentation: 1.1,
};

export const DAY_S = 86_400;
/** Sorted sets up to this size are packed, by Redis's default. */
const PACKED = 128;

/** Users of about as many followers. */
export interface Group {
  readonly firstRank: number;
  readonly users: number;
  readonly followers: number;
  /** For each of them. */
  readonly postsPerDay: number;
}

/** The value between two at which something that grows reaches a goal. */
function solve(from: number, to: number, grows: (value: number) => number, goal: number): number {
  let [low, high] = [from, to];
  for (let step = 0; step < 200; step++) {
    const middle = Math.sqrt(low * high);
    if (grows(middle) < goal) low = middle;
    else high = middle;
  }
  return Math.sqrt(low * high);
}

/** Ranks in steps of two percent, each alone while they are few. */
function ranks(users: number): { first: number; count: number }[] {
  const steps: { first: number; count: number }[] = [];
  for (let first = 1; first <= users; ) {
    const count = Math.min(users - first + 1, Math.max(1, Math.floor(first * 0.02)));
    steps.push({ first, count });
    first += count;
  }
  return steps;
}

export function population(assumed: Assumptions): Group[] {
  const { users, meanFollowers, tail, mostFollowers, postsPerDay, postsGrow, mostPostsPerDay } = assumed;
  const steps = ranks(users).map(({ first, count }) => ({ first, count, middle: first + (count - 1) / 2 }));
  const followersAt = (rank: number, shift: number): number => mostFollowers * ((1 + shift) / (rank + shift)) ** tail;
  const edges = (shift: number): number =>
    steps.reduce((sum, { count, middle }) => sum + count * followersAt(middle, shift), 0);
  const shift = solve(1e-3, 1e6, edges, users * meanFollowers);
  const groups = steps.map(({ first, count, middle }) => ({ first, count, followers: followersAt(middle, shift) }));
  const rate = (followers: number, factor: number): number =>
    Math.min(mostPostsPerDay, factor * (followers + 1) ** postsGrow);
  const posts = (factor: number): number =>
    groups.reduce((sum, { count, followers }) => sum + count * rate(followers, factor), 0);
  const factor = solve(1e-9, 1e3, posts, users * postsPerDay);
  return groups.map(({ first, count, followers }) => ({
    firstRank: first,
    users: count,
    followers,
    postsPerDay: rate(followers, factor),
  }));
}

export interface Memory {
  readonly users: number;
  readonly followers: number;
  readonly following: number;
  readonly timelines: number;
  readonly statusesPerDay: number;
}

/** Bytes, without what the allocator loses. */
export function memoryOf(groups: readonly Group[], assumed: Assumptions, { memory }: SocialCosts): Memory {
  const { users, meanFollowers, followingSpread, warm, timelineSize, postsPerDay } = assumed;
  const followers = groups.reduce((sum, group) => {
    const each = group.followers > PACKED ? memory.follower : memory.following;
    return sum + group.users * group.followers * each;
  }, 0);
  // Of a log-normal, the part of all edges that is in sets larger than what is packed.
  const middle = Math.log(meanFollowers) + followingSpread ** 2 / 2;
  const large = normal((middle - Math.log(PACKED)) / followingSpread);
  const following = users * meanFollowers * (large * memory.follower + (1 - large) * memory.following);
  return {
    users: users * memory.user,
    followers,
    following,
    timelines: users * warm * (memory.timeline + timelineSize * memory.entry),
    statusesPerDay: users * postsPerDay * memory.status,
  };
}

/** The part of a normal distribution below a value (Abramowitz and Stegun 26.2.17). */
function normal(value: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(value));
  const tail =
    (Math.exp(-(value ** 2) / 2) / Math.sqrt(2 * Math.PI)) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return value > 0 ? 1 - tail : tail;
}

/** What one threshold means, at the peak. */
export interface Load {
  readonly threshold: number;
  readonly merged: { readonly authors: number; readonly perPage: number; readonly perSecond: number };
  readonly postsPerSecond: number;
  readonly pagesPerSecond: number;
  readonly deliveriesPerSecond: number;
  /** Cores that are fully busy. */
  readonly posting: number;
  readonly delivering: number;
  readonly reading: number;
  readonly merging: number;
  readonly workers: number;
}

/** Processor time of a delivery: to timelines that are kept, and a look at those that are not. In a Cluster. */
export function deliveryUs(assumed: Assumptions, costs: ScaleCosts, social: SocialCosts): number {
  const { delivered } = costs.cluster;
  const coldPart = social.each.cold.cpuMicros / social.each.delivered.cpuMicros;
  return delivered.primaries * (assumed.warm + (1 - assumed.warm) * coldPart);
}

export function loadAt(
  threshold: number,
  groups: readonly Group[],
  assumed: Assumptions,
  costs: ScaleCosts,
  social: SocialCosts,
): Load {
  const { users, peak, postsPerDay, pagesPerDay } = assumed;
  const postsPerSecond = (users * postsPerDay * peak) / DAY_S;
  const pagesPerSecond = (users * pagesPerDay * peak) / DAY_S;
  let deliveries = 0;
  let authors = 0;
  let mergedEdges = 0;
  for (const group of groups) {
    if (group.followers < threshold) deliveries += group.users * group.postsPerDay * group.followers;
    else {
      authors += group.users;
      mergedEdges += group.users * group.followers;
    }
  }
  const deliveriesPerSecond = (deliveries * peak) / DAY_S;
  const perPage = mergedEdges / users;
  const { post, homePage, merged, delivered } = costs.cluster;
  return {
    threshold,
    merged: { authors, perPage, perSecond: perPage * pagesPerSecond },
    postsPerSecond,
    pagesPerSecond,
    deliveriesPerSecond,
    posting: (postsPerSecond * post.primaries) / 1e6,
    delivering: (deliveriesPerSecond * deliveryUs(assumed, costs, social)) / 1e6,
    reading: (pagesPerSecond * homePage.primaries) / 1e6,
    merging: (perPage * pagesPerSecond * merged.primaries) / 1e6,
    workers: (deliveriesPerSecond * delivered.asking) / 1e6,
  };
}

export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
