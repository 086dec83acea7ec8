import { open } from "cinnabar";
import { Fleet } from "cinnabar/fleet";
import { Queue } from "cinnabar/queues";

const home = await open(process.env.STORE ?? "memory:");
const fleet = await Fleet.open(home);

// Which servers a component has, and what its keys begin with; every process of the fleet learns of it.
const [a, b, c] = (process.env.SERVERS ?? "").split(",") as [string, string, string];
await fleet.define("shop", { a, b }, { prefixes: ["product:"] });
await fleet.define("work", { only: c }, { prefixes: ["queue:"] });

// A store like any other. Each key goes to its shard, by the slot of its tag.
const shop = fleet.store("shop");
for (let n = 0; n < 1_000; n++) await shop.call("SET", `product:{${n}}`, n);
console.log((await fleet.inspect("shop")).map(({ shard, slots }) => `${shard} ${slots}`).join(", "));

// Components work on it as they work on a Cluster.
await new Queue<string>(fleet.store("work"), "mail").add("hello");

// A third server, which both components use then, while everything runs.
await fleet.addShard("shop", "c", c);
console.log((await fleet.inspect("shop")).map(({ shard, slots }) => `${shard} ${slots}`).join(", "));
console.log(await shop.call("GET", "product:{17}"));

await fleet.removeShard("shop", "a");
console.log(Object.keys(fleet.layout.components.shop?.shards ?? {}).join(", "));
await fleet.close();
await home.close();
