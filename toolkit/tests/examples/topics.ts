import { open } from "cinnabar";
import { DurableTopic, Topic } from "cinnabar/topics";

const db = await open(process.env.STORE ?? "memory:");

// At most once: to the current listeners.
const prices = new Topic<{ symbol: string; cents: number }>(db, "prices");
const heard = await prices.messages(); // it listens from here on
await prices.publish({ symbol: "CNB", cents: 1_250 });
for await (const { data, dropped } of heard) {
  console.log(data.symbol, data.cents, dropped);
  break;
}

// At least once, for each group; kept for a week, and at most 100 000.
const orders = new DurableTopic<{ n: number }>(db, "orders", { keepMs: 7 * 86_400_000, keepCount: 100_000 });
await orders.createGroup("billing"); // gets what is published from now on
await orders.publishMany([{ data: { n: 1 } }, { data: { n: 2 } }, { data: { n: 3 } }]);
console.log("once:", (await orders.publish({ n: 4 }, { id: "order 4" })).status);
console.log("once:", (await orders.publish({ n: 4 }, { id: "order 4" })).status);
console.log("behind by", (await orders.inspect("billing"))?.lag);

const billing = orders.subscriber("billing", { concurrency: 10, attempts: 3, backoffMs: 10 }, ({ data, attempt }) => {
  if (data.n === 2) throw new Error(`no price, attempt ${attempt}`);
});
await new Promise<void>((resolve) => {
  billing.on("failed", ({ data }, _error, { willRetry }) => {
    if (!willRetry) resolve(console.log("dead letter:", data.n));
  });
  billing.start();
});
await billing.stop();
const [letter] = (await orders.listDead("billing")).items;
console.log(letter?.error, (await orders.inspect("billing"))?.acknowledged);

// Again, from any place that is kept.
for await (const { data, missed } of await orders.messages({ from: "start" })) {
  console.log("again", data.n, missed);
  if (data.n === 4) break;
}
await db.close();
