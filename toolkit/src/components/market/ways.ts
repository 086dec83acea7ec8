/**
 * Three ways to do the same without a mistake: a script; watching what was read (WATCH); holding locks. The notes compare them,
 * and `npm run bench` does. Use the script: it is one round trip, and it never has to try again. Scripts and watching may be mixed
 * on one market; locks keep out only others who lock.
 */

import { CinnabarError } from "../../base/errors.ts";
import { asText, asTextOrNull, asTextOrNumber, asTextsOrNulls, asTuple, optional } from "../../base/replies.ts";
import type { Reply } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import type { Locks } from "../locks/index.ts";
import type { MarketKeys } from "./keys.ts";
import {
  type BuyOutcome,
  kindOf,
  type Listing,
  type Move,
  type MoveOutcome,
  type Plan,
  type Purchase,
  planBuy,
  planMove,
  planOffer,
  planRetract,
  type REUSED,
  type RetractOutcome,
} from "./rules.ts";
import { buy, claim, commit, list, move, unlist } from "./scripts.ts";

export interface Way {
  offer(listing: Listing): Promise<boolean>;
  retract(listing: Omit<Listing, "price">): Promise<RetractOutcome>;
  buy(purchase: Purchase): Promise<BuyOutcome | typeof REUSED>;
  move(money: Move): Promise<MoveOutcome>;
}

export function byScript(store: Store, keys: MarketKeys): Way {
  const { listings, sellers, owners } = keys;
  return {
    move: (money) => {
      const { user, amount, id } = money;
      return store.run(move, { funds: keys.funds(user), moved: keys.moved(user, kindOf(money), id), amount });
    },
    async offer({ seller, item, price }) {
      const done = await store.run(list, { listings, sellers, items: keys.items(seller), seller, item, price });
      return done === 1;
    },
    async retract({ seller, item }) {
      const done = await store.run(unlist, { listings, sellers, items: keys.items(seller), seller, item });
      return { status: done === 1 ? "retracted" : done === 0 ? "not-found" : "not-yours" };
    },
    async buy({ buyer, item, price, id }) {
      const answer = asTuple(
        asText,
        optional(asTextOrNumber),
        optional(asTextOrNumber),
      )(
        await store.run(buy, {
          ...{ listings, sellers, owners, buyer, item, price },
          funds: keys.funds(buyer),
          items: keys.items(buyer),
          receipt: keys.receipt(buyer, id),
          fundsOf: keys.funds(""),
        }),
      );
      const [status, first, second] = answer;
      if (status === "bought") return { status, price: Number(first), seller: String(second) };
      if (status === "price-changed") return { status, price: Number(first) };
      if (status === "insufficient-funds") return { status, price: Number(first), funds: Number(second) };
      return { status: status as "not-found" | "own-item" | "reused" };
    },
  };
}

/** Reads with whatever is given, inside a transaction or under a lock. */
type Read = (...words: string[]) => Promise<Reply>;

async function readPurchase(read: Read, keys: MarketKeys, { buyer, item, id }: Purchase) {
  const [receipt, seller, price, funds] = await Promise.all([
    read("GET", keys.receipt(buyer, id)),
    read("HGET", keys.sellers, item),
    read("ZSCORE", keys.listings, item),
    read("GET", keys.funds(buyer)),
  ]);
  return {
    receipt: asTextOrNull(receipt),
    seller: asTextOrNull(seller),
    price: asTextOrNull(price),
    funds: asTextOrNull(funds),
  };
}

/** Reads, decides, and writes only if nothing of what was read has changed; otherwise again. */
export function byWatching(store: Store, keys: MarketKeys): Way {
  async function attempt<T>(watch: readonly string[], plan: (read: Read) => Promise<Plan<T>>): Promise<T> {
    let outcome: T | undefined;
    await store.transaction({ watch, attempts: 1_000 }, async (watched) => {
      const planned = await plan((...words) => watched.call(...words));
      outcome = planned.outcome;
      return planned.writes.length === 0 ? null : planned.writes;
    });
    return outcome as T;
  }
  return {
    move: byScript(store, keys).move,
    offer: (listing) =>
      attempt([keys.items(listing.seller)], async (read) => {
        const isHeld = (await read("SISMEMBER", keys.items(listing.seller), listing.item)) === 1;
        return planOffer(keys, isHeld, listing);
      }),
    retract: (listing) =>
      attempt([keys.sellers], async (read) => {
        const owner = asTextOrNull(await read("HGET", keys.sellers, listing.item));
        return planRetract(keys, owner, listing);
      }),
    buy: (purchase) =>
      attempt(
        [keys.listings, keys.sellers, keys.funds(purchase.buyer), keys.receipt(purchase.buyer, purchase.id)],
        async (read) => planBuy(keys, await readPurchase(read, keys, purchase), purchase),
      ),
  };
}

const FENCE_MS = 86_400_000;
const WAIT_MS = 60_000;

/** Holds the item, and the user whose money or items go down; others' go up, whatever happens at the same time. */
export function byLocking(store: Store, keys: MarketKeys, locks: Locks, name: string): Way {
  async function attempt<T>(names: readonly string[], plan: (read: Read) => Promise<Plan<T>>): Promise<T> {
    const sorted = [...names].sort();
    const fences = sorted.map((each) => keys.fence(each));
    const deadlineMs = store.clock.monotonicMs() + WAIT_MS;
    for (;;) {
      const waitMs = deadlineMs - store.clock.monotonicMs();
      if (waitMs <= 0) throw new CinnabarError("LOCKED", `${sorted.join(" and ")} were not free within ${WAIT_MS} ms`);
      const group = await locks.acquireMany(
        sorted.map((each) => `${name}:${each}`),
        { waitMs },
      );
      // Also when the first of them ran out before the last was got.
      if (group === null) continue;
      try {
        const numbers = group.leases.map(({ fence }) => fence);
        if (!(await store.run(claim, { fences, numbers, keepMs: FENCE_MS }))) continue;
        const { outcome, writes } = await plan((...words) => store.call(...words));
        if (writes.length === 0) return outcome;
        const json = JSON.stringify(writes.map((words) => words.map(String)));
        if (await store.run(commit, { fences, numbers, writes: json })) return outcome;
      } finally {
        // What was done is done; locks that cannot be given back end with their lease.
        await group.release().catch(() => {});
      }
    }
  }
  return {
    // Money that comes disturbs nobody. Money that goes is what a buyer who holds the lock relies on.
    move: (money) =>
      money.amount > 0
        ? byScript(store, keys).move(money)
        : attempt([`user:${money.user}`], async (read) => {
            const found = [
              read("GET", keys.moved(money.user, kindOf(money), money.id)),
              read("GET", keys.funds(money.user)),
            ];
            const [moved, funds] = asTextsOrNulls(await Promise.all(found));
            return planMove(keys, { moved: moved ?? null, funds: funds ?? null }, money);
          }),
    offer: (listing) =>
      attempt([`item:${listing.item}`, `user:${listing.seller}`], async (read) => {
        const isHeld = (await read("SISMEMBER", keys.items(listing.seller), listing.item)) === 1;
        return planOffer(keys, isHeld, listing);
      }),
    retract: (listing) =>
      attempt([`item:${listing.item}`, `user:${listing.seller}`], async (read) => {
        const owner = asTextOrNull(await read("HGET", keys.sellers, listing.item));
        return planRetract(keys, owner, listing);
      }),
    buy: (purchase) =>
      attempt([`item:${purchase.item}`, `user:${purchase.buyer}`], async (read) =>
        planBuy(keys, await readPurchase(read, keys, purchase), purchase),
      ),
  };
}
