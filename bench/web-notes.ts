/**
 * Sessions and a market. Sessions: how many can be touched a second, one call after the other and a hundred in flight; how many
 * a cleaner ends. The market: purchases a second by watching, under locks and by a script, with one, five and ten buyers who each
 * have a connection. All buy from one market, so a watching buyer is disturbed by everybody else's purchase; locks are of an item
 * and a buyer, and stand in nobody's way here, but cost their round trips.
 */
import { open, type Store } from "cinnabar";
import { Market } from "cinnabar/market";
import { Sessions } from "cinnabar/sessions";
import { median } from "./servers.ts";
import { type Op, rateOf } from "./web.ts";

export interface NoteRow {
  readonly what: string;
  readonly redis: number;
  readonly embedded: number;
}

/** Stores on the same data, as buyers of different processes have them; on the embedded one they share it. */
interface Place {
  readonly store: Store;
  several(count: number): Promise<{ readonly stores: readonly Store[]; close(): Promise<void> }>;
}

async function placeAt(target?: string): Promise<Place> {
  const store = await open(target ?? "memory:");
  return {
    store,
    several: async (count) => {
      if (target === undefined) return { stores: Array.from({ length: count }, () => store), close: async () => {} };
      const stores = await Promise.all(Array.from({ length: count }, () => open(target)));
      return { stores, close: async () => void (await Promise.all(stores.map((each) => each.close()))) };
    },
  };
}

async function loads({ store }: Place, inFlight: number, quick: boolean): Promise<number> {
  const sessions = new Sessions(store);
  const tokens: string[] = [];
  for (let nth = 0; nth < 1_000; nth++) tokens.push((await sessions.create({ user: `user ${nth}` })).token);
  const load: Op = (nth) => sessions.load(tokens[nth % 1_000]!, { viewed: `item ${nth % 40}` });
  await rateOf(load, inFlight, quick ? 50 : 500);
  return rateOf(load, inFlight, quick ? 100 : 1_000);
}

async function cleaned({ store }: Place, quick: boolean): Promise<number> {
  const sessions = new Sessions(store, { prefix: "cleaned", maxLive: 16 });
  const count = quick ? 1_000 : 20_000;
  for (let nth = 0; nth < count; nth += 100) {
    await Promise.all(Array.from({ length: 100 }, () => sessions.create()));
  }
  // The list of live sessions is written behind the callers' backs.
  const shards = Array.from({ length: 16 }, (_, shard) => ["ZCARD", `cleaned:live:{${shard}}`] as const);
  const listed = async (): Promise<number> =>
    (await store.pipeline(shards)).map(Number).reduce((sum, size) => sum + size, 0);
  while ((await listed()) < count) await new Promise((resolve) => setTimeout(resolve, 5));
  const started = performance.now();
  const ended = await sessions.cleaner().runOnce();
  return ended / ((performance.now() - started) / 1_000);
}

let markets = 0;
/** Purchases before the clock starts: connections are opened and scripts loaded on the way. */
const WARMING = 5;

async function purchases(
  place: Place,
  way: "watch" | "lock" | "script",
  buyers: number,
  each: number,
): Promise<number> {
  const name = `market ${markets++}`;
  const market = new Market(place.store, name);
  const all = each + WARMING;
  for (let nth = 0; nth < buyers * all; nth++) {
    await market.mint("seller", `item ${nth}`);
    await market.offer("seller", `item ${nth}`, 10);
  }
  for (let buyer = 0; buyer < buyers; buyer++) await market.deposit(`buyer ${buyer}`, 10 * all);
  const { stores, close } = await place.several(buyers);
  const stalls = stores.map((store) => new Market(store, name, { way }));
  const buy = async (buyer: number, from: number, to: number): Promise<void> => {
    for (let nth = from; nth < to; nth++) {
      const { status } = await stalls[buyer]!.buy(`buyer ${buyer}`, `item ${buyer * all + nth}`, 10);
      if (status !== "bought") throw new Error(`a purchase ended with "${status}"`);
    }
  };
  const everybody = (from: number, to: number) => Promise.all(stalls.map((_, buyer) => buy(buyer, from, to)));
  await everybody(0, WARMING);
  const started = performance.now();
  await everybody(WARMING, all);
  const seconds = (performance.now() - started) / 1_000;
  await close();
  return (buyers * each) / seconds;
}

export async function measureNotes(port: number, quick: boolean): Promise<NoteRow[]> {
  const [redis, embedded] = [await placeAt(`redis://127.0.0.1:${port}`), await placeAt()];
  const cases: [string, (place: Place) => Promise<number>][] = [
    ["sessions read and what is viewed noted, one after the other", (place) => loads(place, 1, quick)],
    ["sessions read and what is viewed noted, 100 in flight", (place) => loads(place, 100, quick)],
    ["sessions cleaned", (place) => cleaned(place, quick)],
  ];
  for (const way of ["watch", "lock", "script"] as const) {
    for (const buyers of [1, 5, 10]) {
      const what = `purchases by ${way}, ${buyers} ${buyers === 1 ? "buyer" : "buyers"}`;
      cases.push([what, (place) => purchases(place, way, buyers, (quick ? 50 : 1_000) / buyers)]);
    }
  }
  const rows: NoteRow[] = [];
  for (const [what, run] of cases) {
    const figures = { redis: [] as number[], embedded: [] as number[] };
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      figures.redis.push(await run(redis));
      figures.embedded.push(await run(embedded));
    }
    process.stderr.write(".");
    rows.push({ what, redis: median(figures.redis), embedded: median(figures.embedded) });
  }
  await redis.store.close();
  await embedded.store.close();
  return rows;
}
