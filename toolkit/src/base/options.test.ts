/**
 * Every component and every one of its options, by the table below: each option is given values that cannot be right, and each
 * object one that it does not know. A set of options that is defined and not in the table fails, and so does a public method
 * that takes options and does not check them.
 */
import { EventEmitter } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Ads } from "../components/ads/index.ts";
import { PrefixIndex, RecentContacts } from "../components/autocomplete/index.ts";
import { Barriers } from "../components/barriers/index.ts";
import { BoundedQueue, PriorityQueue } from "../components/blocking-queues/index.ts";
import { Board } from "../components/board/index.ts";
import { type CachedPage, cachedPages } from "../components/cache/http.ts";
import { Cache, Caches } from "../components/cache/index.ts";
import { Carts } from "../components/carts/index.ts";
import { chatHandler, mailboxHandler } from "../components/chats/http.ts";
import { Chats, Mailboxes } from "../components/chats/index.ts";
import { Config, Connections, Maintenance } from "../components/config/index.ts";
import { Counters } from "../components/counters/index.ts";
import { Elections } from "../components/elections/index.ts";
import { Executor } from "../components/executor/index.ts";
import { ExpiringMap, ExpiringSet } from "../components/expiring/index.ts";
import { Files } from "../components/files/index.ts";
import { Fleet } from "../components/fleet/index.ts";
import { Ids } from "../components/ids/index.ts";
import { JobSearch } from "../components/job-search/index.ts";
import { Latches } from "../components/latches/index.ts";
import { LocalMap } from "../components/local-map/index.ts";
import { Locks, QuorumLocks } from "../components/locks/index.ts";
import { LogFiles } from "../components/log-files/index.ts";
import { Logs } from "../components/logs/index.ts";
import { Market } from "../components/market/index.ts";
import { MultiMap } from "../components/multi-map/index.ts";
import { PackedTable, words } from "../components/packed-table/index.ts";
import { Places, ranges } from "../components/places/index.ts";
import { importFromBullMq } from "../components/queues/bullmq/index.ts";
import { Queue, sandboxed, Worker } from "../components/queues/index.ts";
import { limited } from "../components/rate-limits/http.ts";
import { RateLimits } from "../components/rate-limits/index.ts";
import { waitForReplicas, writeToReplicas } from "../components/replication/index.ts";
import { RowCache } from "../components/row-cache/index.ts";
import { analyser, SearchIndex, ShardedSearch } from "../components/search/index.ts";
import { Semaphores } from "../components/semaphores/index.ts";
import { RequestSession, sessionMiddleware } from "../components/sessions/http.ts";
import { Sessions } from "../components/sessions/index.ts";
import {
  ShardedBitmap,
  ShardedHash,
  ShardedList,
  ShardedSet,
  ShardedSortedSet,
  ShardedStructures,
  UniqueVisitors,
} from "../components/sharded/index.ts";
import { BloomFilter, CountMinSketch, CuckooFilter, TopK } from "../components/sketches/index.ts";
import { Social } from "../components/social/index.ts";
import { Stats } from "../components/stats/index.ts";
import { readStream, StreamEndpoint } from "../components/streaming/http.ts";
import { AccessTokens, StatusStream } from "../components/streaming/index.ts";
import { TimeSeries } from "../components/time-series/index.ts";
import { DurableTopic, Topic } from "../components/topics/index.ts";
import { Views } from "../components/views/index.ts";
import { open } from "../connection/open.ts";
import type { Store } from "../connection/store.ts";
import { limited as limitedInExpress } from "../integrations/express/index.ts";
import { expressSessionStore } from "../integrations/express-session/index.ts";
import { instrument } from "../opentelemetry/index.ts";
import { CinnabarError, InputError, messageOf } from "./errors.ts";
import { type Check, definedOptions, nearest, OptionSet, whole } from "./options.ts";
import { Registry } from "./registry.ts";
import { defineScript } from "./script.ts";

/** Options as somebody without types gives them. */
type Given = never;

let store: Store;
let home: Fleet;
const stores: Store[] = [];

beforeAll(async () => {
  for (let nth = 0; nth < 3; nth++) stores.push(await open());
  [store] = stores as [Store];
  home = await Fleet.open(store, { takesOver: false });
});

afterAll(async () => {
  await home.close();
  for (const each of stores) await each.close();
});

const TEXTS = { title: { type: "text" } } as const;
const script = defineScript({ name: "options.nothing", keys: ["key"], lua: "return 1" });
const queue = () => new Queue(store, "q");
const limits = () => new RateLimits(store, { name: "l", rules: { limit: 1, windowMs: 1 } });
const index = () => new SearchIndex(store, "i", { fields: TEXTS });
const shards = () => new ShardedSearch([{ store, name: "s" }], { fields: TEXTS });
const social = () => new Social(store);
const config = () => new Config(store, "c", { defaults: 1, validate: Number });
const stream = () => new StatusStream(store, "s");
const elections = () => new Elections(store);
const executor = () => new Executor(store, "e", { tasks: { a: () => {} } });
const topic = () => new DurableTopic(store, "t");
const first = (items: AsyncIterable<unknown>) => items[Symbol.asyncIterator]().next();

