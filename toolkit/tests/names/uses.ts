/** A first use of each kind of thing that has names, and what removes the thing. */
import { Ads } from "../../src/components/ads/index.ts";
import { PrefixIndex } from "../../src/components/autocomplete/index.ts";
import { Barriers } from "../../src/components/barriers/index.ts";
import { BoundedQueue, PriorityQueue } from "../../src/components/blocking-queues/index.ts";
import { Board } from "../../src/components/board/index.ts";
import { Cache } from "../../src/components/cache/index.ts";
import { Chats, Mailboxes } from "../../src/components/chats/index.ts";
import { Config } from "../../src/components/config/index.ts";
import { Counters } from "../../src/components/counters/index.ts";
import { Elections } from "../../src/components/elections/index.ts";
import { Executor } from "../../src/components/executor/index.ts";
import { ExpiringMap, ExpiringSet } from "../../src/components/expiring/index.ts";
import { Files } from "../../src/components/files/index.ts";
import { Fleet } from "../../src/components/fleet/index.ts";
import { Ids } from "../../src/components/ids/index.ts";
import { JobSearch } from "../../src/components/job-search/index.ts";
import { Latches } from "../../src/components/latches/index.ts";
import { LocalMap } from "../../src/components/local-map/index.ts";
import { Locks } from "../../src/components/locks/index.ts";
import { LogFiles } from "../../src/components/log-files/index.ts";
import { Logs } from "../../src/components/logs/index.ts";
import { Market } from "../../src/components/market/index.ts";
import { MultiMap } from "../../src/components/multi-map/index.ts";
import { PackedTable, uint8 } from "../../src/components/packed-table/index.ts";
import { Places } from "../../src/components/places/index.ts";
import { Queue } from "../../src/components/queues/index.ts";
import { RateLimits } from "../../src/components/rate-limits/index.ts";
import { RowCache } from "../../src/components/row-cache/index.ts";
import { SearchIndex } from "../../src/components/search/index.ts";
import { Semaphores } from "../../src/components/semaphores/index.ts";
import { ShardedSet, UniqueVisitors } from "../../src/components/sharded/index.ts";
import { BloomFilter, CountMinSketch, CuckooFilter, TopK } from "../../src/components/sketches/index.ts";
import { Stats } from "../../src/components/stats/index.ts";
import { StatusStream } from "../../src/components/streaming/index.ts";
import { TimeSeries } from "../../src/components/time-series/index.ts";
import { DurableTopic, Topic } from "../../src/components/topics/index.ts";
import { Views } from "../../src/components/views/index.ts";
import type { Store } from "../../src/index.ts";

export interface NamedUse {
  /** May answer a function that ends the use. */
  readonly use: (store: Store) => Promise<unknown>;
  readonly names: readonly string[];
  /** Removes the thing as a whole. */
  readonly remove?: (store: Store) => Promise<unknown>;
  /** Why there is no such thing; the name goes when it has not been used for long. */
  readonly stays?: string;
}

const FIELDS = { title: { type: "text" } } as const;
const BLOOM = { capacity: 100 };
const AGES = { age: uint8() };

