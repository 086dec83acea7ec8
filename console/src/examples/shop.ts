/**
 * A shop: sign-in and recently viewed products (`cinnabar/sessions`), carts that go along at sign-in (`cinnabar/carts`), pages from
 * a cache with tags (`cinnabar/cache`), stock from rows that are refreshed on a schedule (`cinnabar/row-cache`), and what is viewed
 * most (`cinnabar/views`), all before a database that is slow (shop-database.ts).
 */
import { Cache, type Found } from "cinnabar/cache";
import { type CartOwner, Carts } from "cinnabar/carts";
import { RowCache } from "cinnabar/row-cache";
import type { Session } from "cinnabar/sessions";
import { Views } from "cinnabar/views";
import { announce, eventsRoute } from "../events.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { integer, object, string } from "../schema.ts";
import { whileVisited } from "../visits.ts";
import { forEachOf, perStore } from "../work.ts";
import { type Example, type Progress, prefixOf } from "./example.ts";
import { type Order, ShopDatabase } from "./shop-database.ts";
import { type Asked, ShopPeople } from "./shop-people.ts";
import { type Product, SAMPLE_PRODUCTS } from "./shop-sample.ts";

const group = "Examples";
const FRESH_MS = 30_000;
const STALE_MS = 60_000;
/** How old the stock on a page may be. */
const STOCK_EVERY_MS = 5_000;
const MOST_OF_ONE = 99;
const ID = object({ id: string({ minLength: 1, maxLength: 100 }) });

export interface StockRow {
  readonly stock: number;
  readonly readAtMs: number;
}

/** A page as it is kept: what is the same for everybody. */
type Kept = { readonly products: Product[] } | { readonly product: Product | null };

const shop = perStore((store) => {
  const database = new ShopDatabase(store);
  const people = new ShopPeople(store);
  const { sessions } = people;
  return {
    database,
    people,
    carts: new Carts(store, { prefix: prefixOf("shop", "carts"), sessions, maxItems: 50, maxQuantity: MOST_OF_ONE }),
    pages: new Cache<Kept>(store, "pages", {
      prefix: prefixOf("shop", "cache"),
      freshMs: FRESH_MS,
      staleMs: STALE_MS,
      jitter: 0,
      shards: 4,
    }),
    rows: new RowCache<StockRow>(store, "stock", {
      prefix: prefixOf("shop", "rows"),
      load: async (id) => {
        const stock = await database.stock(id);
        return stock === null ? null : { stock, readAtMs: Date.now() };
      },
    }),
    views: new Views(store, "products", { prefix: prefixOf("shop", "views"), maxItems: 200 }),
  };
});

const refreshing = whileVisited((store) => shop({ store }).rows.refresher({ everyMs: 250, concurrency: 8 }).start());

/** Where a page came from, in the words of a cache. */
const WORDS = { fresh: "hit", stale: "stale", loaded: "miss" } as const;

async function page(context: Context, key: string, load: () => Promise<Kept>, tags: readonly string[]) {
  const begin = performance.now();
  const found: Found<Kept> = await shop(context).pages.getEntry(key, load, { tags });
  const micros = Math.round((performance.now() - begin) * 1_000);
  return { value: found.value, cache: { state: WORDS[found.state], ageMs: found.ageMs, micros } };
}

/** Whose cart: the user's, or the session's until somebody signs in. That one ends with the session. */
const ownerOf = (session: Session): CartOwner => (session.user === null ? session : `user:${session.user}`);

async function catalogue(context: Context) {
  refreshing.visit(context);
  const { database, views } = shop(context);
  const [{ value, cache }, top] = await Promise.all([
    page(context, "catalogue", async () => ({ products: await database.products() }), ["catalogue"]),
    views.top({ limit: 5 }),
  ]);
  return { products: "products" in value ? value.products : [], cache, top };
}

async function product(context: Context, asked: Asked, id: string) {
  refreshing.visit(context);
  const { database, people, views } = shop(context);
  const load = async () => ({ product: await database.product(id) });
  const { value, cache } = await page(context, `product:${id}`, load, ["catalogue", `product:${id}`]);
  const found = "product" in value ? value.product : null;
  if (found === null) throw new Problem(404, "NO_PRODUCT", "the shop has no such product");
  await Promise.all([people.session(asked, id), views.add(id)]);
  return { product: found, cache, standing: await views.get(id) };
}

