import { ConnectionError, defineScript, open } from "cinnabar";

// Nothing to install: in this process, in memory. With a URL, the same on Redis, Sentinel or a Cluster.
const db = await open(process.env.STORE ?? "memory:", {
  hooks: {
    roundTrip: ({ name, commands }) => {
      const started = performance.now();
      return (error) => {
        const ms = performance.now() - started;
        if (error !== undefined || ms > 1_000) console.error(name, commands, ms, error);
      };
    },
  },
});

// Commands, one at a time or many in one round trip.
await db.call("SET", "{shop}:stock", 10);
console.log(
  await db.pipeline([
    ["GET", "{shop}:stock"],
    ["INCRBY", "{shop}:sold", 3],
    ["HGETALL", "{shop}:none"],
  ]),
);

// A script has named keys and arguments, and is one step for everybody.
const take = defineScript({
  name: "shop.take",
  keys: ["stock"],
  args: ["amount"],
  lua: `
    if tonumber(redis.call("GET", stock) or 0) < tonumber(amount) then return -1 end
    return redis.call("DECRBY", stock, amount)
  `,
  reply: (left) => (Number(left) < 0 ? null : Number(left)),
});
console.log(
  await db.run(take, { stock: "{shop}:stock", amount: 4 }),
  await db.run(take, { stock: "{shop}:stock", amount: 9 }),
);

// WATCH, read, decide, MULTI … EXEC; again if somebody was faster. What `reads` ask for comes along with WATCH.
await db.transaction({ watch: ["{shop}:stock"], reads: [["GET", "{shop}:stock"]] }, (_watched, [stock]) => {
  const left = Number(stock);
  return left > 5 ? [["SET", "{shop}:stock", left - 5]] : null;
});
console.log(await db.call("GET", "{shop}:stock"));

// Messages, and commands that wait, each over a connection of its own.
const heard = new Promise(
  (resolve) => void db.subscribe("news", resolve).then(() => db.call("PUBLISH", "news", "hello")),
);
console.log(String(await heard));
const jobs = db.blocking("{shop}:jobs");
const next = jobs.call(["BLPOP", "{shop}:jobs", 5], { timeoutMs: 5_000 });
await db.call("RPUSH", "{shop}:jobs", "pack");
console.log(await next);

// An answer that was lost: the command may have been run, or certainly not.
try {
  await db.call("INCR", "{shop}:sold");
} catch (error) {
  if (error instanceof ConnectionError && error.maybeExecuted) console.error("look before you repeat it");
}

await db.close();
