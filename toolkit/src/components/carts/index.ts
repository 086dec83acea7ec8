/**
 * Shopping carts.
 *
 *   const carts = new Carts(store);
 *   await carts.add(owner, "book:17", 2, { price: 1999 });
 *   await carts.list(owner);                       // [{ item: "book:17", quantity: 2, price: 1999 }]
 *   await carts.merge(visitor, user);              // at sign-in: what was in the visitor's cart is in the user's
 *
 * The owner is a user's name, or the tag of a session (`sessions.tagOf(token)`), which makes the cart live beside the session.
 */
import { aStore, integer, word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { CinnabarError, InputError } from "../../base/errors.ts";
import { defineOptions, prefix, whole } from "../../base/options.ts";
import { asPairs, asRecord, asTexts } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { cartKeys, mergedKey } from "./keys.ts";
import { change, join, leave, left } from "./scripts.ts";

const DAY_MS = 86_400_000;

export interface CartsOptions {
  readonly prefix?: string;
  /** A cart that nobody changes for this long is gone. */
  readonly idleMs?: number;
  /** Different items in a cart. */
  readonly maxItems?: number;
  /** Of one item. More is cut to it. */
  readonly maxQuantity?: number;
}

export interface CartItem {
  readonly item: string;
  readonly quantity: number;
  /** In the smallest unit, when the item was put in; null if it was not said. */
  readonly price: number | null;
}

const OPTIONS = defineOptions<CartsOptions>("Carts", {
  prefix,
  idleMs: whole(1_000),
  maxItems: whole(1, 10_000),
  maxQuantity: whole(1, 1_000_000_000),
});

const PRICE_OPTIONS = defineOptions<{ readonly price?: number }>("Carts.set", {
  price: whole(0),
});

/** What a move of a cart must say of itself, among what was in the cart. */
const asMove = asRecord("id", "to");

export class Carts {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #limits: { readonly maxItems: number; readonly maxQuantity: number; readonly idleMs: number };

  constructor(store: Store, options: CartsOptions = {}) {
    aStore("Carts", store);
    OPTIONS.check(options);
    this.#store = store;
    this.#prefix = options.prefix ?? "cart";
    this.#limits = {
      idleMs: options.idleMs ?? 30 * DAY_MS,
      maxItems: options.maxItems ?? 500,
      maxQuantity: options.maxQuantity ?? 9_999,
    };
  }

  /** Sets the quantity; 0 takes the item out. Answers the quantity. */
  async set(owner: string, item: string, quantity: number, options: { readonly price?: number } = {}): Promise<number> {
    PRICE_OPTIONS.check(options);
    return this.#change(owner, item, { mode: "set", quantity: integer("quantity", quantity, 0), price: options.price });
  }

  /** Adds to the quantity, or takes from it. Answers what it is now. */
  async add(owner: string, item: string, by = 1, options: { readonly price?: number } = {}): Promise<number> {
    PRICE_OPTIONS.check(options);
    return this.#change(owner, item, {
      mode: "add",
      quantity: integer("by", by, -1_000_000_000, 1_000_000_000),
      price: options.price,
    });
  }

  async delete(owner: string, item: string): Promise<void> {
    await this.#change(owner, item, { mode: "set", quantity: 0 });
  }

  /** What is in it, by item. */
  async get(owner: string): Promise<CartItem[]> {
    const found = asPairs(await this.#store.call("HGETALL", cartKeys(this.#prefix, owner).cart));
    const fields = new Map(found.map(([name, value]) => [name, Number(value)]));
    return [...fields]
      .filter(([name]) => name.startsWith("q:"))
      .map(([name, quantity]) => ({ item: name.slice(2), quantity, price: fields.get(`p:${name.slice(2)}`) ?? null }))
      .sort((a, b) => (a.item < b.item ? -1 : 1));
  }

  async clear(owner: string): Promise<void> {
    await this.#store.send(["DEL", cartKeys(this.#prefix, owner).cart], { repeatable: true });
  }

  /**
   * Moves a cart into another. The two may be on different nodes, so it is three steps: the first cart is moved aside, the other
   * takes it over and remembers that it did, the first is deleted. Broken off anywhere, it is finished by the next merge of that
   * cart, which then does its own: so nothing is lost or taken over twice, even when the next one is into another cart.
   */
  async merge(from: string, to: string): Promise<void> {
    if (from === to) throw new InputError("a cart cannot be merged into itself");
    const old = cartKeys(this.#prefix, from);
    cartKeys(this.#prefix, to);
    const { idleMs } = this.#limits;
    const own = randomToken();
    for (;;) {
      const fields = asTexts(await this.#store.run(leave, { ...old, id: own, to, idleMs }));
      if (fields.length === 0) return;
      const { id, to: aim } = asMove(fields);
      await this.#store.run(join, {
        cart: cartKeys(this.#prefix, aim).cart,
        merged: mergedKey(this.#prefix, aim, id),
        ...this.#limits,
        // Longer than what was moved aside can wait for somebody to finish its move.
        markMs: idleMs + DAY_MS,
        fields,
      });
      await this.#store.run(left, { leaving: old.leaving, id });
      if (id.startsWith(`${own}:`)) return;
    }
  }

  async #change(
    owner: string,
    item: string,
    {
      mode,
      quantity,
      price,
    }: { readonly mode: "set" | "add"; readonly quantity: number; readonly price?: number | undefined },
  ): Promise<number> {
    word("item", item);
    const { cart } = cartKeys(this.#prefix, owner);
    const after = await this.#store.run(change, { cart, mode, item, quantity, price: price ?? "", ...this.#limits });
    if (after < 0) {
      throw new CinnabarError(
        "CART_FULL",
        `the cart has ${this.#limits.maxItems} different items, and no room for more`,
      );
    }
    return after;
  }
}
