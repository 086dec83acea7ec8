/**
 * Three ways to do the same without a mistake: a script; watching what was read (WATCH); holding locks.
 * `npm run bench` compares them. Use the script: it is one round trip, and it never has to try again. Scripts and watching may be mixed
 * on one market; locks keep out only others who lock.
 */

import { CinnabarError } from "../../base/errors.ts";
import { asTextOrNull, asTextOrNumber, asTextsOrNulls, asTuple, optional, wordOf } from "../../base/replies.ts";
import type { Reply } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import type { Locks } from "../locks/index.ts";
import type { MarketKeys } from "./keys.ts";
import {
  type BuyOutcome,
  type Listing,
  type Move,
  type MoveOutcome,
  moveRequest,
  type OfferOutcome,
  type Plan,
  type Purchase,
  planBuy,
  planDelete,
  planMove,
  planOffer,
  planRetract,
  purchaseRequest,
  type RetractOutcome,
} from "./rules.ts";
import { buy, claim, commit, drop, list, move, unlist } from "./scripts.ts";

export interface Way {
  offer(listing: Listing): Promise<OfferOutcome>;
  retract(listing: Omit<Listing, "price">): Promise<RetractOutcome>;
  delete(holding: { readonly user: string; readonly item: string }): Promise<boolean>;
  buy(purchase: Purchase): Promise<BuyOutcome>;
  move(money: Move): Promise<MoveOutcome>;
}

const asBuyStatus = wordOf("bought", "price-changed", "insufficient-funds", "not-found", "own-item", "conflict");

const asBought = asTuple(asBuyStatus, optional(asTextOrNumber), optional(asTextOrNumber));

export function byScript(store: Store, keys: MarketKeys, maxListings: number): Way {
  const { listings, sellers, owners } = keys;
  return {
    move: (money) => moveByScript(store, keys, money),
    async offer({ seller, item, price }) {
      const items = keys.items(seller);
      return { status: await store.run(list, { listings, sellers, items, seller, item, price, maxListings }) };
    },
    delete: ({ user, item }) => store.run(drop, { owners, items: keys.items(user), item }),
    async retract({ seller, item }) {
      const done = await store.run(unlist, { listings, sellers, items: keys.items(seller), seller, item });
      return { status: done === 1 ? "retracted" : done === 0 ? "not-found" : "not-yours" };
    },
    async buy({ buyer, item, price, id }) {
      const answer = asBought(
        await store.run(buy, {
          ...{ listings, sellers, owners, buyer, item, price },
          funds: keys.funds(buyer),
          items: keys.items(buyer),
          receipt: keys.receipt(id),
          fundsOf: keys.funds(""),
          request: purchaseRequest({ buyer, item, price, id }),
        }),
      );
      const [status, first, second] = answer;
      if (status === "bought") return { status, price: Number(first), seller: String(second) };
      if (status === "price-changed") return { status, price: Number(first) };
      if (status === "insufficient-funds") return { status, price: Number(first), funds: Number(second) };
      return { status };
    },
  };
}

function moveByScript(store: Store, keys: MarketKeys, money: Move): Promise<MoveOutcome> {
  const { user, amount, id } = money;
  const receipt = keys.receipt(id);
  return store.run(move, { funds: keys.funds(user), receipt, amount, request: moveRequest(money) });
}

/** Commands whose answers a plan is made of, and how. */
interface Question<T> {
  readonly reads: readonly (readonly string[])[];
  readonly plan: (answers: readonly Reply[]) => Plan<T>;
}

function askBuy(keys: MarketKeys, purchase: Purchase): Question<BuyOutcome> {
  const { buyer, item, id } = purchase;
  return {
    reads: [
      ["GET", keys.receipt(id)],
      ["HGET", keys.sellers, item],
      ["ZSCORE", keys.listings, item],
      ["GET", keys.funds(buyer)],
    ],
    plan: (answers) => {
      const [receipt = null, seller = null, price = null, funds = null] = asTextsOrNulls([...answers]);
      return planBuy(keys, { receipt, seller, price, funds }, purchase);
    },
  };
}

function askMove(keys: MarketKeys, money: Move): Question<MoveOutcome> {
  return {
    reads: [
      ["GET", keys.receipt(money.id)],
      ["GET", keys.funds(money.user)],
    ],
    plan: (answers) => {
      const [receipt = null, funds = null] = asTextsOrNulls([...answers]);
      return planMove(keys, { receipt, funds }, money);
    },
  };
}

