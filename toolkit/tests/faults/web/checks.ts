/** What must hold, whatever was killed. Each check reads the store and answers what is wrong, in words. */

import { articleKey, boardKeys, votersKey } from "../../../src/components/board/keys.ts";
import type { Carts } from "../../../src/components/carts/index.ts";
import type { Counters } from "../../../src/components/counters/index.ts";
import { marketKeys } from "../../../src/components/market/keys.ts";
import type { Sessions } from "../../../src/components/sessions/index.ts";
import { placeOf, sessionKeys } from "../../../src/components/sessions/keys.ts";
import type { Reply } from "../../../src/connection/port.ts";
import type { Store } from "../../../src/connection/store.ts";
import { ARTICLES, type Deed, GOODS, type MarketWay, SHOPPERS, TRADERS, VISITORS } from "./acts.ts";

const VOTE_SCORE = 432;

function pairs(flat: Reply): Map<string, string> {
  const words = flat as string[];
  return new Map(Array.from({ length: words.length / 2 }, (_, at) => [words[at * 2]!, words[at * 2 + 1]!]));
}

function ofKind<K extends Deed["act"]["kind"]>(deeds: readonly Deed[], kind: K) {
  return deeds.filter(({ act }) => act.kind === kind) as {
    act: Extract<Deed["act"], { kind: K }>;
    answer: Deed["answer"];
  }[];
}

/** True at every moment: each item is in one place, which is its owner's, and nobody has less than nothing. */
export async function marketFaults(store: Store, way: MarketWay): Promise<{ faults: string[]; money: number }> {
  const keys = marketKeys("market", way);
  const answers = await store.multi([
    ["ZRANGE", keys.listings, 0, -1],
    ["HGETALL", keys.sellers],
    ["HGETALL", keys.owners],
    ...TRADERS.flatMap((user) => [
      ["GET", keys.funds(user)],
      ["SMEMBERS", keys.items(user)],
    ]),
  ]);
  const [listed, sellers, owners] = [answers[0] as string[], pairs(answers[1] as Reply), pairs(answers[2] as Reply)];
  const faults: string[] = [];
  const places = new Map<string, string[]>(GOODS.map((item) => [item, []]));
  for (const item of listed) places.get(item)!.push(sellers.get(item) ?? "nobody");
  if (sellers.size !== listed.length)
    faults.push(`${way}: ${listed.length} items are listed, ${sellers.size} have sellers`);
  let money = 0;
  TRADERS.forEach((user, at) => {
    const funds = Number(answers[3 + at * 2] ?? 0);
    if (funds < 0) faults.push(`${way}: ${user} has ${funds}`);
    money += funds;
    for (const item of answers[4 + at * 2] as string[]) places.get(item)!.push(user);
  });
  for (const [item, holders] of places) {
    if (holders.length !== 1 || holders[0] !== owners.get(item)) {
      faults.push(`${way}: ${item} is ${owners.get(item)}'s and held by ${holders.join(" and ") || "nobody"}`);
    }
  }
  return { faults, money };
}

/** True at every moment: an article's counts are those of its voters, and its score is made of them. */
export async function votingFaults(store: Store): Promise<string[]> {
  const { base, byScore } = boardKeys("voting", "news");
  const faults: string[] = [];
  for (const id of ARTICLES) {
    const [article, voters, score] = await store.multi([
      ["HMGET", articleKey(base, id), "postedAt", "up", "down"],
      ["HVALS", votersKey(base, id)],
      ["ZSCORE", byScore, id],
    ]);
    const [postedAt, up, down] = (article as string[]).map(Number) as [number, number, number];
    const weights = (voters as string[]).map(Number);
    const ups = weights.filter((weight) => weight > 0).length;
    if (up !== ups || down !== weights.length - ups) {
      faults.push(`${id}: ${up} up and ${down} down by ${ups} and ${weights.length - ups} voters`);
    }
    if (Math.abs(Number(score) - postedAt / 1_000 - VOTE_SCORE * (up - down)) > 0.01) {
      faults.push(`${id}: the score ${score} does not come of ${up} up and ${down} down`);
    }
  }
  return faults;
}

/** Every user's vote is the last one that was answered, or one that was begun after it. */
export async function lastVoteFaults(store: Store, deeds: readonly Deed[]): Promise<string[]> {
  const { base } = boardKeys("voting", "news");
  const stored = new Map<string, Map<string, string>>();
  for (const id of ARTICLES) stored.set(id, pairs(await store.call("HGETALL", votersKey(base, id))));
  const possible = new Map<string, Set<number>>();
  for (const { act, answer } of ofKind(deeds, "vote")) {
    const key = `${act.article}\0${act.user}`;
    if (answer !== null) possible.set(key, new Set([act.weight]));
    else possible.set(key, (possible.get(key) ?? new Set([0])).add(act.weight));
  }
  return [...possible].flatMap(([key, weights]) => {
    const [article, user] = key.split("\0") as [string, string];
    const weight = Number(stored.get(article)!.get(user) ?? 0);
    return weights.has(weight) ? [] : [`${user}'s vote on ${article} is ${weight}, not ${[...weights].join(" or ")}`];
  });
}

