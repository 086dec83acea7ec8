/** The contract of topics. Processes that are killed and stopped are in toolkit/tests/faults/coordination. */
import { describe, expect, test } from "vitest";
import { ClockedStore } from "../../../tests/kit/clocked-store.ts";
import { describeBackends, EVERY_BACKEND_AND_OWN_CLUSTER } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { bytes, text } from "../../base/codec.ts";
import { ConnectionError, InputError } from "../../base/errors.ts";
import type { Store } from "../../connection/store.ts";
import { type Delivered, DurableTopic, type Followed, Topic, UnrecoverableError } from "./index.ts";
import { durableKeys, groupKeys } from "./keys.ts";
import { take } from "./scripts.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await turn();
};
const some = async <T>(items: AsyncIterable<T>, count: number): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) if (found.push(item) === count) break;
  return found;
};

// What is published during a failover is lost, as pub/sub is.
describeBackends("a topic", { fixedServer: true }, (backend) => {
  test("is heard by all listeners, in order, and by nobody later", async () => {
    const mine = new Topic<{ n: number }>(backend.store, "news");
    const theirs = new Topic<{ n: number }>(await backend.open(), "news");
    // In a Cluster, nodes tell each other what was published; that may take a moment.
    if (backend.store.topology !== "cluster") await mine.publish({ n: 0 });
    const heard = await Promise.all([mine.messages(), mine.messages(), theirs.messages()]);
    const numbers = Array.from({ length: 50 }, (_, n) => n + 1);
    for (const n of numbers) await theirs.publish({ n });
    for (const each of heard) {
      expect((await some(each, 50)).map(({ data }) => data.n)).toEqual(numbers);
    }
  });

  test("drops the oldest for a reader that is too slow, and says how many", async () => {
    const topic = new Topic<number>(backend.store, "news");
    const slow = await topic.messages({ maxWaiting: 2 });
    const quick = await topic.messages();
    for (let n = 1; n <= 5; n++) await topic.publish(n);
    await some(quick, 5);
    const [first, second] = await some(slow, 2);
    expect(first).toEqual({ data: 4, dropped: 3, interrupted: false });
    expect(second).toEqual({ data: 5, dropped: 0, interrupted: false });
  });

  test("counts a message that it cannot decode as dropped", async () => {
    const topic = new Topic<number>(backend.store, "news");
    const heard = await topic.messages();
    // By the node that the topic goes by: nodes of a Cluster do not keep the order among them.
    await backend.store.send(["PUBLISH", "topic:{news}", "not JSON"], { key: "topic:{news}" });
    await topic.publish(1);
    expect(await some(heard, 1)).toEqual([{ data: 1, dropped: 1, interrupted: false }]);
  });

  test("ends by its signal", async () => {
    const ending = new AbortController();
    const heard = await new Topic(backend.store, "news").messages({ signal: ending.signal });
    const reading = some(heard, 1);
    ending.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
  });

  test("carries bytes as they are, and refuses what is too large", async () => {
    const topic = new Topic<Uint8Array>(backend.store, "raw", { codec: bytes, maxPayloadBytes: 4 });
    const heard = await topic.messages();
    await topic.publish(Uint8Array.of(0, 255, 128));
    expect([...(await some(heard, 1))[0]!.data]).toEqual([0, 255, 128]);
    await expect(topic.publish(new Uint8Array(5))).rejects.toThrow(InputError);
  });
});

