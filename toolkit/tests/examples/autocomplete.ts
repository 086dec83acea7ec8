import { open } from "cinnabar";
import { PrefixIndex, RecentContacts } from "cinnabar/autocomplete";

const db = await open(process.env.STORE ?? "memory:");

// The last hundred that somebody was in touch with, the latest first.
const contacts = new RecentContacts(db);
for (const name of ["Zoë", "Zachary", "ann"]) await contacts.touch("me", name);
console.log(await contacts.complete("me", "z"), await contacts.complete("me", "ZO"));

// The members of a large group, in any script.
const members = new PrefixIndex(db, "guild", { rankedBeginnings: 3 });
await members.addMany(["Jürgen", "Jupp", { name: "Юлия", weight: 5 }]);
console.log(await members.complete("JÜ"), await members.complete("юл"));

// The heaviest first: those chosen most often.
await members.bump("Jupp", 2);
console.log(await members.suggest("j"));
await members.delete("jupp");
console.log(await members.count());
await db.close();
