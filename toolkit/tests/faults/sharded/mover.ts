/** A process that changes layouts all the time and moves elements in small steps, until it is killed or told to end. */

import { ConnectionError } from "../../../src/base/errors.ts";
import { open } from "../../../src/connection/open.ts";
import { KINDS, type MoverOrder, randomFrom } from "./acts.ts";
import { say } from "./say.ts";
import { listOf, subjectsOf } from "./structures.ts";

const { url, seed } = JSON.parse(process.argv[2]!) as MoverOrder;
const random = randomFrom(seed);
const store = await open(url);
const subjects = subjectsOf(store);
const list = listOf(store);
let isOver = false;
process.once("SIGTERM", () => {
  isOver = true;
});

async function round(): Promise<void> {
  for (const kind of KINDS) {
    const { shards } = subjects[kind];
    if (random(3) === 0) {
      const target =
        kind === "bitmap"
          ? { shardSize: 2 ** (10 + random(8)) }
          : { shards: 4 + random(80), shardSize: 2 ** random(6) };
      if (await shards.reshard(target)) say({ t: "begun" });
    }
    const { moved, finished } = await shards.move({ leaseMs: 200, maxSteps: 1 + random(6) });
    say({ t: "moved", moved, finished });
  }
  if (random(4) === 0) await list.reshard({ lanes: 1 + random(4), pieceSize: 1 + random(16) });
  await list.settle();
}

say("ready");
while (!isOver) {
  try {
    await round();
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
  }
}
await store.close();