/** What the options of each set are given to. */
const CALLS: Readonly<Record<string, (options: Given) => unknown>> = {
  AccessTokens: (options) => new AccessTokens(store, options),
  "AccessTokens.issue": (options) => new AccessTokens(store).issue("ann", options),
  Ads: (options) => new Ads(store, "a", options),
  "Ads.list": (options) => new Ads(store, "a").list(options),
  "Ads.sweeper": (options) => new Ads(store, "a").sweeper(options),
  "Ads.view": (options) => new Ads(store, "a").view("i", options),
  analyser: (options) => analyser(options),
  "BlockingConnection.call": (options) => withBlocking((connection) => connection.call(["PING"], options)),
  Board: (options) => new Board(store, "b", options),
  "Board.list": (options) => new Board(store, "b").list(options),
  "Views.top": (options) => new Views(store, "v").top(options),
  "Stats.slowest": (options) => new Stats(store).slowest(options),
  "Stats.list": (options) => new Stats(store).list(options),
  "SearchIndex.list": (options) => SearchIndex.list(store, options),
  "Logs.list": (options) => new Logs(store).list(options),
  "LogFiles.list": (options) => new LogFiles(store, "l").list(options),
  "Counters.list": (options) => new Counters(store).list(options),
  "Caches.invalidated": (options) => new Caches(store).invalidated({ name: "c", shards: 1 }, options),
  "Caches.list": (options) => new Caches(store).list(options),
  "Ads.set": (spec) => new Ads(store, "a").set("1", spec),
  "Ads.set.budget": (budget) => new Ads(store, "a").set("1", { model: "cpm", bidMicros: 1_000, budget }),
  "Ads.set.cap": (cap) => new Ads(store, "a").set("1", { model: "cpm", bidMicros: 1_000, cap }),
  "PackedTable.aggregate": async (query) =>
    (await PackedTable.open(store, "q", { word: words(["a"]) })).aggregate(query),
  "SearchIndex.fields": (field) => new SearchIndex(store, "s", { fields: { title: field } }),
  "Board.get": (options) => new Board(store, "b").get("a", options),
  "Board.post": (options) => new Board(store, "b").post("ann", {}, options),
  "Board.vote": (options) => new Board(store, "b").vote("ann", "a", "up", options),
  Cache: (options) => new Cache(store, "c", options),
  "Cache.get": (options) => new Cache(store, "c").get("k", () => 1, options),
  "Cache.getAhead": (options) => new Cache(store, "c").getAhead("k", () => 1, options),
  "Cache.staleIfError": (options) => new Cache(store, "c", { errorStaleMs: 1 }).staleIfError("k", () => 1, options),
  cachedPages: (options) => cachedPages(new Cache<CachedPage>(store, "p"), options),
  Caches: (options) => new Caches(store, options),
  Carts: (options) => new Carts(store, options),
  "Carts.set": (options) => new Carts(store).set("ann", "pen", 1, options),
  chatHandler: (options) => chatHandler(new Chats(store), options),
  Chats: (options) => new Chats(store, options),
  "Chats.join": (options) => new Chats(store).join("c", "ann", options),
  "Chats.list": (options) => new Chats(store).list(options),
  "Chats.members": (options) => new Chats(store).members("c", options),
  "Chats.present": (options) => new Chats(store).present("c", options),
  "Chats.read": (options) => new Chats(store).read("c", "ann", options),
  "Chats.send": (options) => new Chats(store).send("c", "ann", "hi", options),
  "Chats.messages": (options) => first(new Chats(store).messages("c", "ann", options)),
  Config: (options) => new Config(store, "c", options),
  "Config.history": (options) => config().history(options),
  "Config.set": (options) => config().set(1, options),
  "Config.update": (options) => config().update((value) => value, options),
  Connections: (options) => new Connections(store, config(), () => ({}), options),
  Counters: (options) => new Counters(store, options),
  "Counters.series": (options) => new Counters(store).series("c", 1_000, options),
  expressSessionStore: (options) => new (expressSessionStore(EventEmitter))(store, options),
  Files: (options) => new Files(store, "f", options),
  "Files.join": (options) => new Files(store, "f").join("r", options),
  "Files.list": (options) => new Files(store, "f").list(options),
  "Files.write": (options) => new Files(store, "f").write("x", options),
  "FileWriter.append": async (options) => (await new Files(store, "w").write("x"))!.append("text", options),
  "Fleet.addShard": (options) => home.addShard("c", "s", "redis://h", options),
  "Fleet.balance": (options) => home.balance("c", options),
  "Fleet.define": (options) => home.define("c", {}, options),
  "Fleet.open": (options) => Fleet.open(store, options),
  "Follows.followers": (options) => social().follows.followers("1", options),
  "IncomingFile.blocks": (options) => withFile((file) => first(file.blocks(options))),
  "IncomingFile.lines": (options) => withFile((file) => first(file.lines(options))),
  JobSearch: (options) => new JobSearch(store, "j", options),
  "JobSearch.search": (options) => new JobSearch(store, "j").search([{ skill: "a" }] as never, options),
  limited: (options) => {
    const limits = new RateLimits(store, { name: "l", rules: { limit: 1, windowMs: 1 } });
    limitedInExpress(limits, {});
    return limited(limits, options);
  },
  "RateLimits.list": (options) => RateLimits.list(store, options),
  "Lists.create": (options) => social().lists.create("1", "friends", options),
  Locks: (options) => new Locks(store, options),
  "Locks.acquire": (options) => new Locks(store).acquire("l", options),
  "Locks.acquireMany": (options) => new Locks(store).acquireMany(["l"], options),
  "Locks.confirm": (confirm) => new Locks(store, { confirm }),
  "Locks.resume": (options) => new Locks(store).resume("h", options),
  LogFiles: (options) => new LogFiles(store, "l", options),
  "LogFiles.follow": (options) => new LogFiles(store, "l").follow("f", options),
  "LogFiles.process": (options) => new LogFiles(store, "l").process("f", options),
  Logs: (options) => new Logs(store, options),
  "Logs.common": (options) => new Logs(store).common("l", "info", options),
  "Logs.recent": (options) => new Logs(store).recent("l", "info", options),
  "Logs.stream": (options) => new Logs(store).stream(options),
  Mailboxes: (options) => new Mailboxes(store, options),
  "Mailboxes.list": (options) => new Mailboxes(store).list(options),
  "Mailboxes.read": (options) => new Mailboxes(store).read("ann", options),
  "Mailboxes.send": (options) => new Mailboxes(store).send("ann", "ben", "hi", options),
  "Mailboxes.messages": (options) => first(new Mailboxes(store).messages("ann", options)),
  mailboxHandler: (options) => mailboxHandler(new Mailboxes(store), options),
  Maintenance: (options) => new Maintenance(store, "m", options),
  "Maintenance.begin": (options) => new Maintenance(store, "m").begin(options),
  Market: (options) => new Market(store, "m", options),
  "Market.list": (options) => new Market(store, "m").list(options),
  "Market.deposit": (options) => new Market(store, "m").deposit("ann", 1, options),
  open: (options) => open("memory:", options),
  "open.breaker": (breaker) => open("memory:", { breaker }),
  "open.clientCache": (clientCache) => open("memory:", { clientCache }),
  "open.hooks": (hooks) => open("memory:", { hooks }),
  "open.reads": (reads) => open("memory:", { reads }),
  "open.tls": (tls) => open("memory:", { tls }),
  "PackedTable.open": (options) => PackedTable.open(store, "t", { word: words(["a"]) }, options),
  Places: (options) => new Places(store, options),
  "Places.load": (options) => new Places(store).load([], options),
  PrefixIndex: (options) => new PrefixIndex(store, "p", options),
  "PrefixIndex.complete": (options) => new PrefixIndex(store, "p").complete("a", options),
  Queue: (options) => new Queue(store, "q", options),
  "Queue.add": (options) => queue().add(1, options),
  "Queue.add.dedup": (dedup) => queue().add(1, { dedup }),
  "Queue.defaults": (defaults) => new Queue(store, "q", { defaults }),
  "Queue.drain": (options) => queue().drain(options),
  "Queue.events": (options) => queue().events(options),
  "Queue.children": (options) => queue().children("x", options),
  "Queue.clean": (options) => queue().clean("done", options),
  "Queue.getFlow": (options) => queue().getFlow("x", options),
  "Queue.incidents": (options) => queue().incidents(options),
  "Queue.list": (options) => queue().list("waiting", options),
  "Queue.listGroups": (options) => queue().listGroups(options),
  "Queue.listSchedules": (options) => queue().listSchedules(options),
  "Queue.promoteDelayed": (options) => queue().promoteDelayed(options),
  "Queue.upcoming": (options) => queue().upcoming("s", options),
  "Queue.update": (update) => queue().update("x", update),
  "Queue.updateSchedule": (update) => queue().updateSchedule("s", update),
  "Queue.replayDead": (options) => queue().replayDead(options),
  "Queue.schedule": (options) => queue().schedule("s", { everyMs: 1_000 }, 1, options),
  "Queue.schedule.times": (times) => queue().schedule("s", times, 1),
  "Queue.stats": (options) => queue().stats(options),
  "Queue.waitFor": (options) => queue().waitFor("x", options),
  QuorumLocks: (options) => new QuorumLocks(stores, options),
  "QuorumLocks.acquire": (options) => new QuorumLocks(stores).acquire("l", options),
  "QuorumLocks.acquireMany": (options) => new QuorumLocks(stores).acquireMany(["l"], options),
  "QuorumLocks.resume": (options) => new QuorumLocks(stores).resume("h", options),
  RateLimits: (options) => new RateLimits(store, options),
  "RateLimits.block": (options) => limits().block("ann", options),
  "RateLimits.insurance": (insurance) =>
    new RateLimits(store, { name: "l", rules: { limit: 1, windowMs: 1 }, insurance }),
  "RateLimits.penalty": (options) => limits().penalty("ann", options),
  "RateLimits.rules": (rule) => new RateLimits(store, { name: "l", rules: rule }),
  "RateLimits.take": (options) =>
    new RateLimits(store, { name: "l", rules: { limit: 1, windowMs: 1 } }).take("ann", options),
  "Reader.files": async (options) => first((await new Files(store, "r").join("ann")).files(options)),
  ranges: (options) => first(ranges("", options)),
  readStream: (options) => first(readStream("http://127.0.0.1:1", options)),
  RecentContacts: (options) => new RecentContacts(store, options),
  "RecentContacts.complete": (options) => new RecentContacts(store).complete("ann", "b", options),
  "RequestSession.signOutEverywhere": (options) => {
    const context = { cookie: {}, overTls: false, setCookie: () => {} };
    return new RequestSession(new Sessions(store), null, context).signOutEverywhere(options);
  },
  RowCache: (options) => new RowCache(store, "r", options),
  "Registry.list": (options) => new Registry(store).list("queues", options),
  "RowCache.refresher": (options) => new RowCache(store, "r", { load: () => 1 }).refresher(options),
  SearchIndex: (options) => new SearchIndex(store, "i", options),
  "SearchIndex.inspect": (options) => index().inspect(options),
  "SearchIndex.open": (options) => SearchIndex.open(store, "i", options),
  "SearchIndex.page": (options) => index().page("x", options),
  "SearchIndex.update": (options) => index().update("x", {}, options),
  "SearchIndex.search": (options) => index().search("x", options),
  "SearchIndex.search.facets": (facet) => index().search("x", { facets: { title: facet } }),
  "SearchIndex.search.highlight": (highlight) => index().search("x", { highlight }),
  "SearchIndex.terms": (options) => index().terms(options),
  Barriers: (options) => new Barriers(store, options),
  "Barriers.arrive": (options) => new Barriers(store, { parties: 2 }).arrive("b", options),
  Elections: (options) => new Elections(store, options),
  "Elections.campaign": (options) => elections().campaign("e", options),
  "Elections.candidate": (options) => elections().candidate("e", options, () => {}),
  "Elections.confirm": (confirm) => new Elections(store, { confirm }),
  "Elections.leaders": (options) => elections().leaders("e", options),
  Executor: (options) => new Executor(store, "e", options),
  "Executor.list": (options) => executor().list("done", options),
  "Executor.run": (options) => executor().run("a", undefined, options),
  "Executor.schedule": (schedule) => executor().schedule("s", schedule),
  "Executor.listSchedules": (options) => executor().listSchedules(options),
  Ids: (options) => new Ids(store, options),
  Latches: (options) => new Latches(store, options),
  "Latches.countDown": (options) => new Latches(store).countDown("l", options),
  "Latches.create": (options) => new Latches(store).create("l", options),
  "Latches.waitFor": (options) => new Latches(store).waitFor("l", options),
  Topic: (options) => new Topic(store, "t", options),
  "Topic.messages": (options) => new Topic(store, "t").messages(options),
  DurableTopic: (options) => new DurableTopic(store, "t", options),
  "DurableTopic.createGroup": (options) => topic().createGroup("g", options),
  "DurableTopic.list": (options) => topic().list(options),
  "DurableTopic.listDead": (options) => topic().listDead("g", options),
  "DurableTopic.listGroups": (options) => topic().listGroups(options),
  "DurableTopic.messages": (options) => topic().messages(options),
  "DurableTopic.publish": (options) => topic().publish(1, options),
  "DurableTopic.replay": (options) => topic().replay("g", options),
  "DurableTopic.replayDead": (options) => topic().replayDead("g", options),
  "DurableTopic.subscriber": (options) => topic().subscriber("g", options, () => {}),
  "DurableTopic.trim": (options) => topic().trim(options),
  "Subscriber.stop": (options) =>
    topic()
      .subscriber("g", {}, () => {})
      .stop(options),
  Semaphores: (options) => new Semaphores(store, options),
  "Semaphores.acquire": (options) => new Semaphores(store, { limit: 1 }).acquire("s", options),
  "Semaphores.resume": (options) => new Semaphores(store, { limit: 1 }).resume("h", options),
  sandboxed: (options) => sandboxed("./x.js", options),
  sessionMiddleware: (options) => sessionMiddleware(new Sessions(store), options),
  "sessionMiddleware.cookie": (cookie) => sessionMiddleware(new Sessions(store), { cookie }),
  Sessions: (options) => new Sessions(store, options),
  "Sessions.cleaner": (options) => new Sessions(store).cleaner(options),
  "Sessions.create": (options) => new Sessions(store).create(options),
  "Sessions.load": (options) => new Sessions(store).load("t", options),
  "Sessions.list": (options) => new Sessions(store).list("ann", options),
  "Sessions.recent": (options) => new Sessions(store).recent(options),
  "Sessions.viewed": (options) => new Sessions(store).viewed("t", options),
  "Sessions.signOutEverywhere": (options) => new Sessions(store).signOutEverywhere("ann", options),
  "Sessions.update": (options) => new Sessions(store).update("t", { a: 1 }, options),
  ShardedBitmap: (options) => new ShardedBitmap(store, "s", options),
  ShardedHash: (options) => new ShardedHash(store, "s", options),
  "ShardedHash.increment": (options) => new ShardedHash(store, "s").increment("f", 1, options),
  "ShardedHash.list": (options) => new ShardedHash(store, "s").list(options),
  ShardedList: (options) => new ShardedList(store, "s", options),
  "ShardedList.pop": (options) => new ShardedList(store, "s").pop("left", options),
  "ShardedList.pushMany": (options) => new ShardedList(store, "s").push("left", 1, options),
  "ShardedList.reshard": (options) => new ShardedList(store, "s").reshard(options),
  ShardedSearch: (options) => new ShardedSearch([{ store, name: "s" }], options),
  "ShardedSearch.inspect": (options) => shards().inspect(options),
  "ShardedSearch.move": (options) => shards().move(options),
  "ShardedSearch.page": (options) => shards().page("x", options),
  "ShardedSearch.update": (options) => shards().update("x", {}, options),
  "ShardedSearch.search": (options) => shards().search("x", options),
  ShardedSet: (options) => new ShardedSet(store, "s", options),
  "ShardedStructures.list": (options) => new ShardedStructures(store).list(options),
  "ShardedSet.list": (options) => new ShardedSet(store, "s").list(options),
  ShardedSortedSet: (options) => new ShardedSortedSet(store, "s", options),
  "ShardedSortedSet.addMany": (options) => new ShardedSortedSet(store, "s").add("m", 1, options),
  "ShardedSortedSet.increment": (options) => new ShardedSortedSet(store, "s").increment("m", 1, options),
  "ShardedSortedSet.range": (options) => new ShardedSortedSet(store, "s").range(options),
  "ShardedSortedSet.top": (options) => new ShardedSortedSet(store, "s").top(options),
  "ShardedSortedSet.bottom": (options) => new ShardedSortedSet(store, "s").bottom(options),
  "ShardedSortedSet.list": (options) => new ShardedSortedSet(store, "s").list(options),
  ShardedStructures: (options) => new ShardedStructures(store, options),
  "Shards.inspectTag": (options) => new ShardedSet(store, "s").shards.inspectTag(0, options),
  "Shards.move": (options) => new ShardedSet(store, "s").shards.move(options),
  "Shards.mover": (options) => new ShardedSet(store, "s").shards.mover(options),
  "Shards.reshard": (options) => new ShardedSet(store, "s").shards.reshard(options),
  Social: (options) => new Social(store, options),
  SocialWorker: (options) => social().worker(options),
  "SocialWorker.stop": (options) => social().worker().stop(options),
  Stats: (options) => new Stats(store, options),
  "Statuses.get": (options) => social().statuses.get("1", options),
  "Statuses.post": (options) => social().statuses.post("1", "hi", options),
  "Statuses.repost": (options) => social().statuses.repost("1", "2", options),
  StatusStream: (options) => new StatusStream(store, "s", options),
  "StatusStream.filter": (filter) => stream().events(filter),
  "StatusStream.filterLimits": (filterLimits) => new StatusStream(store, "s", { filterLimits }),
  "StatusStream.listen": (options) => stream().events({ all: true }, options),
  importFromBullMq: (options) => importFromBullMq(store, options),
  "importFromBullMq.into": (into) => importFromBullMq(store, { from: store, queue: "q", into }),
  instrument: async (options) => instrument(store, options)(),
  "Store.health": (options) => store.health(options),
  "Store.run": (options) => store.run(script, { key: "k" }, options),
  "Store.send": (options) => store.send(["PING"], options),
  "Store.transaction": (options) => store.transaction(options, () => null),
  StreamEndpoint: (options) => new StreamEndpoint(stream(), options),
  "StreamEndpoint.close": (options) => new StreamEndpoint(stream()).close(options),
  "StreamEndpoint.limits": (limits) => new StreamEndpoint(stream(), { limits }),
  "Timelines.home": (options) => social().timelines.home("1", options),
  "Timelines.list": (options) => social().timelines.list("+1", options),
  "Timelines.profile": (options) => social().timelines.profile("1", options),
  UniqueVisitors: (options) => new UniqueVisitors(store, "u", options),
  "UniqueVisitors.list": (options) => new UniqueVisitors(store, "u").list(options),
  "UniqueVisitors.visitMany": (options) => new UniqueVisitors(store, "u").visit("ann", options),
  "Users.join": (options) => social().users.join("ann", options),
  Views: (options) => new Views(store, "v", options),
  waitForReplicas: (options) => waitForReplicas(store, options),
  words: (options) => words([], options),
  Worker: (options) => new Worker(queue(), () => 1, options),
  "Worker.stop": (options) => new Worker(queue(), () => 1).stop(options),
  BloomFilter: (options) => new BloomFilter(store, "b", options),
  CountMinSketch: (options) => new CountMinSketch(store, "c", options),
  CuckooFilter: (options) => new CuckooFilter(store, "c", options),
  TopK: (options) => new TopK(store, "t", options),
  "TopK.top": (options) => new TopK(store, "t").top(options),
  ExpiringMap: (options) => new ExpiringMap(store, "m", options),
  "ExpiringMap.list": (options) => new ExpiringMap(store, "m").list(options),
  "ExpiringMap.set": (options) => new ExpiringMap(store, "m").set("k", 1, options),
  "ExpiringMap.touch": (options) => new ExpiringMap(store, "m").touch("k", options),
  ExpiringSet: (options) => new ExpiringSet(store, "s", options),
  "ExpiringSet.add": (options) => new ExpiringSet(store, "s").add("m", options),
  "ExpiringSet.list": (options) => new ExpiringSet(store, "s").list(options),
  "ExpiringSet.touch": (options) => new ExpiringSet(store, "s").touch("m", options),
  BoundedQueue: (options) => new BoundedQueue(store, "b", options),
  "BoundedQueue.push": (options) => new BoundedQueue(store, "b").push(1, options),
  "BlockingQueue.take": (options) => new BoundedQueue(store, "b").take(options),
  "BlockingQueue.takeMany": (options) => new PriorityQueue(store, "p").takeMany(options),
  "BlockingQueue.values": (options) => first(new PriorityQueue(store, "p").values(options)),
  PriorityQueue: (options) => new PriorityQueue(store, "p", options),
  "PriorityQueue.push": (options) => new PriorityQueue(store, "p").push(1, options),
  "PriorityQueue.pushMany": (item) => new PriorityQueue(store, "p").pushMany([item]),
  MultiMap: (options) => new MultiMap(store, "m", options),
  "MultiMap.list": (options) => new MultiMap(store, "m").list(options),
  LocalMap: (options) => new LocalMap(store, "l", options),
  TimeSeries: (options) => new TimeSeries(store, options),
  "TimeSeries.add": (options) => new TimeSeries(store).add("t", 1, options),
  "TimeSeries.addMany": (sample) => new TimeSeries(store).addMany("t", [sample]),
  "TimeSeries.list": (options) => new TimeSeries(store).list(options),
  "TimeSeries.range": (options) => new TimeSeries(store).range("t", options),
  "TimeSeries.rollUps": (rollUp) => new TimeSeries(store, { rollUps: [rollUp] }),
  "TimeSeries.stats": (options) => new TimeSeries(store).stats("t", options),
  writeToReplicas: (options) => writeToReplicas(store, ["SET", "k", 1], options),
};

