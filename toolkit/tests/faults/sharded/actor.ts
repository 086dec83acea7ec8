/**
 * A process that writes elements of its own and reads them back, until it is killed or told to end. Nobody else writes these, so what
 * it reads must be what it wrote, whatever is moved meanwhile.
 */

import { ConnectionError } from "../../../src/base/errors.ts";
import { open } from "../../../src/connection/open.ts";
import { type Act, type ActorOrder, KINDS, type Kind, randomFrom } from "./acts.ts";
import { say } from "./say.ts";
import { listOf, subjectsOf } from "./structures.ts";

const { url, name, seed } = JSON.parse(process.argv[2]!) as ActorOrder;
const store = await open(url);
const subjects = subjectsOf(store);
const list = listOf(store);
/** What this process knows to be there; undefined: never written, or not known. */
const known: Record<Kind, Map<string, number | null>> = {
  hash: new Map(),
  set: new Map(),
  zset: new Map(),
  bitmap: new Map(),
};
let numbers = 0;
let isOver = false;

async function attempt(act: Act, body: () => Promise<string | null>): Promise<boolean> {
  const n = numbers++;
  say({ t: "try", n, act });
  try {
    say({ t: "ok", n, answer: await body() });
    return true;
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    say({ t: "unknown", n });
    return false;
  }
}

async function use(kind: Kind, random: (below: number) => number): Promise<void> {
  const nth = random(60);
  // Numbers of one's own: the seed is below a thousand, and each actor has its own.
  const ofNumber = seed * 1_000 + nth;
  const element = kind === "bitmap" || nth % 2 === 0 ? String(ofNumber) : `${name}-${nth}`;
  const before = known[kind].get(element);
  if (random(2) === 0 && before !== undefined) {
    const found = await subjects[kind].read(element);
    if (found !== before) say({ t: "fault", what: `${kind} ${element} is ${found}, and should be ${before}` });
    return;
  }
  const value = random(3) === 0 ? null : kind === "hash" || kind === "zset" ? random(1_000) : 1;
  known[kind].delete(element);
  const isDone = await attempt({ kind, element, value }, async () => {
    await subjects[kind].write(element, value);
    return null;
  });
  if (isDone) known[kind].set(element, value);
}

async function pushAndPop(random: (below: number) => number): Promise<void> {
  if (random(2) === 0) {
    const value = `${name}:${numbers}`;
    await attempt({ kind: "push", value }, async () => {
      await list.push("right", value, { id: value });
      return null;
    });
  } else await attempt({ kind: "pop" }, () => list.pop(random(2) === 0 ? "left" : "right", { waitMs: 20 }));
}

process.once("SIGTERM", () => {
  isOver = true;
});
say("ready");
await Promise.all(
  [...KINDS, "list" as const].map(async (kind, nth) => {
    const random = randomFrom(seed * 10 + nth);
    while (!isOver) {
      if (kind === "list") await pushAndPop(random);
      else await use(kind, random);
      await new Promise(setImmediate);
    }
  }),
);
await store.close();