/** By kind. */
export const USES: Readonly<Record<string, NamedUse>> = {
  ads: {
    use: async (store) => {
      await new Ads(store, "site").set("ad", { model: "cpm", bidMicros: 1_000, locations: ["US"] });
    },
    names: ["site"],
    stays: "ads are deleted one by one, and the site goes on",
  },
  autocomplete: {
    use: async (store) => {
      await new PrefixIndex(store, "guild").addMany(["ann"]);
    },
    names: ["guild"],
    stays: "names are deleted one by one, and the index goes on",
  },
  barriers: {
    use: async (store) => {
      await new Barriers(store, { parties: 2 }).arrive("start", { timeoutMs: 0 });
    },
    names: ["start"],
    stays: "a barrier is used again for the next generation",
  },
  board: {
    use: async (store) => {
      await new Board(store, "news").post("ann", { title: "A link" });
    },
    names: ["news"],
    stays: "articles are deleted one by one, and the board goes on",
  },
  "bloom-filters": {
    use: async (store) => {
      await new BloomFilter(store, "seen", BLOOM).add("a");
    },
    names: ["seen"],
    remove: (store) => new BloomFilter(store, "seen", BLOOM).clear(),
  },
  "bounded-queues": {
    use: async (store) => {
      await new BoundedQueue(store, "q").push(1);
    },
    names: ["q"],
    remove: (store) => new BoundedQueue(store, "q").clear(),
  },
  cache: {
    use: async (store) => {
      await new Cache<number>(store, "pages").get("a", async () => 1);
    },
    names: ["pages"],
    stays: "entries are removed, and the cache fills itself again",
  },
  chats: {
    use: async (store) => {
      await new Chats(store).join("lobby", "ann");
    },
    names: ["lobby"],
    remove: (store) => new Chats(store).delete("lobby"),
  },
  config: {
    use: async (store) => {
      await new Config(store, "shop", { defaults: { n: 0 }, validate: (value) => value as { n: number } }).set({
        n: 1,
      });
    },
    names: ["shop"],
    stays: "processes follow it for as long as they run",
  },
  "count-min-sketches": {
    use: async (store) => {
      await new CountMinSketch(store, "hits").add("a");
    },
    names: ["hits"],
    remove: (store) => new CountMinSketch(store, "hits").clear(),
  },
  counters: {
    use: async (store) => {
      await new Counters(store).add("hits");
    },
    names: ["hits"],
    remove: (store) => new Counters(store).delete("hits"),
  },
  "cuckoo-filters": {
    use: async (store) => {
      await new CuckooFilter(store, "there", BLOOM).add("a");
    },
    names: ["there"],
    remove: (store) => new CuckooFilter(store, "there", BLOOM).clear(),
  },
  "durable-topics": {
    use: async (store) => {
      await new DurableTopic(store, "orders").publish(1);
    },
    names: ["orders"],
    remove: (store) => new DurableTopic(store, "orders").clear(),
  },
  elections: {
    use: async (store) => {
      const term = await new Elections(store).campaign("leader", { id: "a" });
      return () => term!.resign();
    },
    names: ["leader"],
    stays: "an election has no end: the next candidate may come at any time",
  },
  executors: {
    use: async (store) => {
      await new Executor(store, "main", { tasks: { work: (_n: number) => {} } }).run("work", 1);
    },
    names: ["main"],
    stays: "processes follow it for as long as they run",
  },
  "expiring-maps": {
    use: async (store) => {
      await new ExpiringMap(store, "codes").set("a", 1);
    },
    names: ["codes"],
    remove: (store) => new ExpiringMap(store, "codes").clear(),
  },
  "expiring-sets": {
    use: async (store) => {
      await new ExpiringSet(store, "online", { ttlMs: 60_000 }).add("ann");
    },
    names: ["online"],
    remove: (store) => new ExpiringSet(store, "online", { ttlMs: 60_000 }).clear(),
  },
  files: {
    use: async (store) => {
      await (await new Files(store, "logs").join("counter")).leave();
    },
    names: ["logs"],
    stays: "files go when all have read them, and the exchange goes on",
  },
  fleet: {
    use: async (store) => {
      const fleet = await Fleet.open(store);
      await fleet.define("jobs", { a: "memory:" }).catch(() => {});
      return () => fleet.close();
    },
    names: ["main"],
    stays: "processes follow it for as long as they run",
  },
  ids: {
    use: async (store) => {
      await new Ids(store).next("orders");
    },
    names: ["orders"],
    remove: (store) => new Ids(store).delete("orders"),
  },
  "job-search": {
    use: async (store) => {
      await new JobSearch(store, "board").set("job", { requires: [{ skill: "js" }] });
    },
    names: ["board"],
    stays: "jobs are deleted one by one, and the board goes on",
  },
  latches: {
    use: async (store) => {
      await new Latches(store).create("ready", { count: 2 });
    },
    names: ["ready"],
    remove: (store) => new Latches(store).delete("ready"),
  },
  "local-maps": {
    use: async (store) => {
      const map = new LocalMap(store, "flags");
      await map.set("a", 1);
      return () => map.close();
    },
    names: ["flags"],
    remove: async (store) => {
      const map = new LocalMap(store, "flags");
      await map.clear();
      await map.close();
    },
  },
  locks: {
    use: async (store) => {
      const lease = await new Locks(store).acquire("door");
      return () => lease!.release();
    },
    names: ["door"],
    stays: "a lock that is free is taken again under the same name",
  },
  "log-files": {
    use: async (store) => {
      await new LogFiles(store, "access").process([], { effects: () => {} });
    },
    names: ["access"],
    stays: "files are forgotten one by one",
  },
  logs: {
    use: async (store) => {
      const logs = new Logs(store);
      logs.write("web", "info", "hello");
      await logs.flush();
    },
    names: ["web\0info"],
    stays: "entries expire when the log falls silent",
  },
  mailboxes: {
    use: async (store) => {
      await new Mailboxes(store).send("ann", "ben", "hello");
    },
    names: ["ann"],
    remove: (store) => new Mailboxes(store).delete("ann"),
  },
  market: {
    use: async (store) => {
      await new Market(store, "fair").deposit("ann", 100);
    },
    names: ["fair"],
    stays: "items and accounts go one by one, and the market goes on",
  },
  "multi-maps": {
    use: async (store) => {
      await new MultiMap(store, "tags").add("a", 1);
    },
    names: ["tags"],
    remove: (store) => new MultiMap(store, "tags").clear(),
  },
  "packed-table": {
    use: async (store) => {
      await (await PackedTable.open(store, "users", AGES)).set(1, { age: 30 });
    },
    names: ["users"],
    remove: async (store) => (await PackedTable.open(store, "users", AGES)).clear(),
  },
  places: {
    use: async (store) => {
      await new Places(store).load([{ from: "2.16.0.0", to: "2.16.0.255", place: "IT" }]);
    },
    names: ["default"],
    remove: (store) => new Places(store).clear(),
  },
  "priority-queues": {
    use: async (store) => {
      await new PriorityQueue(store, "q").push(1);
    },
    names: ["q"],
    remove: (store) => new PriorityQueue(store, "q").clear(),
  },
  queues: {
    use: async (store) => {
      await new Queue(store, "mails").add(1);
    },
    names: ["mails"],
    remove: (store) => new Queue(store, "mails").clear(),
  },
  "rate-limits": {
    use: async (store) => {
      await new RateLimits(store, { name: "api", rules: { limit: 5, windowMs: 1_000 } }).take("ann");
    },
    // The rules are part of it: processes with others limit something else.
    names: [JSON.stringify(["api", [{ limit: 5, windowMs: 1_000 }]])],
    stays: "subjects expire one by one, and the limit goes on",
  },
  "row-cache": {
    use: async (store) => {
      await new RowCache(store, "stock", { load: async (id) => ({ id }) }).schedule("17", 1_000);
    },
    names: ["stock"],
    stays: "rows are taken out one by one, and the cache goes on",
  },
  search: {
    use: async (store) => {
      await new SearchIndex(store, "books", { fields: FIELDS }).set("1", { title: "Emma" });
    },
    names: ["books"],
    remove: (store) => new SearchIndex(store, "books", { fields: FIELDS }).clear(),
  },
  semaphores: {
    use: async (store) => {
      const lease = await new Semaphores(store, { limit: 3 }).acquire("gate");
      return () => lease!.release();
    },
    names: ["gate"],
    stays: "a semaphore that is free is taken again under the same name",
  },
  sharded: {
    use: async (store) => {
      await new ShardedSet(store, "members", { tags: 2, expected: 100 }).addMany(["ann"]);
    },
    names: ["set members"],
    remove: (store) => new ShardedSet(store, "members", { tags: 2, expected: 100 }).shards.delete(),
  },
  stats: {
    use: async (store) => {
      await new Stats(store).duration("/report", 5);
    },
    names: ["ms\0/report"],
    stays: "figures expire after two hours",
  },
  streaming: {
    use: async (store) => {
      const stream = new StatusStream(store, "public");
      await stream.publish({ kind: "status", id: "1", userId: "ann", login: "ann", text: "hello", atMs: 0 });
      return () => stream.close();
    },
    names: ["public"],
    stays: "statuses leave the log one by one, and the stream goes on",
  },
  "time-series": {
    use: async (store) => {
      await new TimeSeries(store).add("load", 1);
    },
    names: ["load"],
    remove: (store) => new TimeSeries(store).delete("load"),
  },
  "top-k": {
    use: async (store) => {
      await new TopK(store, "words").add("a");
    },
    names: ["words"],
    remove: (store) => new TopK(store, "words").clear(),
  },
  topics: {
    use: async (store) => {
      await new Topic(store, "news").publish(1);
    },
    names: ["news"],
    stays: "a topic keeps nothing: there is nothing to remove",
  },
  views: {
    use: async (store) => {
      await new Views(store, "pages").add("/a");
    },
    names: ["pages"],
    stays: "counts fade one by one, and the views go on",
  },
  visitors: {
    use: async (store) => {
      await new UniqueVisitors(store, "site", { tags: 2 }).visit("ann");
    },
    names: ["site"],
    stays: "days are deleted one by one, and the site goes on",
  },
};