async function withBlocking(use: (connection: ReturnType<Store["blocking"]>) => Promise<unknown>): Promise<unknown> {
  const connection = store.blocking();
  try {
    return await use(connection);
  } finally {
    connection.close();
  }
}

async function withFile(use: (file: Awaited<ReturnType<typeof incoming>>) => Promise<unknown>): Promise<unknown> {
  return use(await incoming());
}

let sent = 0;

async function incoming() {
  const files = new Files(store, `incoming-${sent++}`);
  const reader = await files.join("ann");
  await files.send("file", Buffer.from("one\n"));
  for await (const file of reader.files()) return file;
  throw new Error("the file did not come");
}

/** Values that no option with a meaning takes, whatever it is. */
const NONSENSE: readonly unknown[] = [
  Number.NaN,
  Number.NEGATIVE_INFINITY,
  -1e300,
  1e300,
  "nonsense ☃",
  "\ud800",
  null,
  Symbol("nonsense"),
  12n,
  [Symbol("nonsense")],
  () => {},
  new Map(),
];

const required = ({ checks }: Pick<OptionSet<never>, "checks">): Record<string, unknown> =>
  Object.fromEntries(
    [...checks].flatMap(([name, { isRequired, ...check }]) => (isRequired ? [[name, valid(check)]] : [])),
  );

