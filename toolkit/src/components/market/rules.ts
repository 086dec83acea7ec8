/**
 * The rules of the market, as functions of what was read: what a request leads to, and the writes that make it so. The two ways
 * that decide in this process (ways.ts) share them; the script (scripts.ts) says the same in Lua, and one suite runs on all
 * three.
 */
import type { Word } from "../../connection/port.ts";
import type { MarketKeys, MoveKind } from "./keys.ts";

export interface RetractOutcome {
  /** "not-found": it is not for sale. "not-yours": somebody else offers it. */
  readonly status: "retracted" | "not-found" | "not-yours";
}
export type BuyOutcome =
  | { readonly status: "bought"; readonly price: number; readonly seller: string }
  /** It is not for sale, or not any more. */
  | { readonly status: "not-found" }
  /** The price is another one than the buyer saw. */
  | { readonly status: "price-changed"; readonly price: number }
  | { readonly status: "insufficient-funds"; readonly price: number; readonly funds: number }
  | { readonly status: "own-item" };

/** The id is that of another call: of another item, price or amount. */
export const REUSED = { status: "reused" } as const;

export interface Plan<T> {
  readonly outcome: T;
  readonly writes: readonly (readonly Word[])[];
}

export interface Listing {
  readonly seller: string;
  readonly item: string;
  readonly price: number;
}

export function planOffer(keys: MarketKeys, isHeld: boolean, { seller, item, price }: Listing): Plan<boolean> {
  if (!isHeld) return { outcome: false, writes: [] };
  return {
    outcome: true,
    writes: [
      ["SREM", keys.items(seller), item],
      ["ZADD", keys.listings, price, item],
      ["HSET", keys.sellers, item, seller],
    ],
  };
}

export function planRetract(
  keys: MarketKeys,
  owner: string | null,
  { seller, item }: { readonly seller: string; readonly item: string },
): Plan<RetractOutcome> {
  if (owner === null) return { outcome: { status: "not-found" }, writes: [] };
  if (owner !== seller) return { outcome: { status: "not-yours" }, writes: [] };
  return {
    outcome: { status: "retracted" },
    writes: [
      ["ZREM", keys.listings, item],
      ["HDEL", keys.sellers, item],
      ["SADD", keys.items(seller), item],
    ],
  };
}

export interface Purchase {
  readonly buyer: string;
  readonly item: string;
  readonly price: number;
  readonly id: string;
}

export interface PurchaseState {
  readonly receipt: string | null;
  readonly seller: string | null;
  readonly price: string | null;
  readonly funds: string | null;
}

/** Money from outside, or to it: then the amount is negative. */
export interface Move {
  readonly user: string;
  readonly amount: number;
  readonly id: string;
}

/** Done, too little there, or the id is that of another amount; and what the user had when that was decided. */
export type MoveOutcome = readonly [status: "done" | "short" | "reused", funds: number];

export const kindOf = ({ amount }: Move): MoveKind => (amount < 0 ? "withdraw" : "deposit");

export const RECEIPT_MS = 86_400_000;

export function planMove(
  keys: MarketKeys,
  state: { readonly moved: string | null; readonly funds: string | null },
  money: Move,
): Plan<MoveOutcome> {
  const { user, amount, id } = money;
  const funds = Number(state.funds ?? 0);
  if (state.moved !== null) {
    const [made = 0, left = 0] = state.moved.split(" ").map(Number);
    return { outcome: made === amount ? ["done", left] : ["reused", funds], writes: [] };
  }
  if (funds + amount < 0) return { outcome: ["short", funds], writes: [] };
  return {
    outcome: ["done", funds + amount],
    writes: [
      ["SET", keys.moved(user, kindOf(money), id), `${amount} ${funds + amount}`, "PX", RECEIPT_MS],
      ["INCRBY", keys.funds(user), amount],
    ],
  };
}

export function planBuy(keys: MarketKeys, state: PurchaseState, purchase: Purchase): Plan<BuyOutcome | typeof REUSED> {
  const { buyer, item, id } = purchase;
  if (state.receipt !== null) return { outcome: fromReceipt(state.receipt, purchase), writes: [] };
  if (state.seller === null || state.price === null) return { outcome: { status: "not-found" }, writes: [] };
  const price = Number(state.price);
  const funds = Number(state.funds ?? 0);
  if (state.seller === buyer) return { outcome: { status: "own-item" }, writes: [] };
  if (price !== purchase.price) return { outcome: { status: "price-changed", price }, writes: [] };
  if (funds < price) return { outcome: { status: "insufficient-funds", price, funds }, writes: [] };
  return {
    outcome: { status: "bought", price, seller: state.seller },
    writes: [
      ["DECRBY", keys.funds(buyer), price],
      ["INCRBY", keys.funds(state.seller), price],
      ["ZREM", keys.listings, item],
      ["HDEL", keys.sellers, item],
      ["SADD", keys.items(buyer), item],
      ["HSET", keys.owners, item, buyer],
      ["SET", keys.receipt(buyer, id), JSON.stringify([String(price), state.seller, item]), "PX", RECEIPT_MS],
    ],
  };
}

/** A purchase that was made before, by the same id: the answer of that time. */
function fromReceipt(receipt: string, purchase: Purchase): BuyOutcome | typeof REUSED {
  const [price, seller, item] = JSON.parse(receipt) as [string, string, string];
  if (item !== purchase.item || Number(price) !== purchase.price) return REUSED;
  return { status: "bought", price: Number(price), seller };
}
