/**
 * Audiences for measuring: users with followers and warm timelines, written as the component's keys are (see its README), since making
 * a hundred thousand users by calls would take longer than what is measured.
 */
import type { Store } from "cinnabar";
import type { Social } from "cinnabar/social";

const AT_ONCE = 1_000;

/** Followers of one user, each with a timeline that has been read: `<name>0` … */
export async function addAudience(store: Store, author: string, name: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const fans = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => `${name}${from + at}`);
    await store.pipeline([
      ["ZADD", `social:{${author}}:followers`, ...fans.flatMap((fan, at) => [1_000_000 + from + at, fan])],
      ...fans.flatMap((fan) => [
        ["ZADD", `social:{${fan}}:following`, 1_000_000, author],
        ["ZADD", `social:{${fan}}:home`, 0, "#|made"],
      ]),
    ]);
  }
}

/** Resolves when the queue has nothing left to do: with how often that was asked. */
export async function settled(social: Social, everyMs = 1): Promise<number> {
  for (let looks = 1; ; looks++) {
    const { jobs } = await social.stats();
    if (jobs.waiting + jobs.active + jobs.delayed === 0) return looks;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

export async function join(social: Social, id: string): Promise<string> {
  const joined = await social.users.join(id, { id });
  if (joined.status !== "joined") throw new Error(`${id}: ${joined.status}`);
  return id;
}
