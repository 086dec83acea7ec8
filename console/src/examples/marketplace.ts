/**
 * A marketplace: people with money and things, who list and buy (`cinnabar/market`). A purchase is one script, or WATCH and MULTI,
 * as the visitor chooses; and a crowd can be let loose on one thing, to see that it is sold once and no money is made or lost.
 */
import { randomBytes } from "node:crypto";
import { json } from "cinnabar";
import { type BuyOutcome, Market } from "cinnabar/market";
import { announce, eventsRoute } from "../events.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { integer, object, oneOf, string } from "../schema.ts";
import { untraced } from "../trace.ts";
import { forEachOf, perStore } from "../work.ts";
import { type Example, type Progress, prefixOf } from "./example.ts";
import { needVisitor } from "./visitor.ts";

const group = "Examples";
const NAME = "marketplace";
const PREFIX = prefixOf(NAME, "market");
/** What everybody may take once a day, in cents. */
const ALLOWANCE = 50_000;
const MOST_PRICE = 100_000_000;
const MOST_ITEMS = 100;
const LATEST = prefixOf(NAME, "latest");
const MOST_LATEST = 12;

const WAYS = ["script", "watch"] as const;
type Way = (typeof WAYS)[number];
const WAY = oneOf(WAYS, "How a purchase is kept from others': in one script, or by WATCH, MULTI and EXEC.");
const ITEM = string({ minLength: 1, maxLength: 60, pattern: "^[^\\u0000-\\u001f]+$" });
const PRICE = integer({ minimum: 1, maximum: MOST_PRICE, description: "In cents." });
const ONCE = string({ minLength: 8, maxLength: 64, pattern: "^[\\w-]+$", description: "With the same twice, once." });

const markets = perStore((store) => ({
  script: new Market(store, "fair", { prefix: PREFIX, way: "script" }),
  watch: new Market(store, "fair", { prefix: PREFIX, way: "watch" }),
}));

export interface Trade {
  readonly id: string;
  readonly item: string;
  readonly price: number;
  readonly seller: string;
  readonly buyer: string;
}

const TRADE_CODEC = json<Trade>();

async function view(context: Context, visitor: string, after: string | undefined) {
  const { script: market } = markets(context);
  const [funds, inventory, page, latest] = await Promise.all([
    market.funds(visitor),
    market.inventory(visitor),
    market.list({ limit: 20, ...(after !== undefined && { cursor: after }) }),
    context.store.call("LRANGE", LATEST, 0, -1),
  ]);
  return {
    funds,
    inventory,
    listings: page.items,
    next: page.cursor,
    latest: latest.map((each) => TRADE_CODEC.decode(each)),
  };
}

/** The day by the console's clock; who is given twice at midnight has deserved it. */
const today = (): string => new Date().toISOString().slice(0, 10);

async function allowance(context: Context, visitor: string) {
  const { script: market } = markets(context);
  const before = await market.funds(visitor);
  const given = await market.deposit(visitor, ALLOWANCE, { id: `allowance:${visitor}:${today()}` });
  if (given.status === "conflict" || given.funds === before)
    throw new Problem(409, "HAD_IT", "you have had today's money; sell something, or come back tomorrow");
  return { funds: given.funds };
}

async function mint(context: Context, visitor: string, wanted: string): Promise<void> {
  const { script: market } = markets(context);
  const item = wanted.trim().replace(/\s+/g, " ");
  if (item === "") throw new Problem(400, "NAME", "a thing needs a name");
  if ((await market.inventory(visitor)).length >= MOST_ITEMS) {
    throw new Problem(409, "FULL", `you have ${MOST_ITEMS} things; sell some first`);
  }
  const { status } = await market.mint(visitor, item);
  if (status === "exists")
    throw new Problem(409, "EXISTS", `there is a “${item}” already: each thing is one of its kind`);
  if (status === "full") throw new Problem(409, "FULL", "the market has as many things as it takes");
}

async function list(context: Context, visitor: string, item: string, price: number): Promise<void> {
  const { status } = await markets(context).script.offer(visitor, item, price);
  if (status === "not-found") throw new Problem(409, "ABSENT", `you do not have “${item}”`);
  if (status === "full") throw new Problem(409, "FULL", "as many things are for sale as the market takes; try later");
  await announce(context.store, NAME, { type: "listed", item });
}

