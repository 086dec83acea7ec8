/**
 * Random load on one chat, in one process and over several stores: senders who send things twice, readers who crash between
 * fetching and acknowledging, members who join and leave, streams beside single reads. What must hold is checked for every message
 * to every member (record.ts).
 *
 * CHATS_ROUNDS=20 CHATS_SEED=7 runs it long.
 */
import { expect, test } from "vitest";
import { Chats } from "../../../src/components/chats/index.ts";
import type { Store } from "../../../src/connection/store.ts";
import { describeBackends } from "../../kit/index.ts";
import { type Body, History, type Reading, randomFrom } from "./record.ts";

const ROUNDS = Number(process.env.CHATS_ROUNDS ?? 1);
const SEED = Number(process.env.CHATS_SEED ?? 1);
const SENDERS = ["ann", "ben", "cid"];
const READERS = 6;
const GUESTS = 3;
const EACH = 120;

type Random = (limit: number) => number;

/** Sends its numbers one after the other, some of them several times at once. */
async function sender(chats: Chats<Body>, chat: string, name: string, random: Random): Promise<void> {
  for (let number = 1; number <= EACH; number++) {
    const send = () => chats.send(chat, name, { sender: name, number }, { id: String(number) });
    const sent = await Promise.all(Array.from({ length: 1 + (random(4) === 0 ? random(3) : 0) }, send));
    if (new Set(sent.map((each) => each!.id)).size !== 1) throw new Error(`${name} sent ${number} more than once`);
  }
}

/** Reads to the end by pages, and forgets now and then where it was. */
async function reader(chats: Chats<Body>, chat: string, member: string, reading: Reading, random: Random, end: End) {
  let after: number | undefined;
  while (!end.isReached(reading.most)) {
    const page = (await chats.read(chat, member, {
      ...(after !== undefined && { cursor: after }),
      limit: 1 + random(20),
      waitMs: 20,
    }))!;
    for (const { id, body, missed } of page.items) reading.got(id, body, missed);
    after = page.cursor;
    if (random(5) === 0) {
      // It crashed: only what was acknowledged is known.
      reading.crash();
      after = undefined;
    } else if (page.items.length > 0 && random(2) === 0) {
      const { id } = page.items[random(page.items.length)]!;
      reading.acknowledging(id);
      await chats.acknowledge(chat, member, id);
      reading.acknowledged(id);
    }
  }
}

/** The same by streams that are left in the middle. */
async function streamer(chats: Chats<Body>, chat: string, member: string, reading: Reading, random: Random, end: End) {
  while (!end.isReached(reading.most)) {
    const lives = random(80);
    let count = 0;
    let before = 0;
    let isLeft = false;
    // Readers that wait when all was sent are let go, to see whether that was all.
    const how = end.isSent ? {} : { signal: end.signal };
    for await (const { id, body, missed } of chats.messages(chat, member, how)) {
      if (before > 0) reading.acknowledging(before);
      reading.got(id, body, missed);
      before = id;
      isLeft = end.isReached(id) || count++ >= lives;
      if (isLeft) break;
    }
    reading.crash();
    // Where it is now is what the stream has acknowledged: all but the one that it was left at.
    const { seen } = (await chats.position(chat, member))!;
    if (before > 0 && seen !== (isLeft ? before - 1 : before)) {
      throw new Error(`${member} left at ${before} and has seen ${seen}`);
    }
    reading.acknowledging(seen);
    reading.acknowledged(seen);
  }
}

/** Comes, reads for a while, goes, and comes again as somebody who begins anew. */
async function guest(chats: Chats<Body>, chat: string, member: string, history: History, random: Random, end: End) {
  while (!end.isSent) {
    const { status } = await chats.join(chat, member, { from: random(2) === 0 ? "now" : "start" });
    if (status !== "joined") throw new Error(`${member} ${status}`);
    const reading = history.member(member, (await chats.position(chat, member))!.seen);
    let left: Promise<unknown> | null = null;
    let count = 0;
    const stay = random(30);
    for await (const { id, body, missed } of chats.messages(chat, member, { signal: end.signal })) {
      reading.got(id, body, missed);
      if (count++ === stay) left = chats.leave(chat, member);
    }
    await left;
    if (left === null) await chats.leave(chat, member);
  }
}

