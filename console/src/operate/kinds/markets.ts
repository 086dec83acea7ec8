/** Marketplaces: what is offered, who offers it, and what users have. */
import { type Listing, Market } from "cinnabar/market";
import { Problem } from "../../route.ts";
import { sound } from "../../values.ts";
import { onRow } from "./actions.ts";
import {
  type Doing,
  type Figure,
  gone,
  idIn,
  type Kind,
  keyOf,
  known,
  type List,
  type Looking,
  NOT_THERE,
  type Opening,
  PAGE,
  paged,
  shortText,
  tally,
} from "./kind.ts";

const PRICE_NOTE = "in the smallest unit of the money";

/** A market that is kept by locks says so: a process that changes it must lock, too. */
const market = ({ store, thing }: Opening): Market =>
  new Market(store, thing.name, {
    prefix: thing.prefix,
    ...known(thing, "maxListings"),
    ...known(thing, "maxItems"),
    ...(thing.details.way === "lock" && { way: "lock", ...known(thing, "leaseMs") }),
  });

const inventoryOf = ({ thing }: Opening, user: string): string => keyOf(thing, `:items:${user}`);

const counted = (title: string, value: number, most: number | undefined, note: string): Figure => ({
  ...{ title, value, unit: "number", note },
  ...(most !== undefined && { of: most }),
});

/** The price at one end of the list; null where nothing is offered. */
async function priceAt({ store, thing }: Opening, nth: 0 | -1): Promise<number | null> {
  const found = await store.call("ZRANGE", keyOf(thing, ":listings"), nth, nth, "WITHSCORES");
  return found[1] === undefined ? null : Number(found[1]);
}

async function sellersOf(looking: Looking, offers: readonly Listing[]): Promise<List> {
  const sellers = tally(offers.map(({ seller }) => seller));
  const [funds, counts] = await Promise.all([
    Promise.all(sellers.map(([seller]) => market(looking).funds(seller))),
    looking.store.pipeline(sellers.map(([seller]) => ["SCARD", inventoryOf(looking, seller)])),
  ]);
  return {
    title: "Sellers of these items",
    empty: "Nobody offers anything.",
    columns: [
      { title: "Seller", unit: "text" },
      { title: "Offers on this page", unit: "number" },
      { title: "Items not offered", unit: "number" },
      { title: "Funds", unit: "amount" },
    ],
    rows: sellers.map(([seller, count], at) => ({
      id: seller,
      cells: [seller, count, Number(sound(counts[at]!)), funds[at]!],
    })),
    actions: [],
    asks: true,
    cursor: null,
    isWhole: true,
  };
}

async function itemFigures(looking: Looking, item: string): Promise<Figure[]> {
  const [owner, price] = await Promise.all([
    market(looking).ownerOf(item),
    looking.store.call("ZSCORE", keyOf(looking.thing, ":listings"), item),
  ]);
  if (owner === null) return [];
  return [
    { title: "Owner of the item", value: owner, unit: "text" },
    price === null
      ? { title: "Offer", value: "not offered", unit: "state" }
      : { title: "Price of the item", value: Number(price), unit: "amount", note: PRICE_NOTE },
  ];
}

/** A user is known by money or by items that are not offered. Of these some are told: there may be very many. */
async function userFigures(looking: Looking, user: string): Promise<Figure[]> {
  const inventory = inventoryOf(looking, user);
  const [funds, count, scanned] = await Promise.all([
    market(looking).funds(user),
    looking.store.call("SCARD", inventory),
    looking.store.call("SSCAN", inventory, "0", "COUNT", PAGE),
  ]);
  if (funds === 0 && count === 0) return [];
  const [, items] = scanned;
  const told = items.slice(0, PAGE).sort();
  return [
    { title: "Funds of the user", value: funds, unit: "amount", note: PRICE_NOTE },
    {
      title: "Items not offered",
      value: Number(count),
      unit: "number",
      ...(told.length < Number(count) && { note: `${told.length} of them are shown` }),
    },
    ...told.map((item, nth): Figure => ({ title: `Item ${nth + 1}`, value: shortText(item), unit: "text" })),
  ];
}

async function sellerOf(doing: Doing): Promise<string> {
  const owner = await market(doing).ownerOf(doing.row);
  if (owner === null) throw gone(`the item ${doing.row}`);
  return owner;
}

async function retract(doing: Doing): Promise<string> {
  const seller = await sellerOf(doing);
  const { status } = await market(doing).retract(seller, doing.row);
  if (status !== "retracted") throw gone(`the offer of ${doing.row}`);
  return seller;
}

export const MARKETS: Kind = {
  kind: "market",
  title: "Marketplaces",
  about: "Users with money and items, who offer items at a price and buy from each other.",
  async figures(looking) {
    const { store, thing } = looking;
    const [[offers, items], cheapest, dearest] = await Promise.all([
      store.pipeline([
        ["ZCARD", keyOf(thing, ":listings")],
        ["HLEN", keyOf(thing, ":owners")],
      ]),
      priceAt(looking, 0),
      priceAt(looking, -1),
    ]);
    const { maxListings } = known(thing, "maxListings");
    const { maxItems } = known(thing, "maxItems");
    return [
      counted("Items offered", Number(sound(offers)), maxListings, "a full market refuses new offers"),
      counted("Items", Number(sound(items)), maxItems, "offered or not"),
      { title: "Lowest price", value: cheapest, unit: "amount", note: PRICE_NOTE },
      { title: "Highest price", value: dearest, unit: "amount" },
    ];
  },
  async lists(looking) {
    const { items, cursor } = await market(looking).list(paged(looking));
    const offers: List = {
      title: "Offers, the cheapest first",
      empty: "Nothing is offered.",
      columns: [
        { title: "Item", unit: "text" },
        { title: "Seller", unit: "text" },
        { title: "Price", unit: "amount" },
      ],
      rows: items.map(({ item, seller, price }) => ({ id: item, cells: [item, seller, price] })),
      actions: ["retract", "delete"],
      asks: true,
      cursor,
    };
    return [offers, await sellersOf(looking, items)];
  },
  question: { label: "User or item", button: "Look up user or item" },
  async answer(looking, item) {
    const name = idIn(item);
    const found =
      name === null ? [] : (await Promise.all([itemFigures(looking, name), userFigures(looking, name)])).flat();
    return found.length > 0
      ? found
      : [{ ...NOT_THERE, note: "no item of this name, and no user with money or with items that are not offered" }];
  },
  actions: [
    onRow(
      "retract",
      "Retract offer",
      "Retract",
      async (doing) => `The offer of ${doing.row} was retracted: ${await retract(doing)} has the item again.`,
      "The item goes back to its seller. Nobody can buy it until the seller offers it again.",
    ),
    onRow(
      "delete",
      "Delete item",
      "Delete item",
      async (doing) => {
        const seller = await retract(doing);
        if (await market(doing).delete(seller, doing.row)) return `The item ${doing.row} was deleted.`;
        throw new Problem(
          409,
          "STATE",
          `the offer of ${doing.row} was retracted, but the item was not deleted: ${seller} has offered it again. Load the page again`,
        );
      },
      "The offer is retracted, and the item leaves the market. Its seller gets no money for it. This cannot be undone.",
    ),
  ],
};