/** As the row cache has it: as old as it says. */
async function stock(context: Context, id: string) {
  refreshing.visit(context);
  const row = await shop(context).rows.get(id);
  return { row: row && { stock: row.stock, ageMs: Math.max(0, Date.now() - row.readAtMs) } };
}

async function mine(context: Context, asked: Asked) {
  const { people } = shop(context);
  const session = await people.greet(asked);
  const [viewed, cart, others] = await Promise.all([
    people.sessions.viewed(session.token),
    cartOf(context, session),
    session.user === null ? null : people.sessions.list(session.user, { current: session.token }),
  ]);
  return { user: session.user, viewed, cart, sessions: others?.items ?? [] };
}

async function cartOf(context: Context, session: Session) {
  const { carts, database } = shop(context);
  const items = await carts.get(ownerOf(session));
  const now = await database.lookUp(items.map(({ item }) => item));
  const lines = items.map((line) => {
    const { name = line.item, price: priceNow = null } = now.get(line.item) ?? {};
    return { ...line, name, priceNow };
  });
  return { lines, total: lines.reduce((sum, { quantity, priceNow }) => sum + quantity * (priceNow ?? 0), 0) };
}

async function change(context: Context, asked: Asked, id: string, quantity: number, add: boolean) {
  const { carts, database, people } = shop(context);
  const session = await people.greet(asked);
  const price = (await database.lookUp([id])).get(id)?.price;
  if (price === undefined) throw new Problem(404, "NO_PRODUCT", "the shop has no such product");
  const owner = ownerOf(session);
  if (add) await carts.add(owner, id, quantity, { price });
  else await carts.set(owner, id, quantity, { price });
  return cartOf(context, session);
}