async function unlist(context: Context, visitor: string, item: string): Promise<void> {
  const { status } = await markets(context).script.retract(visitor, item);
  if (status === "not-found") throw new Problem(409, "GONE", "that is not for sale any more");
  if (status === "not-yours") throw new Problem(403, "NOT_YOURS", "only its seller can take an offer back");
  await announce(context.store, NAME, { type: "unlisted", item });
}

interface Purchase {
  readonly id: string;
  readonly item: string;
  readonly price: number;
  readonly way: Way;
}

const shown = (cents: number): string => (cents / 100).toFixed(2);

function refusalOf(outcome: Exclude<BuyOutcome, { status: "bought" }>): Problem {
  switch (outcome.status) {
    case "not-found":
      return new Problem(409, "GONE", "somebody was faster, or it was taken back");
    case "price-changed":
      return new Problem(409, "PRICE_CHANGED", `it costs ${shown(outcome.price)} now`);
    case "insufficient-funds":
      return new Problem(409, "TOO_DEAR", `it costs ${shown(outcome.price)}, and you have ${shown(outcome.funds)}`);
    case "own-item":
      return new Problem(409, "YOURS", "it is your own");
    case "conflict":
      return new Problem(409, "CONFLICT", "you have bought something else with that id; take a new one");
  }
}

/** The same purchase noted twice stands there once. */
async function note(context: Context, trade: Trade): Promise<void> {
  const text = JSON.stringify(trade);
  await context.store.multi([
    ["LREM", LATEST, 0, text],
    ["LPUSH", LATEST, text],
    ["LTRIM", LATEST, 0, MOST_LATEST - 1],
  ]);
  await announce(context.store, NAME, { type: "bought", ...trade });
}

async function buy(context: Context, buyer: string, { id, item, price, way }: Purchase) {
  // Ids belong to the whole market, and visitors choose theirs: nobody's is another's.
  const outcome = await markets(context)[way].buy(buyer, item, price, { id: `${buyer}:${id}` });
  if (outcome.status !== "bought") throw refusalOf(outcome);
  await note(context, { id, item, price: outcome.price, seller: outcome.seller, buyer });
  return outcome;
}

interface Rush {
  readonly item: string;
  readonly price: number;
  readonly buyers: number;
  readonly way: Way;
}

const newId = (): string => randomBytes(9).toString("base64url");

/** Everybody wants the same thing at the same moment. */
async function rush(context: Context, { item, price, buyers, way }: Rush) {
  const market = markets(context)[way];
  const seller = await market.ownerOf(item);
  if (seller === null) throw new Problem(404, "NO_ITEM", "there is no such thing");
  const crowd = Array.from({ length: buyers }, (_, nth) => `Crowd ${nth + 1}`);
  const everybody = [...new Set([...crowd, seller])];
  const fundsOf = (each: string) => market.funds(each);
  // Giving and counting money is no part of what is shown: the trace is of the purchases.
  const money = () => untraced(async () => (await Promise.all(everybody.map(fundsOf))).reduce((a, b) => a + b, 0));
  await untraced(() =>
    forEachOf(crowd, async (each) => {
      const funds = await fundsOf(each);
      if (funds < price) await market.deposit(each, price - funds);
    }),
  );
  const before = await money();
  const begin = performance.now();
  const outcomes = await Promise.all(crowd.map((each) => market.buy(each, item, price)));
  const micros = Math.round((performance.now() - begin) * 1_000);
  const buyer = crowd[outcomes.findIndex(({ status }) => status === "bought")];
  if (buyer !== undefined) await note(context, { id: newId(), item, price, seller, buyer });
  const counts: Record<string, number> = {};
  for (const { status } of outcomes) counts[status] = (counts[status] ?? 0) + 1;
  return {
    counts,
    buyer: buyer ?? null,
    owner: await market.ownerOf(item),
    before,
    after: await money(),
    micros,
  };
}

const ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/examples/marketplace/view",
    group,
    summary: "Your money and things, a page of what is for sale (the cheapest first), and the latest trades.",
    query: object({ after: string({ maxLength: 200, description: "`next` of the page before." }) }, ["after"]),
    answers: "Those.",
    run: (context, { query, request }) => view(context, needVisitor(request), query.after),
  }),
  route({
    method: "POST",
    url: "/api/examples/marketplace/allowance",
    group,
    summary: "Takes today's money, once a day.",
    answers: "What you have.",
    run: (context, { request }) => allowance(context, needVisitor(request)),
  }),
  route({
    method: "POST",
    url: "/api/examples/marketplace/items",
    group,
    summary: "Makes a new thing, which is yours. Each is one of its kind.",
    body: object({ item: ITEM }),
    answers: "Nothing.",
    run: (context, { body, request }) => mint(context, needVisitor(request), body.item),
  }),
  route({
    method: "POST",
    url: "/api/examples/marketplace/listings",
    group,
    summary: "Offers a thing of yours at a price.",
    body: object({ item: ITEM, price: PRICE }),
    answers: "Nothing.",
    run: (context, { body, request }) => list(context, needVisitor(request), body.item, body.price),
  }),
  route({
    method: "DELETE",
    url: "/api/examples/marketplace/listings/:item",
    group,
    summary: "Takes an offer of yours back.",
    params: object({ item: ITEM }),
    answers: "Nothing.",
    run: (context, { params, request }) => unlist(context, needVisitor(request), params.item),
  }),
  route({
    method: "POST",
    url: "/api/examples/marketplace/purchases",
    group,
    summary: "Buys at the price that you have seen, or not at all.",
    body: object({ id: ONCE, item: ITEM, price: PRICE, way: WAY }),
    answers: "Price and seller.",
    run: (context, { body, request }) => buy(context, needVisitor(request), body),
  }),
  route({
    method: "POST",
    url: "/api/examples/marketplace/rush",
    group,
    summary: "Lets a crowd buy one thing at the same moment. They are given the money for it before.",
    body: object({ item: ITEM, price: PRICE, buyers: integer({ minimum: 2, maximum: 50, default: 20 }), way: WAY }),
    answers: "How many bought it and how many did not; the money of all before and after.",
    run: (context, { body }) => rush(context, body),
  }),
  eventsRoute(NAME, "What is listed, taken back and bought, as server-sent events."),
];

/** Seller, what they have, and what it costs. */
const SAMPLE: readonly (readonly [string, readonly (readonly [string, number])[]])[] = [
  [
    "Ada",
    [
      ["Brass astrolabe", 12_900],
      ["Punched card, first of its deck", 950],
      ["Loom, small", 31_500],
    ],
  ],
  [
    "Grace",
    [
      ["Moth, pressed", 4_700],
      ["Ship's clock", 18_800],
      ["Signal flags", 2_600],
    ],
  ],
  [
    "Linus",
    [
      ["Penguin, carved", 3_200],
      ["Keyboard, loud", 7_900],
      ["Diving mask", 2_150],
    ],
  ],
  [
    "Margaret",
    [
      ["Moon map, folded", 5_400],
      ["Rope memory", 22_000],
      ["Slide rule", 1_950],
    ],
  ],
  [
    "Niklaus",
    [
      ["Oberon's crown", 41_000],
      ["Box of semicolons", 120],
      ["Fountain pen, dry", 880],
    ],
  ],
  [
    "Radia",
    [
      ["Spanning tree, potted", 6_300],
      ["Bridge, toy", 1_400],
      ["Poem, framed", 3_900],
    ],
  ],
  [
    "Barbara",
    [
      ["Abstract painting", 15_700],
      ["Substitute key", 640],
      ["Cluster of grapes, glass", 2_900],
    ],
  ],
  [
    "Ken",
    [
      ["Chess computer", 27_300],
      ["Bell, from a laboratory", 4_100],
      ["Small grep", 75],
    ],
  ],
];

async function make(context: Context, progress: Progress): Promise<void> {
  const { script: market } = markets(context);
  const things = SAMPLE.flatMap(([seller, items]) => items.map(([item, price]) => ({ seller, item, price })));
  await forEachOf(
    things,
    async ({ seller, item, price }) => {
      // What is there already may have been sold since: it stays where it is.
      if ((await market.mint(seller, item)).status === "minted") await market.offer(seller, item, price);
    },
    (done) => progress(done, things.length),
  );
}

export const marketplace: Example = {
  name: NAME,
  title: "Marketplace",
  about:
    "People list things and buy from each other. However many buy at once, each thing is sold once and no money is made or lost.",
  components: ["market"],
  routes: ROUTES,
  make,
};