class End {
  readonly #stop = new AbortController();
  #last = Number.POSITIVE_INFINITY;

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get isSent(): boolean {
    return this.#last < Number.POSITIVE_INFINITY;
  }

  isReached(id: number): boolean {
    return id >= this.#last;
  }

  reach(last: number): void {
    this.#last = last;
    this.#stop.abort();
  }
}

async function play(stores: readonly Store[], seed: number): Promise<History> {
  const random = randomFrom(seed);
  const chat = `chat ${seed}`;
  const all = stores.map((store) => new Chats<Body>(store, { pollMs: 200 }));
  const one = () => all[random(all.length)]!;
  const history = new History();
  const end = new End();
  const readers = Array.from({ length: READERS }, (_, nth) => `reader ${nth}`);
  await all[0]!.joinMany(chat, [...SENDERS, ...readers]);
  const { lastId } = (await all[0]!.inspect(chat))!;
  const watching = watch(all[0]!, chat, history, end);
  const reading = readers.map((member, nth) =>
    (nth % 2 === 0 ? reader : streamer)(
      one(),
      chat,
      member,
      history.member(member, lastId),
      randomFrom(seed * 100 + nth),
      end,
    ),
  );
  const visiting = Array.from({ length: GUESTS }, (_, nth) =>
    guest(one(), chat, `guest ${nth}`, history, randomFrom(seed * 1_000 + nth), end),
  );
  await Promise.all(SENDERS.map((name, nth) => sender(one(), chat, name, randomFrom(seed * 10 + nth))));
  end.reach((await all[0]!.inspect(chat))!.lastId);
  await Promise.all([...reading, ...visiting, watching]);
  history.checkSent(new Map(SENDERS.map((name) => [name, EACH])));
  await settle(all[0]!, chat, [...SENDERS, ...readers], history);
  return history;
}

/** Nothing is dropped that somebody has not seen, at any time. */
async function watch(chats: Chats<Body>, chat: string, history: History, end: End): Promise<void> {
  while (!end.isSent) {
    for (const { member, missed } of await chats.members(chat)) {
      if (missed > 0) history.faults.push(`${missed} messages were dropped that ${member} had not seen`);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** When all have seen everything nothing is kept, and with the last member nothing is left. */
async function settle(chats: Chats<Body>, chat: string, members: readonly string[], history: History): Promise<void> {
  const { lastId, messages, furthestBehind } = (await chats.inspect(chat))!;
  if (messages !== furthestBehind)
    history.faults.push(`${messages} are kept, and ${furthestBehind} are not seen by all`);
  for (const member of members) await chats.acknowledge(chat, member, lastId);
  const after = (await chats.inspect(chat))!;
  if (after.messages !== 0 || after.bytes !== 0) history.faults.push(`${after.messages} messages were not dropped`);
  for (const [nth, member] of members.entries()) {
    const { status } = await chats.leave(chat, member);
    if (status !== (nth === members.length - 1 ? "deleted" : "left")) history.faults.push(`${member}: ${status}`);
  }
}

describeBackends("chats under random load", { audit: false }, (backend) => {
  test(
    "no message is lost, doubled or out of order to any member",
    async () => {
      const stores = [backend.store, await backend.open(), await backend.open()];
      let [deliveries, again, crashes] = [0, 0, 0];
      for (let round = 0; round < ROUNDS; round++) {
        const history = await play(stores, SEED + round);
        expect(history.faults, `seed ${SEED + round}`).toEqual([]);
        expect(history.messages).toBe(SENDERS.length * EACH);
        deliveries += history.deliveries;
        again += history.redeliveries;
        crashes += history.crashes;
      }
      console.log(`${backend.name}: ${deliveries} deliveries, ${again} of them again after ${crashes} crashes`);
      expect(again).toBeGreaterThan(0);
    },
    30_000 * ROUNDS + 30_000,
  );
});