/** A value that a check takes. */
function valid(check: Check): unknown {
  const candidates = [1, "primary", "cpm", "text", ["text"], true, () => 1, {}, TEXTS];
  return candidates.find((each) => check.accepts(each));
}

async function refusal(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return "accepted";
}

describe.each(Object.keys(CALLS))("%s", (owner) => {
  const call = CALLS[owner]!;
  const set = () => definedOptions().get(owner)!;

  test("refuses values that cannot be right", async () => {
    for (const [name, check] of set().checks) {
      const wrong = NONSENSE.filter((value) => !check.accepts(value));
      expect(check.expected === "anything" || wrong.length >= 6, `${owner}: ${name} takes almost everything`).toBe(
        true,
      );
      for (const value of wrong) {
        const error = await refusal(() => call({ ...required(set()), [name]: value } as never));
        expect(error, `${owner}: ${name} = ${inspect(value)}`).toBeInstanceOf(InputError);
        expect(error).toMatchObject({ code: "INPUT" });
        expect(messageOf(error)).toContain(`${name} must be ${check.expected}, not `);
      }
    }
  });

  test("refuses numbers that are none, fractions of counts, and less than nothing", () => {
    for (const [name, check] of set().checks) {
      const isNumber = [1, 10, 1_000, 32_768, 10_000_000].some((each) => check.accepts(each));
      if (!isNumber || check.expected === "anything") continue;
      expect(check.accepts(Number.NaN), `${owner}: ${name} = NaN`).toBe(false);
      const isUnit = /(?:Ms|Bytes|Count|Items|limit|Limit|^max.+|attempts|shards)$/.test(name);
      // A difference of clocks may be negative.
      if (isUnit && name !== "utcOffsetMs") expect(check.accepts(-1), `${owner}: ${name} = -1`).toBe(false);
      if (/(?:Bytes|Items|^limit|attempts|shards)$/.test(name))
        expect(check.accepts(1.5), `${owner}: ${name}`).toBe(false);
      // Only how long a caller waits may be for ever.
      if (isUnit && name !== "waitMs") expect(check.accepts(Number.POSITIVE_INFINITY), `${owner}: ${name}`).toBe(false);
    }
  });

  test("refuses an option that it does not know, and says which ones it knows", async () => {
    for (const unknown of ["ttl", "Prefix", "nonsense"]) {
      const error = await refusal(() => call({ ...required(set()), [unknown]: 100 } as never));
      expect(error, `${owner}: ${unknown}`).toBeInstanceOf(InputError);
      expect(messageOf(error)).toContain(`there is no option "${unknown}"`);
      for (const name of set().checks.keys()) expect(messageOf(error)).toContain(name);
    }
  });

  test("refuses anything but an object", async () => {
    for (const given of [null, 5, "text", []]) {
      const error = await refusal(() => call(given as never));
      expect(error, `${owner}: ${String(given)}`).toBeInstanceOf(InputError);
    }
  });

  test("names what is missing", async () => {
    for (const [name, { isRequired }] of set().checks) {
      if (isRequired !== true) continue;
      const { [name]: _, ...rest } = required(set());
      const error = await refusal(() => call(rest as never));
      expect(error).toBeInstanceOf(InputError);
      expect(messageOf(error)).toContain(`${name} is missing`);
    }
  });
});

