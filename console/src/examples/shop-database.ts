/**
 * The shop's database: what the caches stand in front of. It is kept in the store too, so that the sample can be made and
 * removed and all consoles share it; and it is slow, as databases are, so that a cache makes a difference one can see.
 */
import { json, type Store } from "cinnabar";
import { Problem } from "../route.ts";
import { listOf } from "../values.ts";
import type { Product } from "./shop-sample.ts";

/** One tag: an order changes several products' stock and itself in one step. */
const BASE = "example:shop:{database}";
const PRODUCTS = `${BASE}:products`;
const STOCK = `${BASE}:stock`;
const ORDERS = `${BASE}:orders`;
const MOST_ORDERS = 500;
/** What one query takes besides the store's own time. */
export const QUERY_MS = 40;

export interface OrderLine {
  readonly item: string;
  readonly name: string;
  readonly quantity: number;
  readonly price: number;
}

export interface Order {
  readonly id: string;
  readonly by: string;
  readonly lines: readonly OrderLine[];
  readonly total: number;
}

const PRODUCT_CODEC = json<Product>();
const ORDER_CODEC = json<Order>();

const query = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, QUERY_MS));

export class ShopDatabase {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** All products, by name. */
  async products(): Promise<Product[]> {
    await query();
    const found = await this.#store.call("HVALS", PRODUCTS);
    return found.map((each) => PRODUCT_CODEC.decode(each)).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async product(id: string): Promise<Product | null> {
    await query();
    const found = await this.#store.call("HGET", PRODUCTS, id);
    return found === null ? null : PRODUCT_CODEC.decode(found);
  }

  async stock(id: string): Promise<number | null> {
    await query();
    const found = await this.#store.call("HGET", STOCK, id);
    return found === null ? null : Number(found);
  }

  /** Without the delay, for what decides. */
  async lookUp(ids: readonly string[]): Promise<Map<string, Product>> {
    if (ids.length === 0) return new Map();
    const found = await this.#store.call("HMGET", PRODUCTS, ...ids);
    const products = new Map<string, Product>();
    for (const [nth, id] of ids.entries()) {
      const product = found[nth];
      if (typeof product === "string") products.set(id, PRODUCT_CODEC.decode(product));
    }
    return products;
  }

  async setPrice(id: string, price: number): Promise<Product> {
    const product = await this.product(id);
    if (product === null) throw new Problem(404, "NO_PRODUCT", "the shop has no such product");
    const changed = { ...product, price };
    await this.#store.call("HSET", PRODUCTS, id, JSON.stringify(changed));
    return changed;
  }

  /**
   * Takes what is ordered out of stock, all of it or nothing. With the id of an order that was made, that order again. WATCH,
   * read, decide, MULTI … EXEC: of two who want the last one, one gets it.
   */
  async order(wanted: Order): Promise<Order> {
    let made = wanted;
    await this.#store.transaction({ watch: [STOCK, ORDERS] }, async ({ call }) => {
      const before = await call("HGET", ORDERS, wanted.id);
      if (before !== null) {
        made = ORDER_CODEC.decode(String(before));
        return null;
      }
      if (Number(await call("HLEN", ORDERS)) >= MOST_ORDERS) {
        throw new Problem(409, "FULL", "this shop has had its fill of orders: remove its data to begin anew");
      }
      const stock = listOf(await call("HMGET", STOCK, ...wanted.lines.map(({ item }) => item)));
      wanted.lines.forEach(({ name, quantity }, nth) => {
        const left = Number(stock[nth] ?? 0);
        if (left < quantity)
          throw new Problem(409, "SOLD_OUT", `of “${name}” there ${left === 1 ? "is" : "are"} only ${left}`);
      });
      return [
        ...wanted.lines.map(({ item, quantity }) => ["HINCRBY", STOCK, item, -quantity] as const),
        ["HSET", ORDERS, wanted.id, JSON.stringify(wanted)],
      ];
    });
    return made;
  }

  async fill(products: readonly (Product & { readonly stock: number })[]): Promise<void> {
    const answers = await this.#store.pipeline(
      products.flatMap(({ stock, ...product }) => [
        ["HSETNX", PRODUCTS, product.id, JSON.stringify(product)],
        ["HSETNX", STOCK, product.id, stock],
      ]),
    );
    for (const answer of answers) if (answer instanceof Error) throw answer;
  }
}