function askOffer(keys: MarketKeys, listing: Listing, maxListings: number): Question<OfferOutcome> {
  return {
    reads: [
      ["SISMEMBER", keys.items(listing.seller), listing.item],
      ["ZCARD", keys.listings],
    ],
    plan: ([held, listed]) => planOffer(keys, { isHeld: held === 1, isFull: Number(listed) >= maxListings }, listing),
  };
}

function askRetract(keys: MarketKeys, listing: Omit<Listing, "price">): Question<RetractOutcome> {
  return {
    reads: [["HGET", keys.sellers, listing.item]],
    plan: ([owner]) => planRetract(keys, asTextOrNull(owner), listing),
  };
}

function askDelete(keys: MarketKeys, holding: { readonly user: string; readonly item: string }): Question<boolean> {
  return {
    reads: [["SISMEMBER", keys.items(holding.user), holding.item]],
    plan: ([held]) => planDelete(keys, held === 1, holding),
  };
}

/** Reads, decides, and writes only if nothing of what was read has changed; otherwise again. */
export function byWatching(store: Store, keys: MarketKeys, maxListings: number): Way {
  async function attempt<T>(watch: readonly string[], { reads, plan }: Question<T>): Promise<T> {
    let outcome: T | undefined;
    await store.transaction({ watch, reads, attempts: 1_000 }, (_, answers) => {
      const planned = plan(answers);
      outcome = planned.outcome;
      return planned.writes.length === 0 ? null : planned.writes;
    });
    return outcome as T;
  }
  return {
    move: (money) => moveByScript(store, keys, money),
    // The listings too: offers of others may fill them.
    offer: (listing) => attempt([keys.items(listing.seller), keys.listings], askOffer(keys, listing, maxListings)),
    retract: (listing) => attempt([keys.sellers], askRetract(keys, listing)),
    delete: (holding) => attempt([keys.items(holding.user)], askDelete(keys, holding)),
    buy: (purchase) =>
      attempt(
        [keys.listings, keys.sellers, keys.funds(purchase.buyer), keys.receipt(purchase.id)],
        askBuy(keys, purchase),
      ),
  };
}

const FENCE_MS = 86_400_000;
const WAIT_MS = 60_000;

/** What no lock protects and must still hold when it is written. */
interface Guard {
  readonly guarded: string;
  readonly count: "ZCARD" | "EXISTS" | "";
  readonly below: number;
}

/** Holds the item, and the user whose money or items go down; others' go up, whatever happens at the same time. */
export function byLocking(
  store: Store,
  keys: MarketKeys,
  { locks, name, maxListings }: { readonly locks: Locks; readonly name: string; readonly maxListings: number },
): Way {
  const unguarded: Guard = { guarded: keys.listings, count: "", below: 0 };
  const unusedId = (id: string): Guard => ({ guarded: keys.receipt(id), count: "EXISTS", below: 1 });
  async function attempt<T>(
    names: readonly string[],
    { reads, plan }: Question<T>,
    guard: Guard = unguarded,
  ): Promise<T> {
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
        const { outcome, writes } = plan(await Promise.all(reads.map((words) => store.call(...words))));
        if (writes.length === 0) return outcome;
        const json = JSON.stringify(writes.map((words) => words.map(String)));
        if (await store.run(commit, { ...guard, fences, numbers, writes: json })) return outcome;
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
        ? moveByScript(store, keys, money)
        : attempt([`user:${money.user}`], askMove(keys, money), unusedId(money.id)),
    offer: (listing) =>
      attempt([`item:${listing.item}`, `user:${listing.seller}`], askOffer(keys, listing, maxListings), {
        guarded: keys.listings,
        count: "ZCARD",
        below: maxListings,
      }),
    retract: (listing) => attempt([`item:${listing.item}`, `user:${listing.seller}`], askRetract(keys, listing)),
    delete: (holding) => attempt([`item:${holding.item}`, `user:${holding.user}`], askDelete(keys, holding)),
    buy: (purchase) =>
      attempt([`item:${purchase.item}`, `user:${purchase.buyer}`], askBuy(keys, purchase), unusedId(purchase.id)),
  };
}
