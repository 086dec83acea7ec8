/** One of every component that the page of all components shows by itself, for tests and screenshots. */
import type { Store } from "cinnabar";
import { Ads } from "cinnabar/ads";
import { Barriers } from "cinnabar/barriers";
import { BoundedQueue, PriorityQueue } from "cinnabar/blocking-queues";
import { Board } from "cinnabar/board";
import { Executor } from "cinnabar/executor";
import { ExpiringMap, ExpiringSet } from "cinnabar/expiring";
import { Ids } from "cinnabar/ids";
import { Latches } from "cinnabar/latches";
import { LocalMap } from "cinnabar/local-map";
import { Market } from "cinnabar/market";
import { MultiMap } from "cinnabar/multi-map";
import { day, flags, PackedTable, uint8, words } from "cinnabar/packed-table";
import { BloomFilter, CountMinSketch, CuckooFilter, TopK } from "cinnabar/sketches";
import { TimeSeries } from "cinnabar/time-series";

/** The name and the prefix that each kind has here. */
export const NAMED: Readonly<Record<string, readonly [name: string, prefix: string]>> = {
  executors: ["nightly", "executor"],
  latches: ["migrated", "latch"],
  barriers: ["phase", "barrier"],
  ids: ["invoices", "id"],
  "bloom-filters": ["seen", "bloom"],
  "cuckoo-filters": ["online", "cuckoo"],
  "count-min-sketches": ["hits", "count-min"],
  "top-k": ["words", "top-k"],
  "expiring-sets": ["typing", "expiring-set"],
  "expiring-maps": ["codes", "expiring-map"],
  "bounded-queues": ["thumbnails", "bounded-queue"],
  "priority-queues": ["alerts", "priority-queue"],
  "multi-maps": ["roles", "multi-map"],
  "local-maps": ["flags", "local-map"],
  "time-series": ["cpu:web-1", "series"],
  board: ["news", "voting"],
  market: ["fair", "market"],
  ads: ["site", "ads"],
  "packed-table": ["users", "packed"],
};

const MINUTE_MS = 60_000;

async function fillSketches(store: Store): Promise<void> {
  const items = Array.from({ length: 90 }, (_, at) => `item ${at}`);
  await new BloomFilter(store, "seen", { capacity: 100 }).addMany(items);
  await new CuckooFilter(store, "online", { capacity: 1_000 }).addMany(["ann", "ben", "cem"]);
  await new CountMinSketch(store, "hits").addMany(["/", ["/about", 40]]);
  await new TopK(store, "words", { maxItems: 10 }).addMany(["to", "be", "or", "not", "to", "be", "to"]);
}

async function fillCollections(store: Store): Promise<void> {
  await new ExpiringSet(store, "typing", { maxItems: 1_000 }).addMany(["ann", "ben"], { ttlMs: 60 * MINUTE_MS });
  const codes = new ExpiringMap<{ code: number }>(store, "codes");
  await codes.set("ann", { code: 4_711 }, { ttlMs: 60 * MINUTE_MS });
  await codes.set("ben", { code: 815 });
  await new MultiMap<string>(store, "roles").addMany("ann", ["admin", "author"]);
  const flags = new LocalMap<boolean>(store, "flags");
  await flags.set("dark-mode", true);
  await flags.close();
  await new BoundedQueue<{ image: number }>(store, "thumbnails", { capacity: 4 }).pushMany([
    { image: 1 },
    { image: 2 },
  ]);
  const alerts = new PriorityQueue<string>(store, "alerts", { capacity: 100 });
  await alerts.pushMany([{ value: "disk at 80 %" }, { value: "server down", priority: 9 }]);
}

async function fillBoard(store: Store): Promise<void> {
  const news = new Board(store, "news");
  await news.post("ann", { title: "Queues without a broker", url: "https://example.com/1" }, { id: "17" });
  await news.regroup("17", { add: ["databases", "queues"] });
  await news.post("ben", { title: "A week of Lua", text: "What we learned." }, { id: "18", groups: ["databases"] });
  for (const user of ["cem", "dee", "eva"]) await news.vote("17", user, "up");
  await news.vote("18", "cem", "down");
}

async function fillMarket(store: Store): Promise<void> {
  const fair = new Market(store, "fair");
  await fair.deposit("ben", 12_345);
  for (const item of ["sword", "shield", "map"]) await fair.mint("ann", item);
  await fair.mint("ben", "lamp");
  await fair.offer("ann", "sword", 90_000);
  await fair.offer("ann", "shield", 45_000);
  await fair.offer("ben", "lamp", 700);
}

async function fillAds(store: Store): Promise<void> {
  const site = new Ads(store, "site", { minClickDelayMs: 0, shards: 2 });
  await site.set("shoes", {
    ...{ model: "cpc", bidMicros: 250_000, locations: ["US", "IT"], words: ["running", "trail"] },
    budget: { totalMicros: 20_000_000, dailyMicros: 5_000_000 },
    data: { text: "Shoes that last" },
  });
  await site.set("soap", { model: "cpm", bidMicros: 100_000, budget: { totalMicros: 100 } });
  await site.set("trips", { model: "cpa", bidMicros: 4_000_000 });
  await site.pause("trips");
  const shown = await site.target({ locations: ["US"], content: "Running on trails", exclude: ["soap"], viewed: true });
  await site.click(shown!.id);
  for (let nth = 0; nth < 2; nth++) await site.target({ exclude: ["shoes"], viewed: true });
}

async function fillTable(store: Store): Promise<void> {
  const first = { country: words(["ITA", "USA"]), age: uint8() };
  const narrow = await PackedTable.open(store, "users", first);
  await narrow.setMany(
    Array.from({ length: 60 }, (_, at) => [at * 3, { country: at % 2 ? "ITA" : "USA", age: 20 + at }]),
  );
  const wider = { ...first, joined: day(), may: flags(["read", "write"]) };
  const users = await PackedTable.open(store, "users", wider, { addColumns: true });
  await users.set(70_000, { country: "TUR", age: 41, joined: "2026-11-15", may: ["read", "write"] });
}

export async function fillKinds(store: Store): Promise<void> {
  await fillSketches(store);
  await fillCollections(store);
  await fillBoard(store);
  await fillMarket(store);
  await fillAds(store);
  await fillTable(store);
  const latches = new Latches(store);
  await latches.create("migrated", { count: 3 });
  await latches.countDown("migrated");
  const barriers = new Barriers(store, { parties: 2 });
  await Promise.all([barriers.arrive("phase"), barriers.arrive("phase")]);
  await new Ids(store).next("invoices");
  const series = new TimeSeries(store);
  const now = Date.now();
  const samples = Array.from({ length: 30 }, (_, at) => ({
    at: now - at * MINUTE_MS,
    value: 40 + 30 * Math.sin(at / 4),
  }));
  await series.addMany("cpu:web-1", samples);
  await series.label("cpu:web-1", { host: "web-1", region: "eu" });
  const nightly = new Executor(store, "nightly", { tasks: { clean: () => {}, report: () => {} } });
  await nightly.schedule("clean up", { task: "clean", cron: "0 3 * * *", timeZone: "Europe/Rome" });
  await nightly.schedule("report", { task: "report", everyMs: 60 * MINUTE_MS });
  await nightly.run("report", undefined, { id: "first report", delayMs: 30 * MINUTE_MS });
}
