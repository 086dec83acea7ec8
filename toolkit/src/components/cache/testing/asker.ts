/** A process that asks for a cold key together with others: waits until all are there, then asks. Exits 0 if it got the value. */
import { sleep, systemClock } from "../../../base/clock.ts";
import { open } from "../../../connection/open.ts";
import { Cache } from "../index.ts";

const [url, others] = process.argv.slice(2);
const store = await open(url);
const cache = new Cache<string>(store, "things");
await store.call("INCR", "arrived");
while (Number(await store.call("GET", "arrived")) < Number(others)) await sleep(systemClock, 5);
const asked = Array.from({ length: 20 }, () =>
  cache.get("cold", async () => {
    await store.call("INCR", "loads");
    await sleep(systemClock, 100);
    return "made";
  }),
);
const values = await Promise.all(asked);
await store.close();
process.exitCode = values.every((value) => value === "made") ? 0 : 1;
