import { open } from "cinnabar";
import { BloomFilter, CountMinSketch, CuckooFilter, TopK } from "cinnabar/sketches";

const db = await open(process.env.STORE ?? "memory:");

// Was it seen before? "No" is certain; "yes" is wrong for one in a thousand.
const mails = new BloomFilter(db, "mails", { capacity: 100_000, errorRate: 0.001 });
console.log(await mails.add("<17@example.org>"), await mails.add("<17@example.org>"));
console.log(await mails.hasMany(["<17@example.org>", "<18@example.org>"]));

// The same for items that also leave.
const online = new CuckooFilter(db, "online", { capacity: 10_000 });
await online.addMany(["ann", "ben"]);
await online.delete("ann");
console.log(await online.has("ann"), await online.has("ben"), await online.count());

// How often was each of millions seen? Never less than the answer says.
const hits = new CountMinSketch(db, "hits", { errorRate: 0.0001 });
await hits.addMany(["/", "/", ["/about", 40]]);
console.log(await hits.counts(["/", "/about", "/nowhere"]));

// Which are seen most?
const words = new TopK(db, "words", { maxItems: 100 });
await words.addMany("to be or not to be that is the question to".split(" "));
console.log(await words.top({ limit: 2 }));
await db.close();
