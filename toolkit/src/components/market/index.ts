/**
 * A marketplace: users with money and items, who list items at a price and buy from each other. No money and no item is made or
 * lost, whatever others do at the same time.
 *
 *   const market = new Market(store, "fair");
 *   await market.deposit("ben", 1_000, { id: "payment-17" });
 *   await market.mint("ann", "sword");
 *   await market.offer("ann", "sword", 900);
 *   await market.buy("ben", "sword", 900);           // { status: "bought", price: 900, seller: "ann" }
 *
 * Amounts are integers, in the smallest unit of the money.
 */
import { aStore, integer, word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import { NameIndex } from "../../base/names.ts";
import { choice, defineOptions, prefix, text, whole } from "../../base/options.ts";
import type { Page, PageOptions } from "../../base/page.ts";
import { asTextOrNull, asTexts } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { Locks } from "../locks/index.ts";
import { type MarketKeys, marketKeys } from "./keys.ts";
import type {
  BuyOutcome,
  DepositOutcome,
  Listing,
  MintOutcome,
  MoveOutcome,
  OfferOutcome,
  RetractOutcome,
  WithdrawOutcome,
} from "./rules.ts";
import { browse, mint } from "./scripts.ts";
import { byLocking, byScript, byWatching, type Way } from "./ways.ts";

export type {
  BuyOutcome,
  DepositOutcome,
  IdConflict,
  Listing,
  MintOutcome,
  OfferOutcome,
  RetractOutcome,
  WithdrawOutcome,
} from "./rules.ts";

/** What a sorted set's score and a Lua number hold exactly. */
const MOST = Number.MAX_SAFE_INTEGER;

/** What a `Market` may be given. */
export interface MarketOptions {
  /** How all keys begin (default "market"). */
  readonly prefix?: string;
  /**
   * How a request is kept from others': by a script (the default), by WATCH, or by locks; all three give the same outcomes. With "lock",
   * everybody must use it.
   */
  readonly way?: "script" | "watch" | "lock";
  /** With "lock": how long a process that died in the middle keeps others from the same user or item. 5 s by default. */
  readonly leaseMs?: number;
  /** At most so many items are listed at once (default 100 000). */
  readonly maxListings?: number;
  /** At most so many items are there, listed and not (default 1 000 000). */
  readonly maxItems?: number;
}

const OPTIONS = defineOptions<MarketOptions>("Market", {
  prefix,
  way: choice("script", "watch", "lock"),
  leaseMs: whole(10),
  maxListings: whole(1),
  maxItems: whole(1),
});

const CALL_OPTIONS = defineOptions<{ readonly id?: string }>("Market.deposit", {
  id: text,
});

const LIST_OPTIONS = defineOptions<PageOptions>("Market.list", {
  limit: whole(1, 1_000),
  cursor: text,
});

/**
 * A marketplace: users with money and items, who list items at a price and buy from each other. No money and no item is made or lost,
 * whatever others do at the same time.
 *
 * @example
 * const fair = new Market(db, "fair");
 * await fair.deposit("ben", 1_000, { id: "payment-17" }); // → { status: "deposited", funds: 1000 }
 * await fair.mint("ann", "sword"); // → { status: "minted" }
 * await fair.offer("ann", "sword", 900); // → { status: "offered" }
 * await fair.buy("ben", "sword", 900); // → { status: "bought", price: 900, seller: "ann" }
 * [await fair.funds("ann"), await fair.ownerOf("sword")]; // → [900, "ben"]
 * @example
 * const fair = new Market(db, "fair");
 * await fair.mint("ann", "sword");
 * await fair.offer("ann", "sword", 900);
 * (await fair.list({ limit: 10 })).items; // → [{ item: "sword", price: 900, seller: "ann" }]
 * await fair.retract("ann", "sword"); // → { status: "retracted" }
 * await fair.inventory("ann"); // → ["sword"]
 * @example
 * const fair = new Market(db, "fair");
 * await fair.mint("ann", "sword");
 * await fair.delete("ann", "sword"); // → true
 * await fair.withdraw("ann", 5); // → { status: "insufficient-funds", funds: 0 }
 */
export class Market {
  /** The name of the market, as it was given. */
  readonly name: string;
  readonly #store: Store;
  readonly #keys: MarketKeys;
  readonly #way: Way;
  readonly #maxItems: number;
  readonly #names: NameIndex;

  constructor(store: Store, name: string, options: MarketOptions = {}) {
    aStore("Market", store);
    OPTIONS.check(options);
    const { prefix = "market", way = "script", leaseMs = 5_000 } = options;
    const { maxListings = 100_000, maxItems = 1_000_000 } = options;
    this.#maxItems = maxItems;
    // All who use a market that is kept by locks must lock.
    const details = { maxListings, maxItems, ...(way === "lock" && { way, leaseMs }) };
    this.#names = new NameIndex(store, { kind: "market", prefix, details });
    this.name = name;
    this.#store = store;
    this.#keys = marketKeys(prefix, name);
    if (way === "script") this.#way = byScript(store, this.#keys, maxListings);
    else if (way === "watch") this.#way = byWatching(store, this.#keys, maxListings);
    else {
      const locks = new Locks(store, { prefix: `${prefix}:lock`, leaseMs });
      this.#way = byLocking(store, this.#keys, { locks, name, maxListings });
    }
  }

  /**
   * Gives a user money from outside, and answers what they have. The same call with the same id does nothing more and answers what
   * the first one did; any other call with that id is a "conflict".
   */
  async deposit(user: string, amount: number, options: { readonly id?: string } = {}): Promise<DepositOutcome> {
    CALL_OPTIONS.check(options);
    this.#names.announce(this.name);
    const [status, funds] = await this.#move(user, integer("amount", amount, 1, MOST), options.id);
    return status === "conflict" ? { status } : { status: "deposited", funds };
  }

  /** Takes money out if there is enough, and answers what is left. An `id` is what it is for `deposit`. */
  async withdraw(user: string, amount: number, options: { readonly id?: string } = {}): Promise<WithdrawOutcome> {
    CALL_OPTIONS.check(options);
    const [status, funds] = await this.#move(user, -integer("amount", amount, 1, MOST), options.id);
    if (status === "conflict") return { status };
    return { status: status === "short" ? "insufficient-funds" : "withdrawn", funds };
  }

  /** What a user has, in the smallest unit of the money; 0 for one who is not known. */
  async funds(user: string): Promise<number> {
    return Number((await this.#store.call("GET", this.#keys.funds(word("user", user, 256)))) ?? 0);
  }

  /** Brings a new item into the market. */
  async mint(user: string, item: string): Promise<MintOutcome> {
    word("user", user, 256);
    word("item", item, 256);
    const { owners } = this.#keys;
    const items = this.#keys.items(user);
    this.#names.announce(this.name);
    return { status: await this.#store.run(mint, { owners, items, user, item, maxItems: this.#maxItems }) };
  }

  /** Takes an item out of its owner's inventory and of the market. False: they do not have it there. */
  async delete(user: string, item: string): Promise<boolean> {
    return this.#way.delete({ user: word("user", user, 256), item: word("item", item, 256) });
  }

  /** Who owns an item, listed or not; null if there is none. */
  async ownerOf(item: string): Promise<string | null> {
    return asTextOrNull(await this.#store.call("HGET", this.#keys.owners, word("item", item, 256)));
  }

  /** A user's items that are not listed. */
  async inventory(user: string): Promise<string[]> {
    const items = asTexts(await this.#store.call("SMEMBERS", this.#keys.items(word("user", user, 256))));
    return items.sort();
  }

  /** Offers an item; it leaves the seller's inventory meanwhile. */
  async offer(seller: string, item: string, price: number): Promise<OfferOutcome> {
    word("seller", seller, 256);
    word("item", item, 256);
    integer("price", price, 1, MOST);
    this.#names.announce(this.name);
    return this.#way.offer({ seller, item, price });
  }

  /** Takes an offer back. */
  async retract(seller: string, item: string): Promise<RetractOutcome> {
    return this.#way.retract({ seller: word("seller", seller, 256), item: word("item", item, 256) });
  }

  /** Buys at the price that the buyer has seen. An `id` is what it is for `deposit`. */
  async buy(buyer: string, item: string, price: number, options: { readonly id?: string } = {}): Promise<BuyOutcome> {
    CALL_OPTIONS.check(options);
    word("buyer", buyer, 256);
    word("item", item, 256);
    integer("price", price, 1, MOST);
    const id = word("id", options.id ?? randomToken(), 256);
    return this.#way.buy({ buyer, item, price, id });
  }

  /** What is offered, the cheapest first. At most `limit` (default 25). */
  async list(options: PageOptions = {}): Promise<Page<Listing>> {
    LIST_OPTIONS.check(options);
    const limit = options.limit ?? 25;
    const { afterPrice, afterItem } = parseCursor(options.cursor);
    const { listings, sellers } = this.#keys;
    const found = await this.#store.run(browse, { listings, sellers, limit, afterPrice, afterItem });
    const last = found.at(-1);
    return {
      items: found.map(([item, price, seller]) => ({ item, price: Number(price), seller })),
      cursor: last === undefined || found.length < limit ? null : `${last[1]}~${last[0]}`,
    };
  }

  async #move(user: string, amount: number, id: string = randomToken()): Promise<MoveOutcome> {
    return this.#way.move({ user: word("user", user, 256), amount, id: word("id", id, 256) });
  }
}

function parseCursor(cursor: string | undefined): { afterPrice: string; afterItem: string } {
  if (cursor === undefined) return { afterPrice: "0", afterItem: "" };
  const at = cursor.indexOf("~");
  const afterPrice = cursor.slice(0, at);
  if (at < 1 || !Number.isFinite(Number(afterPrice))) throw new InputError("cursor is not one that list() gave");
  return { afterPrice, afterItem: cursor.slice(at + 1) };
}
