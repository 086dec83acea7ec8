/** Fifty of each component on one store, all of whose calls wait by one signal, while the server is gone: nobody looks like a leak. */
import { expect, test } from "vitest";
import { FaultyProxy } from "../../tests/kit/proxy.ts";
import { installed, startRedis } from "../../tests/kit/servers.ts";
import { Barriers } from "../components/barriers/index.ts";
import { Carts } from "../components/carts/index.ts";
import { Chats, Mailboxes } from "../components/chats/index.ts";
import { Config, Maintenance } from "../components/config/index.ts";
import { Counters } from "../components/counters/index.ts";
import { Elections } from "../components/elections/index.ts";
import { Files } from "../components/files/index.ts";
import { Latches } from "../components/latches/index.ts";
import { Locks } from "../components/locks/index.ts";
import { Queue, Worker } from "../components/queues/index.ts";
import { RateLimits } from "../components/rate-limits/index.ts";
import { RowCache } from "../components/row-cache/index.ts";
import { SearchIndex } from "../components/search/index.ts";
import { Semaphores } from "../components/semaphores/index.ts";
import { Sessions } from "../components/sessions/index.ts";
import { ShardedList } from "../components/sharded/index.ts";
import { Stats } from "../components/stats/index.ts";
import { StatusStream } from "../components/streaming/index.ts";
import { DurableTopic, Topic } from "../components/topics/index.ts";
import { Views } from "../components/views/index.ts";
import { open } from "./open.ts";

const EACH = 50;

test.skipIf(!installed("redis-server"))(
  "an outage with fifty of each component warns of no leak",
  async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on("warning", onWarning);
    const server = await startRedis();
    const proxy = await FaultyProxy.open(server.port);
    let onOpen = (): void => {};
    const isOpen = new Promise<void>((resolve) => {
      onOpen = resolve;
    });
    const store = await open(proxy.url, {
      connectTimeoutMs: 500,
      retryMs: 30_000,
      breaker: { probeEveryMs: 50 },
      hooks: { circuit: ({ state }) => void (state === "open" && onOpen()) },
    });
    const stopping = new AbortController();
    const { signal } = stopping;
    const calls: Promise<unknown>[] = [];
    const background: { stop(): Promise<unknown> }[] = [];
    try {
      const held = await new Locks(store).acquire("held", { leaseMs: 60_000 });
      expect(held).not.toBeNull();
      const wait = (made: () => Promise<unknown>): void => void calls.push(made().catch(() => {}));
      const all = async (nth: number): Promise<void> => {
        const queue = new Queue(store, `q${nth}`);
        const list = new ShardedList(store, `l${nth}`);
        background.push(new Worker(queue, () => 1).start(), new Sessions(store).cleaner().start());
        background.push(new RowCache(store, `r${nth}`, { load: () => 1 }).refresher().start());
        const config = new Config(store, `c${nth}`, { defaults: 1, validate: Number });
        wait(() => config.start());
        wait(() => new Semaphores(store, { limit: 1 }).acquire(`s${nth}`, { signal }));
        wait(() => new Elections(store).campaign(`e${nth}`, { signal }));
        wait(async () => {
          for await (const _ of new Elections(store).leaders(`e${nth}`, { signal })) break;
        });
        background.push(new Elections(store).candidate(`d${nth}`, {}, () => {}).start());
        wait(() => new Barriers(store, { parties: 2 }).arrive(`b${nth}`, { signal }));
        wait(async () => {
          const latches = new Latches(store);
          await latches.create(`l${nth}`, { count: 1 });
          await latches.waitFor(`l${nth}`, { signal });
        });
        const topic = new DurableTopic(store, `d${nth}`);
        background.push(topic.subscriber("g", {}, () => {}).start());
        wait(async () => {
          for await (const _ of await topic.messages({ signal })) break;
        });
        wait(async () => {
          for await (const _ of await new Topic(store, `p${nth}`).messages({ signal })) break;
        });
        wait(() => queue.waitFor("none", { signal }));
        wait(() => queue.addAndWait(nth, { delayMs: 60_000 }, { signal }));
        wait(async () => {
          for await (const _ of await queue.events({ signal })) break;
        });
        wait(() => new Mailboxes(store).read(`m${nth}`, { waitMs: 25_000, signal }));
        wait(() => new Chats(store).read(`chat${nth}`, "ann", { waitMs: 25_000, signal }));
        wait(() => list.pop("left", { signal }));
        wait(async () => {
          const reader = await new Files(store, `f${nth}`).join("ann");
          for await (const _ of reader.files({ follow: true, signal })) break;
        });
        wait(async () => {
          for await (const _ of await new StatusStream(store, `t${nth}`).events({ all: true }, { signal })) break;
        });
        wait(() => store.blocking().call(["BLPOP", `b${nth}`, 60], { timeoutMs: 60_000, signal }));
        wait(() => store.transaction({ watch: [`w${nth}`], signal }, () => [["SET", `w${nth}`, 1]]));
      };
      for (let nth = 0; nth < EACH; nth++) await all(nth);
      // All of them are on their way before the server goes.
      await store.call("PING");
      proxy.refuse();
      proxy.cut();
      for (let nth = 0; nth < EACH; nth++) {
        wait(() => new Locks(store).acquire(`x${nth}`, { signal }));
        wait(() => new Carts(store).set("ann", `i${nth}`, 1));
        wait(() => new Counters(store).add(`n${nth}`));
        wait(() => new Maintenance(store, `s${nth}`).isOn());
        wait(() => new RateLimits(store, { name: `r${nth}`, rules: { limit: 1, windowMs: 1_000 } }).take("ann"));
        wait(() => new SearchIndex(store, `i${nth}`, { fields: { title: { type: "text" } } }).search("x"));
        wait(() => new Sessions(store).create());
        wait(() => new Stats(store).record("c", "t", nth));
        wait(() => new Views(store, "v").add(`v${nth}`));
        wait(() => store.transaction({ watch: ["w"], signal }, () => [["SET", "w", 1]]));
        wait(() => store.subscribe(`channel${nth}`, () => {}));
      }
      await isOpen;
      proxy.refuse(false);
      await store.send(["PING"], { timeoutMs: 60_000 });
      await held!.release();
    } finally {
      stopping.abort();
      await Promise.all(background.map((each) => each.stop()));
      await store.close();
      await Promise.all(calls);
      await proxy.close();
      await server.stop();
      // Warnings are told in the next turn.
      await new Promise((resolve) => setImmediate(resolve));
      process.off("warning", onWarning);
    }
    expect(warnings.map(({ message }) => message)).toEqual([]);
  },
  60_000,
);