describe("all options", () => {
  test("are in the table", () => {
    expect([...definedOptions().keys()].sort()).toEqual(Object.keys(CALLS).sort());
  });

  test("are checked where they come in", () => {
    const names = publicNames();
    const unchecked = sources().flatMap((text) => takers(text, names));
    expect(unchecked.filter((each) => !each.endsWith("Error.constructor")).sort()).toEqual([...HANDED_ON].sort());
  });
});

/** They hand their options on to one that checks them. */
const HANDED_ON: readonly string[] = [
  ...[
    "BlockingConnection.run",
    ...["BoundedQueue.take", "BoundedQueue.takeMany", "BoundedQueue.values"],
    ...["PriorityQueue.take", "PriorityQueue.takeMany", "PriorityQueue.values"],
    "Files.send",
    "Locks.using",
    "QuorumLocks.using",
    "Semaphores.using",
    ...["Queue.add", "Queue.children", "Queue.clean", "Queue.getFlow", "Queue.incidents"],
    "Executor.stop",
    "Executor.waitFor",
    ...["RedisMemoryServer.create", "TestClock.after", "TestStore.connect"],
  ],
  ...["JobSearch.search", "JobSearch.searchFor", "JobSearch.candidates", "JobSearch.candidatesFor"],
  "ShardedSortedSet.add",
  ...["Follows.followers", "Follows.following", "Follows.blocked", "Follows.muted"],
  ...["Lists.members", "Social.constructor", "Social.worker", "EventFeed.open", "Store.constructor"],
  // What nobody gives options to but components themselves.
  ...["Answers.page", "Answers.search", "Follows.unlink", "Refusal.constructor", "Sandboxed.constructor"],
  ...["Schema.constructor", "judge", "sessionOf", "Processor"],
];

