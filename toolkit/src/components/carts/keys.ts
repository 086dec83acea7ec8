/** The keys of carts. The tag is the owner: a user, whatever else names one, or the tag of a session. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("carts");

/** Whose cart it is: of a name, or of one session, whose tag the name is then. */
export interface CartPlace {
  readonly name: string;
  /** Empty where it is no session's. */
  readonly session: string;
}

export interface CartKeys {
  /** Hash: `q:<item>` → quantity, `p:<item>` → price when it was put in. Expires. */
  readonly cart: string;
  /** The same with `id`, `to` and `session` while it moves into another cart; there for a moment, or until that is finished. */
  readonly leaving: string;
}

export function cartKeys(prefix: string, place: CartPlace): CartKeys {
  const cart = cartKey(prefix, place);
  return { cart, leaving: `${cart}:leaving` };
}

/** String, expires: that move into this cart is done. */
export const mergedKey = (prefix: string, place: CartPlace, move: string): string =>
  `${cartKey(prefix, place)}:merged:${move}`;

function cartKey(prefix: string, { name, session }: CartPlace): string {
  const base = tagged(prefix, name, "cart");
  return session === "" ? base : `${base}:session:${session}`;
}
