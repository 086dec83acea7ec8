/** The network that is put under load, and what must hold of it once nothing is left to do. */

import type { Social } from "../../../src/components/social/index.ts";
import type { Store } from "../../../src/connection/store.ts";

export interface Order {
  readonly url: string;
  readonly seed: number;
}

export type Line =
  | { readonly t: "posted" | "deleting" | "deleted"; readonly id: string }
  /** Something else was done. */
  | { readonly t: "did" };

export const USERS: readonly string[] = Array.from({ length: 10 }, (_, at) => `user${at}`);
export const LISTS: readonly string[] = ["+list0", "+list1"];
/** Small numbers, so that authors go over the threshold both ways, timelines overflow, and passes are many. */
export const SETTINGS = { pushBelow: 5, timelineSize: 16, passSize: 2, leaseMs: 500 };
/** Of workers: what a killed one keeps others waiting. */
export const LEASE_MS = 1_000;

const base = (id: string): string => `social:{${id}}`;
const newestFirst = (a: string, b: string): number => (a < b ? 1 : -1);

interface Subject {
  readonly id: string;
  readonly following: Set<string>;
  readonly muted: Set<string>;
}

async function members(store: Store, key: string): Promise<Set<string>> {
  return new Set((await store.call("ZRANGE", key, 0, -1)) as string[]);
}

/** Both sides of every edge say the same, counts are sizes, blocks hold, and no change is under way. */
async function edgeFaults(social: Social, store: Store, subjects: readonly Subject[]): Promise<string[]> {
  const faults: string[] = [];
  for (const user of USERS) {
    const followers = await members(store, `${base(user)}:followers`);
    const listed = await members(store, `${base(user)}:listed`);
    for (const { id, following } of subjects) {
      const there = (id.startsWith("+") ? listed : followers).has(id);
      if (there !== following.has(user))
        faults.push(`${id} → ${user} is ${following.has(user)} here and ${there} there`);
    }
    const counts = await social.follows.counts(user);
    const own = subjects.find(({ id }) => id === user)!;
    if (counts.followers !== followers.size || counts.following !== own.following.size) {
      faults.push(`${user} counts ${counts.followers} and ${counts.following}`);
    }
    for (const other of await members(store, `${base(user)}:blocks`)) {
      if (followers.has(other) || own.following.has(other)) faults.push(`${user} blocks ${other}, and they are tied`);
    }
  }
  for (const { id } of subjects) {
    const notes = ((await store.call("HKEYS", `${base(id)}:graph`)) as string[]).filter((field) =>
      field.startsWith("i:"),
    );
    if (notes.length > 0) faults.push(`${id} has changes under way: ${notes}`);
  }
  return faults;
}

/** A timeline, as it is stored and as it is read, is the merge of the users that are followed and not muted. */
async function timelineFaults(
  social: Social,
  store: Store,
  subject: Subject,
  of: Map<string, string[]>,
  modes: Map<string, string>,
) {
  const { id, following, muted } = subject;
  const faults: string[] = [];
  const shown = [...following].filter((author) => !muted.has(author));
  const naive = shown.flatMap((author) => of.get(author)!).sort(newestFirst);
  const read = id.startsWith("+")
    ? await social.timelines.list(id, { limit: 1_000 })
    : await social.timelines.home(id, { limit: 1_000 });
  const ids = read.items.map((status) => status.id);
  if (ids.join() !== naive.join()) faults.push(`${id} sees ${ids.length} statuses, and should see ${naive.length}`);
  const stored = (await store.call("ZRANGE", `${base(id)}:home`, 0, -1)) as string[];
  const mark = stored.find((member) => member.startsWith("#"));
  if (mark === undefined) return faults;
  const floor = mark.slice(1, mark.indexOf("|"));
  if (floor === "~") return [...faults, `${id}'s timeline is still being built`];
  const delivered = stored.filter((member) => member > "$");
  const merged = new Set(stored.filter((member) => member.startsWith("!")).map((member) => member.slice(1)));
  for (const author of shown) {
    if (modes.get(author) === "pull" && !merged.has(author)) faults.push(`${id} does not merge ${author} in`);
  }
  const due = naive.filter((each) => each.slice(0, 8) > floor && !merged.has(each.slice(8)));
  const missing = due.filter((each) => !delivered.includes(each));
  if (missing.length > 0) faults.push(`${id}'s timeline lacks ${missing}`);
  const wrong = delivered.filter((each) => !naive.includes(each) || each.slice(0, 8) <= floor);
  if (wrong.length > 0) faults.push(`${id}'s timeline has ${wrong}`);
  if (delivered.length > SETTINGS.timelineSize * 2) faults.push(`${id}'s timeline has ${delivered.length} statuses`);
  return faults;
}

/** Everything that must hold when all is quiet. `posted` may have been deleted; `deleted` certainly were. */
export async function networkFaults(
  social: Social,
  store: Store,
  posted: ReadonlySet<string>,
  deleted: ReadonlySet<string>,
): Promise<{ faults: string[]; merged: number; statuses: number }> {
  const subjects: Subject[] = [];
  for (const id of [...USERS, ...LISTS]) {
    subjects.push({
      id,
      following: await members(store, `${base(id)}:following`),
      muted: id.startsWith("+") ? new Set() : await members(store, `${base(id)}:muted`),
    });
  }
  const faults = await edgeFaults(social, store, subjects);
  const of = new Map<string, string[]>();
  const modes = new Map<string, string>();
  for (const user of USERS) {
    of.set(
      user,
      [...(await members(store, `${base(user)}:profile`))].map((time) => time + user),
    );
    const { mode } = await social.inspectAuthor(user);
    modes.set(user, mode);
    if (mode !== "push" && mode !== "pull") faults.push(`${user} is still on the way: ${mode}`);
  }
  const all = new Set([...of.values()].flat());
  for (const id of posted) if (!all.has(id)) faults.push(`${id} is lost`);
  for (const id of deleted) {
    if (all.has(id)) faults.push(`${id} was deleted, and is in its profile`);
    if ((await store.call("EXISTS", `${base(id.slice(8))}:s:${id.slice(0, 8)}`)) === 1)
      faults.push(`${id} is still there`);
  }
  for (const subject of subjects) faults.push(...(await timelineFaults(social, store, subject, of, modes)));
  const merged = [...modes.values()].filter((mode) => mode === "pull").length;
  return { faults, merged, statuses: all.size };
}