const SOURCES = join(import.meta.dirname, "..");

/** What the package's entries export. */
function publicNames(): ReadonlySet<string> {
  const { exports } = JSON.parse(readFileSync(join(SOURCES, "../package.json"), "utf8")) as {
    exports: Record<string, { source: string }>;
  };
  return new Set(
    Object.values(exports).flatMap(({ source }) => {
      const text = readFileSync(join(SOURCES, "..", source), "utf8");
      const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(
        ([, names]) => names!.match(/\w+/g)!,
      );
      const own = [...text.matchAll(/^export (?:async )?(?:class|function\*?) (\w+)/gm)].map(([, name]) => name!);
      return [...listed, ...own];
    }),
  );
}

function sources(): string[] {
  return readdirSync(SOURCES, { recursive: true, withFileTypes: true })
    .filter(({ name }) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((each) => join(each.parentPath, each.name))
    .map((path) => readFileSync(path, "utf8"));
}

const OPTIONS = /\(((?:[^()]|\([^()]*\))*?)\boptions\??: (?:[^;{]|\{[^}]*\})*?\{\n((?:.*\n){1,6})/y;

/** Public functions and methods with options whose bodies do not begin by checking them. */
function takers(text: string, names: ReadonlySet<string>): string[] {
  const found: string[] = [];
  for (const part of text.split(/^(?=export )/m)) {
    const [, kind, name = ""] = /^export (?:abstract |async )?(class|function\*?) (\w+)/.exec(part) ?? [];
    if (kind === undefined || !names.has(name)) continue;
    const heads =
      kind === "class"
        ? /^ {2}(?:static |async |\*)*(\w+)(?:<[^\n(]*>)?(?=\()/gm
        : /^export (?:async )?function\*? (\w+)(?:<[^(]*>)?(?=\()/gm;
    for (const head of part.matchAll(heads)) {
      OPTIONS.lastIndex = head.index + head[0].length;
      const taken = OPTIONS.exec(part);
      if (taken === null || /\.check\(/.test(taken[2]!)) continue;
      found.push(kind === "class" ? `${name}.${head[1]}` : name);
    }
  }
  return found;
}

describe("stores", () => {
  test.each([
    ["a promise", () => open(), "await open()"],
    ["nothing", () => undefined, "got undefined"],
    ["a URL", () => "redis://h", 'got "redis://h"'],
    ["a client", () => ({ sendCommand: () => {}, options: {} }), "await open(client)"],
    ["another component", () => new Locks(store), "got an object (Locks)"],
  ])("%s in the place of one is refused", async (_, make, why) => {
    const given = make() as never;
    const makers: readonly (() => unknown)[] = [
      () => new Locks(given),
      () => new Semaphores(given, { limit: 1 }),
      () => new QuorumLocks([store, stores[1]!, given]),
      () => new Queue(given, "q"),
      () => new Sessions(given),
      () => new Config(given, "c", { defaults: 1, validate: Number }),
      () => new Social(given),
      () => new SearchIndex(given, "i", { fields: TEXTS }),
      () => new ShardedSearch([{ store: given, name: "s" }], { fields: TEXTS }),
      () => new ShardedSet(given, "s"),
      () => new Files(given, "f"),
      () => new Market(given, "m"),
      () => Fleet.open(given),
      () => PackedTable.open(given, "t", { word: words(["a"]) }),
      () => waitForReplicas(given),
    ];
    for (const maker of makers) {
      const error = await refusal(maker);
      expect(error, String(maker)).toBeInstanceOf(InputError);
      expect(messageOf(error)).toContain(why);
    }
    await ((await given) as Store | undefined)?.close?.();
  });
});

describe("words", () => {
  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["NaN", Number.NaN],
    ["a boolean", true],
    ["an object", { a: 1 }],
    ["a list", ["a"]],
    ["a date", new Date(0)],
    ["a lone surrogate", "a\udc00b"],
  ])("%s is refused, and nothing is written", async (_, value) => {
    const word = value as never;
    const calls: readonly (() => Promise<unknown>)[] = [
      () => store.call("SET", "words", word),
      () => store.call("SET", word, "value"),
      () => store.callBuffer("SET", "words", word),
      () => store.send(["SET", "words", word]),
      () => store.sendToAll(["SET", "words", word]),
      () =>
        store.pipeline([
          ["SET", "words", "first"],
          ["SET", "words", word],
        ]),
      () =>
        store.multi([
          ["SET", "words", "first"],
          ["SET", "words", word],
        ]),
      () => store.transaction({ watch: ["words"] }, () => [["SET", "words", word]]),
      () =>
        store.transaction({ watch: ["words"] }, async (watched) => [
          ["SET", "words", String(await watched.call("GET", word))],
        ]),
      () =>
        store.run(defineScript({ name: "put", keys: ["key"], args: ["value"], lua: `redis.call("SET", key, value)` }), {
          key: "words",
          value: word,
        }),
      () =>
        store.run(defineScript({ name: "put", keys: ["key"], rest: "all", lua: `redis.call("SET", key, all[1])` }), {
          key: "words",
          all: [word],
        }),
      () => withBlocking((connection) => connection.call(["SET", "words", word], { timeoutMs: 1 })),
    ];
    for (const call of calls) {
      const error = await refusal(call);
      expect(error, String(call)).toBeInstanceOf(InputError);
      expect(await store.call("EXISTS", "words"), String(call)).toBe(0);
    }
  });

  test("text, numbers, bigints and bytes are sent as they are", async () => {
    const sent = ["ä😀", 1.5, -0, 2n ** 60n, Buffer.from([0xff, 0]), new Uint8Array([1]), Number.POSITIVE_INFINITY];
    await store.call("RPUSH", "sent", ...sent);
    expect(await store.callBuffer("LRANGE", "sent", 0, -1)).toEqual(
      ["ä😀", "1.5", "0", String(2n ** 60n), Buffer.from([0xff, 0]), Buffer.from([1]), "Infinity"].map((each) =>
        Buffer.from(each as string),
      ),
    );
    await store.call("DEL", "sent");
  });

  test("names, members and bodies with lone surrogates are refused by components", async () => {
    const broken = "x\ud800";
    const calls: readonly (() => unknown)[] = [
      () => new Queue(store, broken),
      () => new Locks(store).acquire(broken),
      () => new Chats(store).join(broken, "ann"),
      () => new Chats(store).join("c", broken),
      () => new Carts(store).set("ann", broken, 1),
      () => new Views(store, "v").add(broken),
      () => new ShardedSet(store, "s").add(broken),
      () => new Sessions(store).create({ user: broken }),
      () => queue().add(1, { id: broken }),
      () => new Board(store, "b").post("ann", { title: broken }),
      () => store.subscribe(broken, () => {}),
    ];
    for (const call of calls) expect(await refusal(call), String(call)).toBeInstanceOf(InputError);
  });

  test("a body that is kept as JSON keeps even these", async () => {
    const box = new Mailboxes<string>(store);
    await box.send("json", "ben", "x\ud800");
    expect((await box.read("json")).items.map(({ body }) => body)).toEqual(["x\ud800"]);
  });
});

describe("suggestions", () => {
  test.each([
    ["ttl", ["prefix", "leaseMs", "waitMs"], "leaseMs"],
    ["leasems", ["prefix", "leaseMs"], "leaseMs"],
    ["lease", ["prefix", "leaseMs"], "leaseMs"],
    ["lease_ms", ["prefix", "leaseMs"], "leaseMs"],
    ["max_bytes", ["maxItems", "maxBytes"], "maxBytes"],
    ["timeout", ["waitMs", "timeoutMs"], "timeoutMs"],
    ["timeout", ["waitMs"], "waitMs"],
    ["colour", ["prefix", "leaseMs"], null],
  ])("%s among %j is %s", (name, known, expected) => {
    expect(nearest(name, known)).toBe(expected);
  });

  test("an error says what was expected and what came", () => {
    const set = new OptionSet<{ readonly leaseMs?: number }>("suggestions", { leaseMs: whole(1, 5) });
    expect(() => set.check({ leaseMs: 6 })).toThrow("suggestions: leaseMs must be an integer from 1 to 5, not 6");
    expect(() => set.check({ lease: 5 } as never)).toThrow('did you mean "leaseMs"? (its options are leaseMs)');
    expect(new InputError("x")).toBeInstanceOf(CinnabarError);
  });
});
