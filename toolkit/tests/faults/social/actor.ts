/**
 * A process of a social network: it does at random what users do, and works on the queue. Killed at any moment, or told to end.
 * It says what it knows to be posted and deleted.
 */
import { ConnectionError } from "../../../src/base/errors.ts";
import { Social } from "../../../src/components/social/index.ts";
import { open } from "../../../src/connection/open.ts";
import { out } from "../../kit/out.ts";
import { randomFrom } from "../web/acts.ts";
import { LEASE_MS, LISTS, type Line, type Order, SETTINGS, USERS } from "./network.ts";

const { url, seed } = JSON.parse(process.argv[2]!) as Order;
const random = randomFrom(seed);
const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
let isOver = false;

/** Said before anything else happens: what is in the pipe survives its writer. */
function say(line: Line): void {
  out(`${JSON.stringify(line)}\n`);
}

process.on("warning", (warning) => {
  throw warning;
});

const store = await open(url);
const social = new Social(store, SETTINGS);
const worker = social.worker({ concurrency: 3, leaseMs: LEASE_MS }).start();
const mine: string[] = [];

async function post(): Promise<void> {
  const id = await social.statuses.post(pick(USERS), `from ${seed}`);
  if (id === null) throw new Error("there is no such author");
  say({ t: "posted", id });
  mine.push(id);
}

async function remove(): Promise<void> {
  if (mine.length < 3) return post();
  const [id] = mine.splice(random(mine.length), 1) as [string];
  say({ t: "deleting", id });
  await social.statuses.delete(id.slice(8), id);
  say({ t: "deleted", id });
}

async function between(): Promise<unknown> {
  const [user, other] = [pick(USERS), pick(USERS)];
  if (user === other) return post();
  const { follows, lists } = social;
  const act = random(24);
  if (act < 9) return follows.follow(user, other);
  if (act < 14) return follows.unfollow(user, other);
  if (act < 15) return follows.mute(user, other);
  if (act < 17) return follows.unmute(user, other);
  if (act < 18) return follows.block(user, other);
  if (act < 20) return follows.unblock(user, other);
  if (act < 22) return lists.addMember(pick(LISTS), user);
  return lists.deleteMember(pick(LISTS), user);
}

const ACTS = [post, post, remove, between, between, between, () => social.timelines.home(pick(USERS))];

async function loop(): Promise<void> {
  while (!isOver) {
    try {
      await pick(ACTS)();
      say({ t: "did" });
    } catch (error) {
      // Nobody knows whether it was done.
      if (!(error instanceof ConnectionError)) throw error;
    }
    await new Promise(setImmediate);
  }
}

process.once("SIGTERM", () => {
  isOver = true;
});
out("ready\n");
await Promise.all([loop(), loop(), loop()]);
await worker.stop({ timeoutMs: 0 });
await store.close();
