import { open } from "cinnabar";
import { ShardedSearch } from "cinnabar/search";

// Each shard is an index on a store: the same one, or another server.
const db = await open(process.env.STORE ?? "memory:");
const places = ["notes 0", "notes 1", "notes 2"].map((name) => ({ store: db, name }));
const options = { fields: { text: { type: "text", store: true } } } as const;

const two = new ShardedSearch(places.slice(0, 2), options);
await two.setMany(
  Array.from({ length: 100 }, (_, nth) => [`note ${nth}`, { text: `Note number ${nth}, like any other` }]),
);
console.log(
  await two.count(),
  (await two.search("number 42")).hits.map(({ id }) => id),
);

// A third shard: writers learn of it first, then documents are moved, then the old set is forgotten.
const growing = new ShardedSearch(places, { ...options, previous: ["notes 0", "notes 1"] });
const moved = await growing.move();
const three = new ShardedSearch(places, options);
console.log(
  moved > 0,
  await three.count(),
  (await three.search("number 42")).hits.map(({ id }) => id),
);
await db.close();
