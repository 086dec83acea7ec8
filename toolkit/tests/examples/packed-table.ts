import { open } from "cinnabar";
import { day, PackedTable, uint8, words } from "cinnabar/packed-table";

const db = await open(process.env.STORE ?? "memory:");

// Country and state of each user, in three bytes; age and a day in three more. Words that are new get the next code.
const users = await PackedTable.open(db, "users", {
  country: words(["CAN", "USA"]),
  state: words([], { bits: 16 }),
  age: uint8(),
  since: day(),
});
console.log(users.rowBytes, "bytes a row");

await users.set(1, { country: "USA", state: "CA", age: 31, since: "2026-11-15" });
await users.setMany([
  [2, { country: "USA", state: "NY", age: 45 }],
  [3, { country: "CAN", state: "BC", age: 19 }],
  [70_000, { country: "ITA", age: 28 }],
]);
await users.set(2, { age: 46 });
console.log(await users.get(2), await users.get(4));

// Counted in the store: all rows, or some.
const { groups } = await users.aggregate({ groupBy: ["country"], measure: ["age"] });
for (const { key, count, measures } of groups) console.log(key[0], count, "of age", measures.age?.avg);
const states = await users.aggregate({ ids: [1, 2, 3], where: { country: "USA" }, groupBy: ["country", "state"] });
console.log(states.groups.map(({ key, count }) => [...key, count]));
console.log(
  (await users.aggregate({ groupBy: [{ column: "age", step: 10 }] })).groups.map(({ key, count }) => [key[0], count]),
);

// In blocks, in the order of their numbers.
for await (const block of users.entries()) console.log(block.map(({ id, row }) => `${id} ${row.country}`));
await db.close();
