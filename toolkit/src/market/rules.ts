/**
 * The rules of the market, as functions of what was read: what a request leads to, and the writes that make it so. The two ways
 * that decide in this process (ways.ts) share them; the script (scripts.ts) says the same in Lua, and one suite runs on all
 * three.
 */
import type { Word } from "../connection/port.ts";
import type { MarketKeys } from "./keys.ts";

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

/** Whether there was enough, and what there is now. */
export type MoveOutcome = readonly [isDone: boolean, funds: number];

export const RECEIPT_MS = 86_400_000;

export function planMove(
  keys: MarketKeys,
  state: { readonly moved: string | null; readonly funds: string | null },
  { user, amount, id }: Move,
): Plan<MoveOutcome> {
  const funds = Number(state.funds ?? 0);
  if (state.moved !== null) return { outcome: [true, funds], writes: [] };
  if (funds + amount < 0) return { outcome: [false, funds], writes: [] };
  return {
    outcome: [true, funds + amount],
    writes: [
      ["SET", keys.moved(id), amount, "PX", RECEIPT_MS],
      ["INCRBY", keys.funds(user), amount],
    ],
  };
}

export function planBuy(keys: MarketKeys, state: PurchaseState, purchase: Purchase): Plan<BuyOutcome> {
  const { buyer, item, id } = purchase;
  if (state.receipt !== null) return { outcome: fromReceipt(state.receipt), writes: [] };
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
      ["SET", keys.receipt(id), `${price} ${state.seller}`, "PX", RECEIPT_MS],
    ],
  };
}

/** A purchase that was made before, by the same id: the answer of that time. */
export function fromReceipt(receipt: string): BuyOutcome {
  const space = receipt.indexOf(" ");
  return { outcome: "bought", price: Number(receipt.slice(0, space)), seller: receipt.slice(space + 1) };
}