/** Every item that was put into a cart is in one cart, once. Merges what visitors still have first. */
export async function cartFaults(store: Store, carts: Carts, deeds: readonly Deed[]): Promise<string[]> {
  for (const visitor of VISITORS) await carts.merge(visitor, SHOPPERS[0]!);
  const found = new Map<string, number>();
  const faults: string[] = [];
  for (const owner of [...SHOPPERS, ...VISITORS]) {
    for (const { item, quantity } of await carts.get(owner)) found.set(item, (found.get(item) ?? 0) + quantity);
  }
  for (const { act, answer } of ofKind(deeds, "put")) {
    const quantity = found.get(act.item) ?? 0;
    if (quantity > 1 || (quantity === 0 && answer !== null)) faults.push(`${act.item} is in carts ${quantity} times`);
  }
  const left = await store.call("KEYS", "cart:*:leaving");
  if ((left as string[]).length > 0) faults.push(`moves are left unfinished: ${left}`);
  return faults;
}

/** Sessions are whole or not there: all of their fields, what they have viewed, their place in the user's list. */
export async function sessionFaults(store: Store, sessions: Sessions, deeds: readonly Deed[]): Promise<string[]> {
  const faults: string[] = [];
  const keys = new Set((await store.call("KEYS", "session:{*")) as string[]);
  const marks = new Map<string, number>();
  for (const key of keys) {
    if (key.endsWith(":owned")) {
      for (const id of (await store.call("ZRANGE", key, 0, -1)) as string[]) {
        if (!keys.has(key.replace(/owned$/, id))) faults.push(`${key} names ${id}, which is gone`);
      }
    } else if (key.endsWith(":viewed")) {
      if (!keys.has(key.slice(0, -":viewed".length))) faults.push(`${key} is left of a session that is gone`);
    } else {
      const fields = pairs(await store.call("HGETALL", key));
      const own = ["user", "created", "seen", "ends", "version", "d:mark", "d:a", "d:b", "d:c"];
      const missing = own.filter((field) => !fields.has(field));
      if (missing.length > 0) faults.push(`${key} has no ${missing.join(", ")}`);
      if (new Set(["d:a", "d:b", "d:c"].map((field) => fields.get(field))).size > 1)
        faults.push(`${key} is half changed`);
      if (Number(await store.call("PTTL", key)) < 0) faults.push(`${key} would live for ever`);
      const [base, id] = [key.slice(0, key.indexOf("}") + 2), key.slice(key.indexOf("}") + 2)];
      if (fields.get("user") !== "" && (await store.call("ZSCORE", `${base}owned`, id)) === null) {
        faults.push(`${key} is not among its user's`);
      }
      const mark = JSON.parse(fields.get("d:mark") ?? '""') as string;
      marks.set(mark, (marks.get(mark) ?? 0) + 1);
    }
  }
  const leaving = [...ofKind(deeds, "sign out"), ...ofKind(deeds, "sign in")];
  for (const { act, answer } of leaving) {
    if (answer === null) continue;
    const { session, viewed } = sessionKeys("session", placeOf(act.token)!);
    if (keys.has(session) || keys.has(viewed)) faults.push(`${act.kind} left something of ${session}`);
    if ((await sessions.load(act.token, { touch: false })) !== null) faults.push(`${session} can still be used`);
  }
  const out = new Set(ofKind(deeds, "sign out").map(({ act }) => act.mark));
  for (const { act, answer } of ofKind(deeds, "visit")) {
    if (answer !== null && !out.has(act.mark) && !marks.has(act.mark)) faults.push(`what ${act.mark} had is lost`);
  }
  return faults;
}

/** What was answered was counted, and nothing was counted that nobody counted. */
export async function counterFaults(
  counters: Counters,
  deeds: readonly Deed[],
): Promise<{ faults: string[]; counted: number; begun: number }> {
  const begun = new Map<string, { answered: number; all: number }>();
  for (const { act, answer } of ofKind(deeds, "count")) {
    const sums = begun.get(act.name) ?? { answered: 0, all: 0 };
    sums.all++;
    if (answer !== null) sums.answered++;
    begun.set(act.name, sums);
  }
  const faults: string[] = [];
  let counted = 0;
  for (const [name, { answered, all }] of begun) {
    const samples = await counters.series(name, counters.precisionsMs[0]!);
    const sum = samples.reduce((total, { count }) => total + count, 0);
    counted += sum;
    if (sum < answered || sum > all) faults.push(`${name} counted ${answered} to ${all}, and has ${sum}`);
  }
  return { faults, counted, begun: [...begun.values()].reduce((total, { all }) => total + all, 0) };
}
