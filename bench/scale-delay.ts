/**
 * How long until the last follower has a status: the fan-out queue simulated, post by post and pass by pass, as
 * toolkit/src/components/social/fan-out.ts works. One queue, first come first served. A job is a pass over up to a thousand followers; the first
 * pass of a large audience cuts the rest into ranges of ten passes, whose jobs stand in the queue at the same time; a range's next
 * pass goes to the end of the queue. Workers are as fast as one processor each at the cost that was measured.
 */
import { type Assumptions, DAY_S, type Group, randomFrom } from "./scale-model.ts";

const PASS = 1_000;
const RANGE_PASSES = 10;
const MAX_RANGES = 1_000;

export interface DelayOptions {
  readonly seed: number;
  readonly seconds: number;
  readonly threshold: number;
  readonly workers: number;
  /** Of a worker's processor: for each job, and for each follower. */
  readonly jobUs: number;
  readonly followerUs: number;
  /** An author with so many followers posts once, in the middle. */
  readonly inject: number;
}

export interface Delays {
  /** Half of the posts, and all but one in a hundred, are at their last follower after so many milliseconds. */
  readonly medianMs: number;
  readonly p99Ms: number;
  /** Of the one that was injected. */
  readonly injectedMs: number;
  /** The longest that a post with a small audience took: what others' large ones cost it. */
  readonly worstSmallMs: number;
  readonly posts: number;
}

interface Post {
  readonly atUs: number;
  followersLeft: number;
  readonly isSmall: boolean;
  readonly isInjected: boolean;
}

interface Job {
  readonly post: Post;
  readonly size: number;
  /** Followers that the same range still has after this pass. */
  readonly rest: number;
  readonly isFirst: boolean;
}

/** A queue that does not move its elements. */
class Fifo<T> {
  #items: T[] = [];
  #first = 0;

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#first];
    if (item === undefined) return undefined;
    this.#first++;
    if (this.#first > 65_536) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
}

/** When each worker is free; the earliest first. */
class Heap {
  readonly #at: number[];

  constructor(size: number) {
    this.#at = new Array<number>(size).fill(0);
  }

  get least(): number {
    return this.#at[0]!;
  }

  /** The earliest one is busy until then. */
  replaceLeast(until: number): void {
    const at = this.#at;
    let place = 0;
    for (;;) {
      const left = place * 2 + 1;
      if (left >= at.length) break;
      const child = left + 1 < at.length && at[left + 1]! < at[left]! ? left + 1 : left;
      if (at[child]! >= until) break;
      at[place] = at[child]!;
      place = child;
    }
    at[place] = until;
  }
}

/** Posts of the peak, each by an author of a group that is delivered to, as often as they post. */
function arrivals(groups: readonly Group[], assumed: Assumptions, options: DelayOptions): Post[] {
  const { seed, seconds, threshold, inject } = options;
  const random = randomFrom(seed);
  const pushed = groups.filter(({ followers }) => followers < threshold);
  const sums: number[] = [];
  let sum = 0;
  for (const { users, postsPerDay } of pushed) {
    sum += users * postsPerDay;
    sums.push(sum);
  }
  const perSecond = (sum * assumed.peak) / DAY_S;
  const posts: Post[] = [];
  for (let at = 0; ; ) {
    at += (-Math.log(1 - random()) / perSecond) * 1e6;
    if (at >= seconds * 1e6) break;
    const wanted = random() * sum;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! < wanted) low = middle + 1;
      else high = middle;
    }
    const followers = Math.round(pushed[low]!.followers);
    posts.push({ atUs: at, followersLeft: followers, isSmall: followers < PASS, isInjected: false });
  }
  posts.push({ atUs: (seconds / 2) * 1e6, followersLeft: inject, isSmall: false, isInjected: true });
  return posts.sort((a, b) => a.atUs - b.atUs);
}

/** The jobs that a first pass leaves behind: the first of each range. */
function ranges(post: Post, followers: number): Job[] {
  const size = Math.max(PASS * RANGE_PASSES, Math.ceil(followers / MAX_RANGES));
  const jobs: Job[] = [];
  for (let left = followers; left > 0; left -= size) {
    const range = Math.min(size, left);
    jobs.push({ post, size: Math.min(PASS, range), rest: Math.max(0, range - PASS), isFirst: false });
  }
  return jobs;
}

export function simulateDelays(groups: readonly Group[], assumed: Assumptions, options: DelayOptions): Delays {
  const { workers, jobUs, followerUs } = options;
  const posts = arrivals(groups, assumed, options);
  const queue = new Fifo<Job>();
  const free = new Heap(workers);
  /** What ended jobs have added, by when: workers end in order of time as seen from the queue. */
  const added: { atUs: number; jobs: Job[] }[] = [];
  const delays: number[] = [];
  let worstUs = 0;
  let injectedUs = 0;
  let next = 0;
  const finish = (post: Post, endUs: number): void => {
    const took = endUs - post.atUs;
    if (post.isInjected) injectedUs = took;
    else delays.push(took);
    if (post.isSmall) worstUs = Math.max(worstUs, took);
  };
  const enter = (nowUs: number): void => {
    while (next < posts.length && posts[next]!.atUs <= nowUs) {
      const post = posts[next++]!;
      const size = Math.min(PASS, post.followersLeft);
      queue.push({ post, size, rest: post.followersLeft - size, isFirst: true });
    }
    added.sort((a, b) => a.atUs - b.atUs);
    while (added.length > 0 && added[0]!.atUs <= nowUs) for (const job of added.shift()!.jobs) queue.push(job);
  };
  const laterUs = (): number => Math.min(posts[next]?.atUs ?? Infinity, added[0]?.atUs ?? Infinity);
  for (;;) {
    enter(free.least);
    const job = queue.shift();
    if (job === undefined) {
      const later = laterUs();
      if (later === Infinity) break;
      // Nothing to do until then.
      free.replaceLeast(Math.max(later, free.least));
      continue;
    }
    const endUs = free.least + jobUs + job.size * followerUs;
    free.replaceLeast(endUs);
    const { post, rest, isFirst } = job;
    post.followersLeft -= job.size;
    if (isFirst && rest > 0) added.push({ atUs: endUs, jobs: ranges(post, rest) });
    else if (rest > 0) {
      added.push({
        atUs: endUs,
        jobs: [{ post, size: Math.min(PASS, rest), rest: Math.max(0, rest - PASS), isFirst: false }],
      });
    }
    if (post.followersLeft <= 0) finish(post, endUs);
  }
  delays.sort((a, b) => a - b);
  const at = (part: number): number => (delays[Math.floor(delays.length * part)] ?? 0) / 1_000;
  return {
    medianMs: at(0.5),
    p99Ms: at(0.99),
    injectedMs: injectedUs / 1_000,
    worstSmallMs: worstUs / 1_000,
    posts: delays.length,
  };
}
