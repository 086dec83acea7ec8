/** What the parts of the shop's page have in common. */

export const API = "/api/examples/shop";

/** Product → what it is called. */
export type Names = ReadonlyMap<string, string>;

export interface CartLine {
  readonly item: string;
  readonly name: string;
  readonly quantity: number;
  /** When it was put in. */
  readonly price: number | null;
  readonly priceNow: number | null;
}

export interface Cart {
  readonly lines: readonly CartLine[];
  readonly total: number;
}

export interface Mine {
  readonly user: string | null;
  readonly viewed: readonly string[];
  readonly cart: Cart;
  readonly sessions: readonly { readonly id: string; readonly seenAt: string; readonly current: boolean }[];
}