describeBackends("a durable topic", { backends: EVERY_BACKEND_AND_OWN_CLUSTER }, (backend) => {
  type Order = { readonly n: number };
  const topic = (options: object = {}, store: Store = backend.store): DurableTopic<Order> =>
    new DurableTopic<Order>(store, "orders", { pollMs: 200, ...options });
  const publish = async (from: number, to: number): Promise<string[]> => {
    const many = Array.from({ length: to - from + 1 }, (_, n) => ({ data: { n: from + n } }));
    return (await topic().publishMany(many)).map(({ id }) => id);
  };
  const fast = { leaseMs: 5_000, backoffMs: 5, from: "start" } as const;

  test("gives ids that grow and count, and keeps messages in order", async () => {
    const ids = await publish(1, 20);
    expect(ids.map((id) => Number(id.split("-")[1]))).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    const first = await topic().list({ limit: 15 });
    expect(first.items.map(({ data }) => data.n)).toEqual(Array.from({ length: 15 }, (_, n) => n + 1));
    const second = await topic().list({ limit: 15, cursor: first.cursor! });
    expect([second.items.length, second.cursor]).toEqual([5, null]);
    expect(await topic().stats()).toMatchObject({ count: 20, published: 20 });
  });

  test("publishes an id once while it is remembered, and says which message it is", async () => {
    const once = await topic().publish({ n: 1 }, { id: "order 1" });
    expect(once.status).toBe("published");
    expect(await topic().publish({ n: 1 }, { id: "order 1" })).toEqual({ status: "duplicate", id: once.id });
    const both = await topic().publishMany([{ data: { n: 1 }, id: "order 1" }, { data: { n: 2 } }]);
    expect(both.map(({ status }) => status)).toEqual(["duplicate", "published"]);
    expect((await topic().stats()).count).toBe(2);
  });

  test("followers get all messages from where they begin", async () => {
    const ids = await publish(1, 3);
    const ends = async (from: object): Promise<number[]> => {
      const following = await topic().messages(from);
      await topic().publish({ n: 4 });
      const found: number[] = [];
      for await (const { data } of following) {
        found.push(data.n);
        if (data.n === 4) break;
      }
      return found;
    };
    expect(await ends({})).toEqual([4]);
    expect((await ends({ from: "start" })).slice(0, 4)).toEqual([1, 2, 3, 4]);
    expect((await ends({ from: ids[1] }))[0]).toBe(3);
    expect((await ends({ from: new Date(0) }))[0]).toBe(1);
    expect((await ends({ from: 9e15 })).at(-1)).toBe(4);
  });

  test("a follower that waits is woken, and told how many messages it missed", async () => {
    const following = await topic().messages();
    const seen: Followed<Order>[] = [];
    const reading = (async () => {
      for await (const message of following) if (seen.push(message) === 2) break;
    })();
    await publish(1, 1);
    await until(() => seen.length === 1);
    expect(seen[0]).toMatchObject({ data: { n: 1 }, missed: 0 });
    const place = seen[0]!.id;
    await publish(2, 2);
    await reading;
    await publish(3, 10);
    await topic().trim({ keepCount: 3 });
    const later = await some(await topic().messages({ from: place }), 1);
    expect(later[0]).toMatchObject({ data: { n: 8 }, missed: 6 });
  });

  test("each message goes to one process of a group, and to every group", async () => {
    const got: Record<string, number[]> = { a1: [], a2: [], b: [] };
    const start = async (group: string, who: string) =>
      topic({}, await backend.open())
        .subscriber(group, { ...fast, concurrency: 5 }, ({ data }) => void got[who]!.push(data.n))
        .start();
    const all = [await start("a", "a1"), await start("a", "a2"), await start("b", "b")];
    await publish(1, 100);
    await until(() => got.a1!.length + got.a2!.length === 100 && got.b!.length === 100);
    await until(async () => (await topic().inspect("a"))?.acknowledged === 100);
    for (const each of all) await each.stop();
    expect([...got.a1!, ...got.a2!].sort((x, y) => x - y)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
    expect(await topic().inspect("a")).toMatchObject({ lag: 0, pending: 0, dead: 0, delivered: 100, missed: 0 });
    expect([...(await topic().listGroups()).items].sort()).toEqual(["a", "b"]);
  });

  test("a group begins where it was made, or where its first subscriber says", async () => {
    await publish(1, 3);
    expect(await topic().createGroup("now")).toBe(true);
    expect(await topic().createGroup("now", { from: "start" })).toBe(false);
    expect(await topic().inspect("nobody")).toBeNull();
    await publish(4, 5);
    expect(await topic().inspect("now")).toMatchObject({ lag: 2, pending: 0 });
    const got: number[] = [];
    await using _subscriber = topic()
      .subscriber("now", fast, ({ data }) => void got.push(data.n))
      .start();
    await until(() => got.length === 2);
    expect(got).toEqual([4, 5]);
  });

  test("in one process with room for one, messages come in order", async () => {
    await publish(1, 50);
    const got: number[] = [];
    await using _subscriber = topic()
      .subscriber("g", fast, async ({ data }) => {
        await turn();
        got.push(data.n);
      })
      .start();
    await until(() => got.length === 50);
    expect(got).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
  });

  test("what fails is tried again after a pause, and is a dead letter in the end", async () => {
    const attempts: number[] = [];
    const failures: boolean[] = [];
    const [id] = await publish(7, 7);
    await using subscriber = topic().subscriber("g", { ...fast, attempts: 3 }, ({ attempt }) => {
      attempts.push(attempt);
      throw new Error(`attempt ${attempt}\nfails`);
    });
    subscriber.on("failed", (_message, _error, { willRetry }) => failures.push(willRetry));
    subscriber.start();
    await until(() => failures.length === 3);
    expect(attempts).toEqual([1, 2, 3]);
    expect(failures).toEqual([true, true, false]);
    expect(await topic().inspect("g")).toMatchObject({ lag: 0, pending: 0, dead: 1, failed: 3, acknowledged: 0 });
    const { items, cursor } = await topic().listDead("g");
    expect(cursor).toBeNull();
    expect(items).toMatchObject([{ id, data: { n: 7 }, attempts: 3, error: "attempt 3 fails" }]);
  });

  test("a body may say that no further attempt makes sense", async () => {
    await publish(1, 1);
    let runs = 0;
    await using _subscriber = topic()
      .subscriber("g", fast, () => {
        runs += 1;
        throw new UnrecoverableError("never");
      })
      .start();
    await until(async () => (await topic().inspect("g"))?.dead === 1);
    expect(runs).toBe(1);
  });

  test("what cannot be decoded is a dead letter at once", async () => {
    await new DurableTopic<string>(backend.store, "orders", { codec: text }).publish("not JSON");
    await using _subscriber = topic()
      .subscriber("g", fast, () => {})
      .start();
    await until(async () => (await topic().inspect("g"))?.dead === 1);
    const [letter] = (await topic().listDead("g")).items;
    expect(letter!.data).toBeNull();
    expect(letter!.error).toContain("cannot be decoded");
  });

  test("dead letters are delivered again, also when the log has lost them, or deleted", async () => {
    const ids = await publish(1, 3);
    let isBroken = true;
    const got: number[] = [];
    await using _subscriber = topic()
      .subscriber("g", { ...fast, attempts: 1 }, ({ data }) => {
        if (isBroken) throw new Error("broken");
        got.push(data.n);
      })
      .start();
    await until(async () => (await topic().inspect("g"))?.dead === 3);
    isBroken = false;
    await topic().trim({ keepCount: 0 });
    expect(await topic().deleteDead("g", ids[0]!)).toBe(true);
    expect(await topic().deleteDead("g", ids[0]!)).toBe(false);
    expect(await topic().replayDead("g", { id: ids[2]! })).toBe(1);
    await until(() => got.length === 1);
    expect(await topic().replayDead("g")).toBe(1);
    await until(() => got.length === 2);
    expect(got).toEqual([3, 2]);
    await until(async () => (await topic().inspect("g"))?.pending === 0);
    expect(await topic().inspect("g")).toMatchObject({ dead: 0, acknowledged: 2 });
    expect(await backend.store.call("HLEN", "topic:{orders}:letters:g")).toBe(0);
  });

  test("a bounded number of dead letters is kept", async () => {
    await publish(1, 12);
    await using _subscriber = topic({ keepDead: 4 })
      .subscriber("g", { ...fast, attempts: 1 }, () => Promise.reject(new Error("no")))
      .start();
    await until(async () => (await topic().inspect("g"))?.failed === 12);
    const { items } = await topic().listDead("g");
    expect(items.map(({ data }) => data?.n)).toEqual([9, 10, 11, 12]);
    const page = await topic().listDead("g", { limit: 3 });
    expect((await topic().listDead("g", { cursor: page.cursor! })).items).toHaveLength(1);
  });

  test("messages of a consumer that died are claimed by others after its lease", async () => {
    await publish(1, 2);
    // A process that takes two messages, and is never heard of again.
    const limits = { idleMs: 60_000, metaMs: 60_000, leaseMs: 100, attempts: 5, maxPending: 10, keepDead: 10 };
    const keys = { ...durableKeys("topic", "orders"), ...groupKeys("topic", "orders", "g") };
    const dead = { ...keys, name: "g", from: "start", most: 2, token: "dead", lost: "", ...limits };
    expect((await backend.store.run(take, dead)).deliveries).toHaveLength(2);
    const got: Delivered<Order>[] = [];
    await using _alive = topic()
      .subscriber("g", { ...fast, concurrency: 2 }, (message) => void got.push(message))
      .start();
    await until(() => got.length === 2);
    expect(got.map(({ data, attempt }) => [data.n, attempt])).toEqual([
      [1, 2],
      [2, 2],
    ]);
  });

  test("a delivery that was lost to another is not acknowledged by the first", async () => {
    await publish(1, 1);
    const mine = topic();
    let end = (): void => {};
    const lost: string[] = [];
    await using first = mine.subscriber("g", fast, () => new Promise<void>((resolve) => (end = resolve)));
    first.on("lost", ({ id }) => lost.push(id));
    first.start();
    await until(() => first.running === 1);
    // The group is set back: the delivery that is under way is under way no longer.
    await mine.replay("g", { from: "now" });
    end();
    await until(() => lost.length === 1);
    expect(await mine.inspect("g")).toMatchObject({ acknowledged: 0, pending: 0, lag: 0 });
  });

  test("what a call took whose answer was lost is given back by the next", async () => {
    await publish(1, 3);
    let failures = 0;
    const store = failingAfter(backend.store, "topics.take", () => failures++ === 0);
    const got: number[] = [];
    const errors: Error[] = [];
    await using subscriber = topic({}, store).subscriber("g", { ...fast, concurrency: 3 }, ({ data, attempt }) => {
      expect(attempt).toBe(1);
      got.push(data.n);
    });
    subscriber.on("error", (error) => errors.push(error));
    subscriber.start();
    await until(() => got.length === 3);
    expect(got.sort()).toEqual([1, 2, 3]);
    expect(await topic().inspect("g")).toMatchObject({ dead: 0 });
  });

  test("a subscriber that stops lets bodies end, and hands back what does not end in time", async () => {
    await publish(1, 2);
    const got: string[] = [];
    const slow = topic().subscriber("g", { ...fast, concurrency: 2 }, async ({ data }, signal) => {
      if (data.n === 1) return void got.push("ended");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      got.push("told");
    });
    slow.start();
    await until(() => got.length === 1 && slow.running === 1);
    await slow.stop({ timeoutMs: 1 });
    await until(() => got.length === 2);
    expect(await topic().inspect("g")).toMatchObject({ acknowledged: 1, pending: 1 });
    const attempts: number[] = [];
    await using _next = topic()
      .subscriber("g", fast, ({ attempt }) => void attempts.push(attempt))
      .start();
    await until(() => attempts.length === 1);
    expect(attempts).toEqual([1]);
  });

  test("a group is set back and reads again", async () => {
    const ids = await publish(1, 5);
    const got: number[] = [];
    await using _subscriber = topic()
      .subscriber("g", fast, ({ data }) => void got.push(data.n))
      .start();
    await until(() => got.length === 5);
    await until(async () => (await topic().inspect("g"))?.pending === 0);
    await topic().replay("g", { from: ids[2]! });
    await until(() => got.length === 7);
    expect(got.slice(5)).toEqual([4, 5]);
    await until(async () => (await topic().inspect("g"))?.pending === 0);
    await topic().replay("g");
    await until(() => got.length === 12);
    expect(got.slice(7)).toEqual([1, 2, 3, 4, 5]);
  });

  test("keeps as many messages as is said, and groups that were too slow know how many they missed", async () => {
    const small = topic({ keepCount: 100 });
    await small.createGroup("slow");
    for (let part = 0; part < 5; part++) {
      await small.publishMany(Array.from({ length: 200 }, (_, n) => ({ data: { n } })));
    }
    const { count, published } = await small.stats();
    expect(published).toBe(1_000);
    expect(count).toBeLessThanOrEqual(200);
    expect(count).toBeGreaterThanOrEqual(100);
    let got = 0;
    await using _subscriber = small.subscriber("slow", { ...fast, concurrency: 50 }, () => void got++).start();
    await until(async () => (await small.inspect("slow"))?.acknowledged === count);
    expect(await small.inspect("slow")).toMatchObject({ lag: 0, missed: 1_000 - count, delivered: count });
    expect(got).toBe(count);
  });

  test("keeps messages for as long as is said", async () => {
    const brief = topic({ keepMs: 40 });
    await brief.createGroup("g");
    await brief.publish({ n: 1 });
    await until(async () => (await brief.stats()).count === 0);
    expect(await brief.inspect("g")).toMatchObject({ lag: 1, missed: 0 });
  });

  test("at most so many are under way in a group", async () => {
    await publish(1, 10);
    await using subscriber = topic().subscriber(
      "g",
      { ...fast, concurrency: 10, maxPending: 4 },
      (_message, signal) => new Promise((resolve) => signal.addEventListener("abort", resolve)),
    );
    subscriber.start();
    await until(() => subscriber.running === 4);
    expect(await topic().inspect("g")).toMatchObject({ pending: 4, lag: 6 });
    await subscriber.stop({ timeoutMs: 1 });
  });

  test("is deleted with all that it has; every key has a lifetime before", async () => {
    await publish(1, 3);
    await topic().publish({ n: 4 }, { id: "x" });
    await using subscriber = topic().subscriber("g", { ...fast, attempts: 1 }, ({ data }) => {
      if (data.n < 3) throw new Error("no");
    });
    subscriber.start();
    await until(async () => (await topic().inspect("g"))?.lag === 0 && (await topic().inspect("g"))?.pending === 0);
    await subscriber.stop();
    const keys = (await keysIn(backend.store)).filter((key) => key.startsWith("topic:"));
    expect(keys.length).toBeGreaterThan(6);
    for (const key of keys) expect(Number(await backend.store.call("PTTL", key)), key).toBeGreaterThan(0);
    await topic().clear();
    expect((await keysIn(backend.store)).filter((key) => key.startsWith("topic:"))).toEqual([]);
  });

  test("refuses what makes no sense before anything is written", async () => {
    const made = topic();
    await expect(made.publish({ n: 1 }, { id: "" })).rejects.toThrow("id of a message");
    await expect(made.createGroup("")).rejects.toThrow("name of a group");
    await expect(made.messages({ from: "yesterday" })).rejects.toThrow("no id of a message");
    await expect(made.replay("g", { from: Number.NaN })).rejects.toThrow("from must be");
    await expect(made.list({ cursor: "x" })).rejects.toThrow("no id of a message");
    await expect(made.listDead("g", { cursor: "x" })).rejects.toThrow("cursor is not one");
    expect(() => made.subscriber("g", {}, undefined as never)).toThrow("body must be a function");
    expect((await keysIn(backend.store)).filter((key) => key.startsWith("topic:"))).toEqual([]);
  });
});

describe("time that goes by", () => {
  test("messages go at their age, one by one", async () => {
    const world = await ClockedStore.open();
    const topic = new DurableTopic<number>(world.store, "orders", { keepMs: 40_000 });
    for (const n of [1, 2, 3, 4]) {
      await topic.publish(n);
      await world.pass(15_000);
    }
    // Published 60, 45, 30 and 15 seconds ago; the age is judged when something is published.
    expect((await topic.list()).items.map(({ data }) => data)).toEqual([2, 3, 4]);
    await topic.publish(5);
    expect((await topic.list()).items.map(({ data }) => data)).toEqual([3, 4, 5]);
    await world.pass(40_000);
    expect((await topic.stats()).count).toBe(0);
    await topic.publish(6);
    expect(await topic.stats()).toMatchObject({ count: 1, published: 6 });
    await world.close();
  });

  test("a body that takes longer than its lease keeps its message", async () => {
    const world = await ClockedStore.open();
    const topic = new DurableTopic<number>(world.store, "orders");
    await topic.publish(1);
    let end = (): void => {};
    const options = { from: "start", leaseMs: 5_000 } as const;
    const mine = topic.subscriber("g", options, () => new Promise<void>((resolve) => (end = resolve))).start();
    await world.pass(100);
    const theirs = new DurableTopic<number>(await world.another(), "orders").subscriber("g", options, () => {
      throw new Error("it is not theirs");
    });
    theirs.start();
    await world.pass(60_000);
    expect([mine.running, theirs.running]).toEqual([1, 0]);
    end();
    await world.pass(100);
    expect(await topic.inspect("g")).toMatchObject({ acknowledged: 1, failed: 0, pending: 0 });
    await Promise.all([mine.stop(), theirs.stop()]);
    await world.close();
  });

  test("pauses after failures double", async () => {
    const world = await ClockedStore.open();
    const topic = new DurableTopic<number>(world.store, "orders");
    await topic.publish(1);
    const at: number[] = [];
    const subscriber = topic.subscriber("g", { from: "start", backoffMs: 1_000, attempts: 4 }, () => {
      at.push(world.nowMs);
      throw new Error("no");
    });
    subscriber.start();
    await world.pass(20_000);
    const pauses = at.slice(1).map((ms, nth) => Math.floor((ms - at[nth]!) / 1_000));
    expect(pauses).toEqual([1, 2, 4]);
    await subscriber.stop();
    await world.close();
  });

  test("a group that nobody uses is forgotten", async () => {
    const world = await ClockedStore.open();
    const topic = new DurableTopic<number>(world.store, "orders", { groupIdleMs: 3_600_000 });
    await topic.createGroup("old");
    await world.leap(3_000_000);
    await topic.createGroup("new");
    await world.leap(3_000_000);
    await topic.createGroup("newest");
    expect((await topic.listGroups()).items).toEqual(["newest", "new"]);
    expect(await topic.inspect("old")).toBeNull();
    await world.close();
  });
});

/** A store whose answers to some scripts are lost after they ran. */
function failingAfter(store: Store, name: string, isLost: () => boolean): Store {
  const run: Store["run"] = async (script, params, options) => {
    const answer = await store.run(script, params, options);
    if (script.name === name && isLost()) throw new ConnectionError("the answer was lost", { maybeExecuted: true });
    return answer;
  };
  return new Proxy(store, {
    get: (target, property) => {
      if (property === "run") return run;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
