import { open } from "cinnabar";
import { Queue, Worker } from "cinnabar/queues";

interface Order {
  readonly customer: string;
  readonly cents: number;
}

const db = await open();
const orders = new Queue<Order, number>(db, "orders");
const sold = "shop:{orders}:sold"; // the queue's tag: the same slot

new Worker(orders, async ({ data }, { effect, children }) => {
  effect(["INCRBY", sold, data.cents], [sold]); // with the end of the job, exactly once
  const parts = [...(await children()).values()];
  return parts.reduce((sum, part) => sum + (part.status === "done" ? (part.result as number) : 0), data.cents);
}).start();

// In order for each customer; customers take turns.
await orders.add({ customer: "ada", cents: 500 }, { group: "ada" });
await orders.add({ customer: "ada", cents: 700 }, { group: "ada" });

// A parent runs when its children have.
const bill = await orders.addFlow({
  data: { customer: "bob", cents: 0 },
  children: [{ data: { customer: "bob", cents: 300 } }, { data: { customer: "bob", cents: 400 } }],
});
console.log(await orders.waitFor(bill));
console.log("sold", await db.call("GET", sold));
await db.close();
