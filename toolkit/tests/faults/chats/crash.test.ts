/**
 * A chat whose readers are killed between fetching and acknowledging, and whose senders are killed at any moment and lose answers
 * on the way: all of them processes of their own.
 *
 * CHATS_KILLS=40 CHATS_SEED=7 runs it long.
 */
import { afterEach, expect, onTestFinished, test } from "vitest";
import { full } from "../../../../scripts/full.ts";
import { Chats } from "../../../src/components/chats/index.ts";
import { describeBackends } from "../../kit/index.ts";
import { FaultyProxy } from "../../kit/proxy.ts";
import { type Child, endAll, start } from "../web/children.ts";
import { CHAT, type Line, type ReaderOrder, type SenderOrder } from "./lines.ts";
import { type Body, History, type Reading, randomFrom } from "./record.ts";

const SEED = Number(process.env.CHATS_SEED ?? 1);
const READERS = ["ina", "joe"];
const SENDERS = ["ann", "ben"];

/** Of each reader; senders are killed as often together. */
const KILLS = Number(process.env.CHATS_KILLS ?? 1);

/** One member's reader, started anew whenever it has died. */
async function runReader(
  url: string,
  member: string,
  reading: Reading,
  kills: number,
  end: () => boolean,
): Promise<void> {
  const random = randomFrom(SEED * 31 + member.charCodeAt(0));
  for (let life = 0; ; life++) {
    const isLast = life === kills;
    const order: ReaderOrder = { url, member, seed: random(1e9), dieAfter: isLast ? 0 : 1 + random(200) };
    const child = start("../chats/reader.ts", order, (text) => {
      const line = JSON.parse(text) as Line;
      if (line.kind === "got") reading.got(line.id, line.body, line.missed);
      else if (line.kind === "acknowledging") reading.acknowledging(line.id);
      else if (line.kind === "acknowledged") reading.acknowledged(line.id);
    });
    await child.ready;
    if (isLast) {
      await expect.poll(end, { timeout: 60_000 }).toBe(true);
      child.kill("SIGTERM");
      expect(await child.ended).toBe(0);
      return;
    }
    expect(await child.ended).toBeNull();
    reading.crash();
  }
}

class Sending {
  /** The last number that was begun, and the last that was answered. */
  begun = 0;
  sent = 0;
  #child: Child | null = null;
  readonly #url: string;
  readonly #name: string;

  constructor(url: string, name: string) {
    this.#url = url;
    this.#name = name;
  }

  async start(): Promise<void> {
    // What was begun by one that was killed may have been sent, and is sent again.
    const order: SenderOrder = { url: this.#url, sender: this.#name, from: Math.max(1, this.begun) };
    this.#child = start("../chats/sender.ts", order, (text) => {
      const line = JSON.parse(text) as Line;
      if (line.kind === "sending") this.begun = line.number;
      else if (line.kind === "sent") this.sent = line.number;
    });
    await this.#child.ready;
  }

  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    this.#child!.kill(signal);
    expect(await this.#child!.ended).toBe(signal === "SIGKILL" ? null : 0);
  }
}

describeBackends(
  "chats of processes that die",
  { backends: full ? ["tcp", "redis"] : ["redis"], audit: false },
  (backend) => {
    afterEach(endAll);

    test(
      "no message is lost, doubled or out of order to any member",
      async () => {
        const kills = KILLS;
        const proxy = await FaultyProxy.open(backend.ports[0]!);
        onTestFinished(() => proxy.close());
        const chats = new Chats<Body>(backend.store);
        await chats.joinMany(CHAT, [...READERS, ...SENDERS]);
        const history = new History();
        const { lastId } = (await chats.inspect(CHAT))!;
        const readings = READERS.map((member) => history.member(member, lastId));
        let last = Number.POSITIVE_INFINITY;
        const reading = READERS.map((member, nth) =>
          runReader(backend.url!, member, readings[nth]!, kills, () => readings[nth]!.most >= last),
        );
        const senders = SENDERS.map((name) => new Sending(proxy.url, name));
        await Promise.all(senders.map((sender) => sender.start()));
        let lost = 0;
        for (let nth = 0; nth < kills * 2; nth++, lost++) {
          const sender = senders[nth % senders.length]!;
          const { sent } = sender;
          await expect.poll(() => sender.sent, { timeout: 60_000 }).toBeGreaterThan(sent + 50);
          await proxy.loseAnswerOf("chat:{team}:log");
          await expect.poll(() => sender.sent, { timeout: 60_000 }).toBeGreaterThan(sent + 60);
          await sender.end("SIGKILL");
          await sender.start();
        }
        // The readers must get far enough to die.
        await expect.poll(() => history.crashes, { timeout: 60_000 }).toBe(kills * READERS.length);
        await Promise.all(senders.map((sender) => sender.end("SIGTERM")));
        last = (await chats.inspect(CHAT))!.lastId;
        await Promise.all(reading);
        for (const each of readings)
          if (each.most !== last) history.faults.push(`${each.most} came last, and not ${last}`);
        history.checkSent(new Map(SENDERS.map((name, nth) => [name, senders[nth]!.sent])));
        for (const { member, missed } of await chats.members(CHAT)) {
          if (missed > 0) history.faults.push(`${missed} messages were dropped that ${member} had not seen`);
        }
        expect(history.faults).toEqual([]);
        console.log(
          `${backend.name}: ${history.messages} messages, ${history.deliveries} deliveries, ${history.redeliveries} of them again; ` +
            `${history.crashes} readers and ${kills * 2} senders killed, ${lost} answers lost`,
        );
        const { messages, furthestBehind } = (await chats.inspect(CHAT))!;
        expect(messages).toBe(furthestBehind);
      },
      60_000 + 20_000 * KILLS,
    );
  },
);
