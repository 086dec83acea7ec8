/**
 * Shopping carts.
 *
 *   const carts = new Carts(store);
 *   await carts.add(owner, "book:17", 2, { price: 1999 });
 *   await carts.get(owner);                        // [{ item: "book:17", quantity: 2, price: 1999 }]
 *   await carts.merge(visitor, user);              // at sign-in: what was in the visitor's cart is in the user's
 *
 * The owner is a name, such as a user's, or a session (or just `{ token }` of one): then the cart lives as long as the session and
 * ends with it, however that ends.
 */
import { aStore, integer, word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { CinnabarError, InputError } from "../../base/errors.ts";
import { defineOptions, flag, having, prefix, whole } from "../../base/options.ts";
import { asPairs, asRecord, asTexts } from "../../base/replies.ts";
import { slotOf } from "../../connection/slots.ts";
import type { Store } from "../../connection/store.ts";
import type { SessionBinding, Sessions } from "../sessions/index.ts";
import { boundKey } from "../sessions/keys.ts";
import { type CartPlace, cartKeys, mergedKey } from "./keys.ts";
import { change, changeInSession, join, joinInSession, leave, left, move, moveInSession } from "./scripts.ts";

const DAY_MS = 86_400_000;

/** What `Carts` may be given. */
export interface CartsOptions {
  /** How all keys begin (default "cart"). */
  readonly prefix?: string;
  /** A cart that nobody changes for this long is gone. 30 days by default. */
  readonly idleMs?: number;
  /** Different items in a cart (default 500). */
  readonly maxItems?: number;
  /** Of one item. More is cut to it (default 9 999). */
  readonly maxQuantity?: number;
  /** Whose sessions may own carts. None by default: then an owner is a name. */
  readonly sessions?: Pick<Sessions, "bindingOf">;
  /** Whether the cart of a session ends with it (default true). Otherwise it lives for `idleMs` after its last change, as others do. */
  readonly endsWithSession?: boolean;
}

/** A name, such as a user's; or a session. */
export type CartOwner =
  | string
  | {
      /** The token of a session. */
      readonly token: string;
    };

/** One line of a cart. */
export interface CartItem {
  /** What is bought, as it was given to `add` or `set`. */
  readonly item: string;
  /** How many of it. */
  readonly quantity: number;
  /** In the smallest unit, when the item was put in; null if it was not said. */
  readonly price: number | null;
}

const OPTIONS = defineOptions<CartsOptions>("Carts", {
  prefix,
  idleMs: whole(1_000),
  maxItems: whole(1, 10_000),
  maxQuantity: whole(1, 1_000_000_000),
  sessions: having("an object with sessions, as new Sessions(store) makes it", "bindingOf"),
  endsWithSession: flag,
});

const PRICE_OPTIONS = defineOptions<{ readonly price?: number }>("Carts.set", {
  price: whole(0),
});

/** What a move of a cart must say of itself, among what was in the cart. */
const asMove = asRecord("id", "to", "session");

/** Where a cart is, and with `binding` the session that it ends with. */
interface Place extends CartPlace {
  readonly binding: Pick<SessionBinding, "session" | "bound"> | null;
}

/**
 * Shopping carts of visitors and users. A cart belongs to a name, or to a session and ends with it.
 *
 * @example
 * const carts = new Carts(db);
 * await carts.add("visitor:7", "book:17", 2, { price: 1_999 }); // → 2
 * await carts.set("ann", "pen:3", 1); // → 1
 * await carts.merge("visitor:7", "ann"); // She has signed in.
 * (await carts.get("ann")).map(({ item, quantity }) => [item, quantity]); // → [["book:17", 2], ["pen:3", 1]]
 * @example
 * const carts = new Carts(db);
 * await carts.set("ann", "pen:3", 2);
 * await carts.delete("ann", "pen:3");
 * await carts.get("ann"); // → []
 * await carts.clear("ann");
 */
export class Carts {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #sessions: Pick<Sessions, "bindingOf"> | undefined;
  readonly #endsWithSession: boolean;
  readonly #limits: { readonly maxItems: number; readonly maxQuantity: number; readonly idleMs: number };

  constructor(store: Store, options: CartsOptions = {}) {
    aStore("Carts", store);
    OPTIONS.check(options);
    this.#store = store;
    this.#prefix = options.prefix ?? "cart";
    this.#sessions = options.sessions;
    this.#endsWithSession = options.endsWithSession ?? true;
    this.#limits = {
      idleMs: options.idleMs ?? 30 * DAY_MS,
      maxItems: options.maxItems ?? 500,
      maxQuantity: options.maxQuantity ?? 9_999,
    };
  }

  /** Sets the quantity; 0 takes the item out. Answers the quantity. */
  async set(
    owner: CartOwner,
    item: string,
    quantity: number,
    options: { readonly price?: number } = {},
  ): Promise<number> {
    PRICE_OPTIONS.check(options);
    return this.#change(owner, item, { mode: "set", quantity: integer("quantity", quantity, 0), price: options.price });
  }

  /** Adds to the quantity, or takes from it. Answers what it is now. */
  async add(owner: CartOwner, item: string, by = 1, options: { readonly price?: number } = {}): Promise<number> {
    PRICE_OPTIONS.check(options);
    return this.#change(owner, item, {
      mode: "add",
      quantity: integer("by", by, -1_000_000_000, 1_000_000_000),
      price: options.price,
    });
  }

  /** Takes an item out of a cart. */
  async delete(owner: CartOwner, item: string): Promise<void> {
    await this.#change(owner, item, { mode: "set", quantity: 0 });
  }

  /** What is in it, by item. */
  async get(owner: CartOwner): Promise<CartItem[]> {
    const found = asPairs(await this.#store.call("HGETALL", this.#cart(owner)));
    const fields = new Map(found.map(([name, value]) => [name, Number(value)]));
    return [...fields]
      .filter(([name]) => name.startsWith("q:"))
      .map(([name, quantity]) => ({ item: name.slice(2), quantity, price: fields.get(`p:${name.slice(2)}`) ?? null }))
      .sort((a, b) => (a.item < b.item ? -1 : 1));
  }

  /** Deletes a cart. */
  async clear(owner: CartOwner): Promise<void> {
    await this.#store.send(["DEL", this.#cart(owner)], { repeatable: true });
  }

  /**
   * Moves a cart into another, in one step; but where the two are in different slots of a Cluster, in three: the first cart is
   * moved aside, the other takes it over and remembers that it did, the first is deleted. Broken off anywhere, it is finished by
   * the next merge of that cart, which then does its own: so nothing is lost or taken over twice, even when the next one is into
   * another cart.
   */
  async merge(from: CartOwner, to: CartOwner): Promise<void> {
    const [source, aim] = [this.#place(from), this.#place(to)];
    const old = cartKeys(this.#prefix, source);
    const { cart } = cartKeys(this.#prefix, aim);
    if (old.cart === cart) throw new InputError("a cart cannot be merged into itself");
    const isOneStep = this.#store.topology !== "cluster" || slotOf(old.cart) === slotOf(cart);
    if (isOneStep && (await this.#move({ from: old.cart, leaving: old.leaving, cart }, aim))) return;
    await this.#mergeByTurns(source, aim);
  }

  #move(keys: { readonly from: string; readonly leaving: string; readonly cart: string }, { binding }: Place) {
    const params = { ...keys, ...this.#limits };
    return binding === null
      ? this.#store.run(move, params)
      : this.#store.run(moveInSession, { ...params, session: binding.session, bound: binding.bound });
  }

  async #mergeByTurns(source: Place, aim: Place): Promise<void> {
    const old = cartKeys(this.#prefix, source);
    const own = randomToken();
    for (;;) {
      const leaving = { ...old, id: own, to: aim.name, session: this.#sessionOf(aim), idleMs: this.#limits.idleMs };
      const fields = asTexts(await this.#store.run(leave, leaving));
      if (fields.length === 0) return;
      const { id, to, session } = asMove(fields);
      await this.#join(this.#placeAgain(to, session), id, fields);
      await this.#store.run(left, { leaving: old.leaving, id });
      if (id.startsWith(`${own}:`)) return;
    }
  }

  async #join(aim: Place, id: string, fields: readonly string[]): Promise<void> {
    const params = {
      cart: cartKeys(this.#prefix, aim).cart,
      merged: mergedKey(this.#prefix, aim, id),
      ...this.#limits,
      // Longer than what was moved aside can wait for somebody to finish its move.
      markMs: this.#limits.idleMs + DAY_MS,
      fields,
    };
    if (aim.binding === null) await this.#store.run(join, params);
    else await this.#store.run(joinInSession, { ...params, session: aim.binding.session, bound: aim.binding.bound });
  }

  #cart(owner: CartOwner): string {
    return cartKeys(this.#prefix, this.#place(owner)).cart;
  }

  #place(owner: CartOwner): Place {
    if (typeof owner === "string") return { name: owner, session: "", binding: null };
    if (this.#sessions === undefined) {
      throw new InputError("the cart of a session needs the sessions: new Carts(store, { sessions })");
    }
    const found = this.#sessions.bindingOf(owner.token);
    if (found === null) throw new InputError("the owner of a cart must be a name or a session, with the token of one");
    const { tag, id, session, bound } = found;
    return { name: tag, session: id, binding: this.#endsWithSession ? { session, bound } : null };
  }

  /** How a move, which another process may finish, names the session of its aim, and the key of the one that it ends with. */
  #sessionOf({ session, binding }: Place): string {
    return JSON.stringify([session, binding?.session ?? ""]);
  }

  #placeAgain(name: string, text: string): Place {
    const [session = "", key = ""] = asTexts(JSON.parse(text));
    return { name, session, binding: key === "" ? null : { session: key, bound: boundKey(key) } };
  }

  async #change(
    owner: CartOwner,
    item: string,
    {
      mode,
      quantity,
      price,
    }: { readonly mode: "set" | "add"; readonly quantity: number; readonly price?: number | undefined },
  ): Promise<number> {
    word("item", item);
    const place = this.#place(owner);
    const { cart } = cartKeys(this.#prefix, place);
    const params = { cart, mode, item, quantity, price: price ?? "", ...this.#limits };
    const { binding } = place;
    const after = await (binding === null
      ? this.#store.run(change, params)
      : this.#store.run(changeInSession, { ...params, session: binding.session, bound: binding.bound }));
    if (after === -1) {
      throw new CinnabarError(
        "CART_FULL",
        `the cart has ${this.#limits.maxItems} different items, and no room for more`,
      );
    }
    if (after === -2)
      throw new CinnabarError("SESSION_OVER", "the session is over, and its cart with it: begin another");
    return after;
  }
}
