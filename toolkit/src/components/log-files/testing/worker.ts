/**
 * One of the processes that the crash test kills: works on a folder until nothing is left of it, and says so at each step, in
 * the middle of a batch as well as before and after each round trip.
 */

import { out } from "../../../../tests/kit/out.ts";
import { open } from "../../../connection/open.ts";
import { LogFiles } from "../index.ts";

const [url, folder] = process.argv.slice(2);
if (url === undefined || folder === undefined) throw new Error("usage: worker.ts <url> <folder>");
const step = (): void => out(".");

const store = await open(url, {
  hooks: {
    roundTrip: () => {
      step();
      return step;
    },
  },
});
const logs = new LogFiles(store, "crash", { batchLines: 200, leaseMs: 50 });
for (let left = true; left; ) {
  const { lines, files } = await logs.process(folder, {
    concurrency: 2,
    effects: ({ text, number }, batch) => {
      if (number % 150 === 0) step();
      batch.count(logs.key("by status"), text.split("=")[1] ?? "?");
      batch.add(["SADD", logs.key("lines"), text]);
    },
  });
  left = lines > 0 || files.some(({ status }) => status !== "done");
}
await store.close();
