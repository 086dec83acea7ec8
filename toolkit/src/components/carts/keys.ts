/** The keys of carts. The tag is the owner: a user, a session's tag, or whatever names one. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("carts");

export interface CartKeys {
  /** Hash: `q:<item>` → quantity, `p:<item>` → price when it was put in. Expires. */
  readonly cart: string;
  /** The same with `id` and `to` while it moves into another cart; there for a moment, or until a broken-off move is finished. */
  readonly leaving: string;
}

export function cartKeys(prefix: string, owner: string): CartKeys {
  const cart = tagged(prefix, owner, "cart");
  return { cart, leaving: `${cart}:leaving` };
}

/** String, expires: that move into this cart is done. */
export const mergedKey = (prefix: string, owner: string, move: string): string =>
  `${tagged(prefix, owner, "cart")}:merged:${move}`;