async function signIn(context: Context, asked: Asked, user: string, password: string) {
  const { carts, people } = shop(context);
  const name = user.trim();
  if (!/^[\p{L}\p{N}][\p{L}\p{N} ._'-]{0,23}$/u.test(name)) {
    throw new Problem(400, "NAME", "a name has 1 to 24 letters, digits, spaces and . _ ' -");
  }
  const { before, session, isNew } = await people.signIn(asked, name, password);
  if (before.user === null) await carts.merge(ownerOf(before), ownerOf(session));
  return { user: session.user, isNew };
}

async function checkOut(context: Context, asked: Asked, id: string): Promise<Order> {
  const { carts, database, people } = shop(context);
  const session = await people.session(asked);
  if (session?.user == null) throw new Problem(401, "SIGN_IN_FIRST", "sign in to order");
  const { lines, total } = await cartOf(context, session);
  const sold = lines.flatMap(({ item, name, quantity, priceNow }) =>
    priceNow === null ? [] : [{ item, name, quantity, price: priceNow }],
  );
  if (sold.length === 0) throw new Problem(409, "EMPTY", "there is nothing in the cart");
  const order = await database.order({ id, by: session.user, lines: sold, total });
  await carts.clear(ownerOf(session));
  await announce(context.store, "shop", { type: "ordered", items: sold.map(({ item }) => item) });
  return order;
}

async function reprice(context: Context, id: string, price: number): Promise<Product> {
  const { database, pages } = shop(context);
  const changed = await database.setPrice(id, price);
  await pages.invalidate([`product:${id}`, "catalogue"]);
  await announce(context.store, "shop", { type: "repriced", items: [id] });
  return changed;
}

const ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/examples/shop/products",
    group,
    summary: "The catalogue, from the page cache, and what is viewed most.",
    answers: "Products; where the page came from (`hit`, `stale`, `miss`); the most viewed.",
    run: catalogue,
  }),
  route({
    method: "GET",
    url: "/api/examples/shop/products/:id",
    group,
    summary: "A product, from the page cache. Counts a view.",
    params: ID,
    answers: "The product, where the page came from, how it stands among the most viewed.",
    run: (context, input) => product(context, input, input.params.id),
  }),
  route({
    method: "GET",
    url: "/api/examples/shop/products/:id/stock",
    group,
    summary: "A product's stock, from the row cache.",
    params: ID,
    answers: "The stock and how old that is; null until it was first read.",
    run: (context, { params }) => stock(context, params.id),
  }),
  route({
    method: "PUT",
    url: "/api/examples/shop/products/:id/price",
    group,
    summary: "Changes a price in the database, and makes the cached pages that show it invalid.",
    params: ID,
    body: object({ price: integer({ minimum: 1, maximum: 100_000_000, description: "In cents." }) }),
    answers: "The product.",
    run: (context, { params, body }) => reprice(context, params.id, body.price),
  }),
  route({
    method: "GET",
    url: "/api/examples/shop/session",
    group,
    summary: "Who you are in the shop, what you viewed, your cart, and where else you are signed in. Begins a session.",
    answers: "Those.",
    run: (context, input) => mine(context, input),
  }),
  route({
    method: "POST",
    url: "/api/examples/shop/sign-in",
    group,
    summary: "Signs in. A name that is new becomes an account with this password. The cart goes along.",
    body: object({ user: string({ maxLength: 100 }), password: string({ minLength: 1, maxLength: 200 }) }),
    answers: "Who you are, and whether the account is new.",
    run: (context, input) => signIn(context, input, input.body.user, input.body.password),
  }),
  route({
    method: "POST",
    url: "/api/examples/shop/sign-out",
    group,
    summary: "Ends the session.",
    answers: "Nothing.",
    run: (context, input) => shop(context).people.signOut(input),
  }),
  route({
    method: "POST",
    url: "/api/examples/shop/sign-out-elsewhere",
    group,
    summary: "Ends all your other sessions.",
    answers: "How many were ended.",
    run: async (context, input) => {
      const { people } = shop(context);
      const session = await people.session(input);
      if (session?.user == null) throw new Problem(401, "SIGN_IN_FIRST", "you are not signed in");
      return { ended: await people.sessions.signOutEverywhere(session.user, { except: session.token }) };
    },
  }),
  route({
    method: "POST",
    url: "/api/examples/shop/cart/:id",
    group,
    summary: "Puts more of a product into the cart.",
    params: ID,
    body: object({ by: integer({ minimum: 1, maximum: MOST_OF_ONE, default: 1 }) }),
    answers: "The cart.",
    run: (context, input) => change(context, input, input.params.id, input.body.by, true),
  }),
  route({
    method: "PUT",
    url: "/api/examples/shop/cart/:id",
    group,
    summary: "Sets how many of a product are in the cart; 0 takes it out.",
    params: ID,
    body: object({ quantity: integer({ minimum: 0, maximum: MOST_OF_ONE }) }),
    answers: "The cart.",
    run: (context, input) => change(context, input, input.params.id, input.body.quantity, false),
  }),
  route({
    method: "POST",
    url: "/api/examples/shop/orders",
    group,
    summary: "Orders what is in the cart: all of it is taken out of stock, or nothing. With the same id twice, once.",
    body: object({ id: string({ minLength: 8, maxLength: 64, pattern: "^[\\w-]+$" }) }),
    answers: "The order.",
    run: (context, input) => checkOut(context, input, input.body.id),
  }),
  eventsRoute("shop", "Orders and prices, as server-sent events."),
];

async function make(context: Context, progress: Progress): Promise<void> {
  const { database, pages, rows, views } = shop(context);
  const total = SAMPLE_PRODUCTS.length + 1;
  await database.fill(SAMPLE_PRODUCTS);
  await pages.invalidate("catalogue");
  progress(1, total);
  await forEachOf(
    SAMPLE_PRODUCTS,
    ({ id }) => rows.schedule(id, STOCK_EVERY_MS),
    (done) => progress(1 + done, total),
  );
  if ((await views.top({ limit: 1 })).length > 0) return;
  await forEachOf(SAMPLE_PRODUCTS.slice(0, 8), ({ id }, nth) => views.add(id, 16 - 2 * nth));
}

export const shopExample: Example = {
  name: "shop",
  title: "Shop",
  about:
    "Sign-in, recently viewed, a cart that goes along, pages and stock from caches in front of a slow database, and what is viewed most.",
  components: ["sessions", "carts", "cache", "row-cache", "views", "rate-limits"],
  routes: ROUTES,
  make,
  beforeRemoval: (context) => refreshing.stop(context),
};
