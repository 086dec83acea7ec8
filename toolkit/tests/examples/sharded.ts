import { open } from "cinnabar";
import {
  ShardedBitmap,
  ShardedHash,
  ShardedList,
  ShardedSet,
  ShardedSortedSet,
  UniqueVisitors,
} from "cinnabar/sharded";

const db = await open(process.env.STORE ?? "memory:");

// A large hash in packed shards. Numbers are placed by range, other fields by their hash.
const cities = new ShardedHash<string>(db, "cities", { expected: 320_000 });
await cities.setMany([
  ["17", "Berlin"],
  ["18", "Bern"],
  ["home", "Bonn"],
]);
console.log(await cities.getMany(["18", "19", "home"]), await cities.count());

const seen = new ShardedSet(db, "seen");
console.log(await seen.addMany(["4711", "4712", "4711"]), await seen.has("4712"));

const scores = new ShardedSortedSet(db, "scores");
await scores.addMany([
  ["ann", 1_200],
  ["ben", 900],
  ["cat", 1_500],
]);
console.log(await scores.top({ limit: 2 }), await scores.count({ min: 1_000 }));

// Twice as many shards while others go on. Any process may move, now or after this one has died.
await scores.shards.reshard({ shards: 256 });
console.log(await scores.score("ann"), await scores.shards.move(), (await scores.shards.inspect()).generation);

const jobs = new ShardedList<number>(db, "jobs");
const waiting = jobs.pop("left", { waitMs: 10_000 });
await jobs.pushMany("right", [1, 2, 3]);
console.log(await waiting, await jobs.pop("right"), await jobs.count());

const monday = new ShardedBitmap(db, "active:monday");
const tuesday = new ShardedBitmap(db, "active:tuesday");
await monday.setMany([3, 5, 1_000_000]);
await tuesday.setMany([5, 1_000_000, 2_000_000]);
console.log(await monday.countWith("and", tuesday), await monday.countWith("or", tuesday));

const visitors = new UniqueVisitors(db, "site");
console.log(await visitors.visitMany(["session-1", "session-2", "session-1"]), (await visitors.count()).visitors);
await db.close();
