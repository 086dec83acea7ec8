/**
 * The rules of the market, as functions of what was read: what a request leads to, and the writes that make it so. The two ways
 * that decide in this process (ways.ts) share them; the script (scripts.ts) says the same in Lua, and one suite runs on all
 * three.
 */
import { asText, asTexts } from "../../base/replies.ts";
import type { Word } from "../../connection/port.ts";
import type { MarketKeys } from "./keys.ts";

/** What became of a new item. */
export interface MintOutcome {
  /** "exists": there is an item of that name. "full": the market has as many items as it takes. */
  readonly status: "minted" | "exists" | "full";
}
/** What became of an offer. */
export interface OfferOutcome {
  /** "not-found": the seller does not have it in the inventory. "full": as many are listed as the market takes. */
  readonly status: "offered" | "not-found" | "full";
}
/** What became of taking an offer back. */
export interface RetractOutcome {
  /** "not-found": it is not for sale. "not-yours": somebody else offers it. */
  readonly status: "retracted" | "not-found" | "not-yours";
}
/** What a call under an id comes to when the id is that of another call: of another kind, user, item, price or amount. */
export interface IdConflict {
  /** Nothing was done. */
  readonly status: "conflict";
}
/** What became of a deposit. */
export type DepositOutcome =
  | {
      /** The user has the money. */
      readonly status: "deposited";
      /** What the user has now. */
      readonly funds: number;
    }
  | IdConflict;
/** What became of taking money out. */
export type WithdrawOutcome =
  | {
      /** The money is out. */
      readonly status: "withdrawn";
      /** What is left. */
      readonly funds: number;
    }
  | {
      /** The user has less than that; nothing was done. */
      readonly status: "insufficient-funds";
      /** What the user has. */
      readonly funds: number;
    }
  | IdConflict;
/** What became of a purchase. */
export type BuyOutcome =
  | {
      /** The item is the buyer's, and the money the seller's. */
      readonly status: "bought";
      /** What was paid. */
      readonly price: number;
      /** Who got the money. */
      readonly seller: string;
    }
  | {
      /** It is not for sale, or not any more. */
      readonly status: "not-found";
    }
  | {
      /** The price is another one than the buyer saw. */
      readonly status: "price-changed";
      /** What it costs now. */
      readonly price: number;
    }
  | {
      /** The buyer has less than the price. */
      readonly status: "insufficient-funds";
      /** What it costs. */
      readonly price: number;
      /** What the buyer has. */
      readonly funds: number;
    }
  | {
      /** The buyer offers it. */
      readonly status: "own-item";
    }
  | IdConflict;

export interface Plan<T> {
  readonly outcome: T;
  readonly writes: readonly (readonly Word[])[];
}

/** An item that is for sale. */
export interface Listing {
  /** Who offers it. */
  readonly seller: string;
  /** The name of the item. */
  readonly item: string;
  /** What it costs, in the smallest unit of the money. */
  readonly price: number;
}

export function planOffer(
  keys: MarketKeys,
  { isHeld, isFull }: { readonly isHeld: boolean; readonly isFull: boolean },
  { seller, item, price }: Listing,
): Plan<OfferOutcome> {
  if (!isHeld) return { outcome: { status: "not-found" }, writes: [] };
  if (isFull) return { outcome: { status: "full" }, writes: [] };
  return {
    outcome: { status: "offered" },
    writes: [
      ["SREM", keys.items(seller), item],
      ["ZADD", keys.listings, price, item],
      ["HSET", keys.sellers, item, seller],
    ],
  };
}

export function planDelete(
  keys: MarketKeys,
  isHeld: boolean,
  { user, item }: { readonly user: string; readonly item: string },
): Plan<boolean> {
  if (!isHeld) return { outcome: false, writes: [] };
  return {
    outcome: true,
    writes: [
      ["SREM", keys.items(user), item],
      ["HDEL", keys.owners, item],
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

/** Done, too little there, or the id is that of another call; and what the user had when that was decided. */
export type MoveOutcome = readonly [status: "done" | "short" | "conflict", funds: number];

export const RECEIPT_MS = 86_400_000;

/** What an id stands for: the kind of call, whose it is, and with what. A receipt begins with it. */
export const moveRequest = ({ user, amount }: Move): string =>
  JSON.stringify([amount < 0 ? "withdraw" : "deposit", user, String(amount)]);
export const purchaseRequest = ({ buyer, item, price }: Purchase): string =>
  JSON.stringify(["buy", buyer, item, String(price)]);

export function planMove(
  keys: MarketKeys,
  state: { readonly receipt: string | null; readonly funds: string | null },
  money: Move,
): Plan<MoveOutcome> {
  const { user, amount, id } = money;
  const funds = Number(state.funds ?? 0);
  const request = moveRequest(money);
  if (state.receipt !== null) {
    const [made, left] = parseReceipt(state.receipt);
    return { outcome: made === request ? ["done", Number(left)] : ["conflict", funds], writes: [] };
  }
  if (funds + amount < 0) return { outcome: ["short", funds], writes: [] };
  return {
    outcome: ["done", funds + amount],
    writes: [
      ["SET", keys.receipt(id), JSON.stringify([request, String(funds + amount)]), "PX", RECEIPT_MS],
      ["INCRBY", keys.funds(user), amount],
    ],
  };
}

export function planBuy(keys: MarketKeys, state: PurchaseState, purchase: Purchase): Plan<BuyOutcome> {
  const { buyer, item, id } = purchase;
  const request = purchaseRequest(purchase);
  if (state.receipt !== null) return { outcome: fromReceipt(state.receipt, request), writes: [] };
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
      ["SET", keys.receipt(id), JSON.stringify([request, String(price), state.seller]), "PX", RECEIPT_MS],
    ],
  };
}

/** A purchase that was made before, by the same id: the answer of that time. */
function fromReceipt(receipt: string, request: string): BuyOutcome {
  const [made, price, seller] = parseReceipt(receipt);
  return made === request ? { status: "bought", price: Number(price), seller: asText(seller) } : { status: "conflict" };
}

const parseReceipt = (receipt: string): string[] => asTexts(JSON.parse(receipt));
