/** The keys of a market. It is one structure by nature: money and items move between its users, so all have its tag. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("market");

export interface MarketKeys {
  /** Sorted set: listed item by price. */
  readonly listings: string;
  /** Hash: listed item → seller. */
  readonly sellers: string;
  /** Hash: item → owner, of every item that there is. */
  readonly owners: string;
  /** String: a user's money. */
  funds(user: string): string;
  /** Set: a user's items that are not listed. */
  items(user: string): string;
  /** String, lives for a day: the purchase, deposit or withdrawal that was made with this id, and its answer. */
  receipt(id: string): string;
  /** String, expires: number of the last lease under which this was changed. */
  fence(name: string): string;
}

export function marketKeys(prefix: string, name: string): MarketKeys {
  const base = tagged(prefix, name, "market");
  return {
    listings: `${base}:listings`,
    sellers: `${base}:sellers`,
    owners: `${base}:owners`,
    funds: (user) => `${base}:funds:${user}`,
    items: (user) => `${base}:items:${user}`,
    receipt: (id) => `${base}:receipt:${id}`,
    fence: (lock) => `${base}:fence:${lock}`,
  };
}
