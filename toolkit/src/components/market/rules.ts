/**
 * The rules of the market, as functions of what was read: what a request leads to, and the writes that make it so. The two ways
 * that decide in this process (ways.ts) share them; the script (scripts.ts) says the same in Lua, and one suite runs on all
 * three.
 */
import type { Word } from "../../connection/port.ts";
import type { MarketKeys, MoveKind } from "./keys.ts";

export type ListOutcome = "listed" | "absent";
export type UnlistOutcome = "taken back" | "absent" | "not yours";
export type BuyOutcome =
  | { readonly outcome: "bought"; readonly price: number; readonly seller: string }
  /** It is not for sale, or not any more. */
  | { readonly outcome: "gone" }
  /** The price is another one than the buyer saw. */
  | { readonly outcome: "price changed"; readonly price: number }
  | { readonly outcome: "too dear"; readonly price: number; readonly funds: number }
  | { readonly outcome: "yours" };

/** The id is that of another call: of another item, price or amount. */
export const REUSED = { outcome: "reused" } as const;

export interface Plan<T> {
  readonly outcome: T;
  readonly writes: readonly (readonly Word[])[];
}

export interface Listing {
  readonly seller: string;
  readonly item: string;
  readonly price: number;
}

export function planList(keys: MarketKeys, isHeld: boolean, { seller, item, price }: Listing): Plan<ListOutcome> {
  if (!isHeld) return { outcome: "absent", writes: [] };
  return {
    outcome: "listed",
    writes: [
      ["SREM", keys.items(seller), item],
      ["ZADD", keys.listings, price, item],
      ["HSET", keys.sellers, item, seller],
    ],
  };
}

export function planUnlist(
  keys: MarketKeys,
  owner: string | null,
  { seller, item }: { readonly seller: string; readonly item: string },
): Plan<UnlistOutcome> {
  if (owner === null) return { outcome: "absent", writes: [] };
  if (owner !== seller) return { outcome: "not yours", writes: [] };
  return {
    outcome: "taken back",
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
    const [made, left] = state.moved.split(" ").map(Number) as [number, number];
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
  if (state.seller === null || state.price === null) return { outcome: { outcome: "gone" }, writes: [] };
  const price = Number(state.price);
  const funds = Number(state.funds ?? 0);
  if (state.seller === buyer) return { outcome: { outcome: "yours" }, writes: [] };
  if (price !== purchase.price) return { outcome: { outcome: "price changed", price }, writes: [] };
  if (funds < price) return { outcome: { outcome: "too dear", price, funds }, writes: [] };
  return {
    outcome: { outcome: "bought", price, seller: state.seller },
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
  return { outcome: "bought", price: Number(price), seller };
}
