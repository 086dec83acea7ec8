import { describe, expect, test } from "vitest";
import { heldAnswer } from "../../../tests/kit/held-answer.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { FaultyProxy } from "../../../tests/kit/proxy.ts";
import { bytes } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import type { Store } from "../../connection/store.ts";
import { BoundedQueue, PriorityQueue } from "./index.ts";

const LONG = { waitMs: 20_000 };

describeBackends("a bounded queue", (backend) => {
  test("gives values in the order in which they came", async () => {
    const queue = new BoundedQueue<{ n: number }>(backend.store, "q");
    expect(await queue.take()).toBeNull();
    expect(await queue.peek()).toBeNull();
    expect(await queue.push({ n: 1 })).toBe(true);
    expect(await queue.pushMany([{ n: 2 }, { n: 3 }, { n: 4 }])).toEqual([true, true, true]);
    expect(await queue.peek()).toEqual({ n: 1 });
    expect([await queue.take(), await queue.take()]).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await queue.count()).toBe(2);
    expect(await queue.takeMany({ limit: 10 })).toEqual([{ n: 3 }, { n: 4 }]);
    expect(await queue.takeMany()).toEqual([]);
  });

  test("holds as many as it was made for", async () => {
    const queue = new BoundedQueue<number>(backend.store, "q", { capacity: 3 });
    expect(await queue.pushMany([1, 2, 3, 4])).toEqual([true, true, true, false]);
    expect(await queue.push(5)).toBe(false);
    expect(await queue.push(5, { waitMs: 5 })).toBe(false);
    await queue.take();
    expect(await queue.push(5)).toBe(true);
    expect(await queue.takeMany()).toEqual([2, 3, 5]);
  });

  test("keeps bytes as they are", async () => {
    const queue = new BoundedQueue<Uint8Array>(backend.store, "q", { codec: bytes });
    await queue.push(Buffer.from([0, 255, 128]));
    expect(await queue.take()).toEqual(Buffer.from([0, 255, 128]));
  });

  test("clear lets in who waits for room", async () => {
    const queue = new BoundedQueue<number>(backend.store, "q", { capacity: 1 });
    await queue.push(1);
    const pushed = queue.push(2, LONG);
    expect(await queue.clear()).toBe(1);
    expect(await pushed).toBe(true);
    expect(await queue.clear()).toBe(1);
    expect(await queue.count()).toBe(0);
  });

  test("refuses wrong input", async () => {
    const queue = new BoundedQueue<unknown>(backend.store, "q", { maxBytes: 5 });
    await expect(queue.push("too long")).rejects.toThrow(InputError);
    await expect(queue.pushMany([1, "too long"])).rejects.toThrow(InputError);
    await expect(queue.take({ waitMs: -1 })).rejects.toThrow(InputError);
    expect(await queue.count()).toBe(0);
  });
});

describeBackends("a priority queue", (backend) => {
  test("gives the highest priority first, and equal ones in the order in which they came", async () => {
    const queue = new PriorityQueue<string>(backend.store, "q");
    await queue.push("low", { priority: -1 });
    await queue.push("first");
    await queue.push("urgent", { priority: 10 });
    expect(await queue.pushMany([{ value: "second" }, { value: "half", priority: 0.5 }])).toEqual([true, true]);
    await queue.push("third");
    expect(await queue.peek()).toBe("urgent");
    expect(await queue.count()).toBe(6);
    expect(await queue.takeMany({ limit: 5 })).toEqual(["urgent", "half", "first", "second", "third"]);
    expect(await queue.take()).toBe("low");
    expect(await queue.take()).toBeNull();
  });

  test("keeps the order of many equal ones, also of equal values", async () => {
    const queue = new PriorityQueue<number>(backend.store, "q");
    const values = Array.from({ length: 300 }, (_, nth) => nth % 7);
    await queue.pushMany(values.map((value) => ({ value })));
    expect(await queue.takeMany({ limit: 1_000 })).toEqual(values);
    expect(await backend.store.call("EXISTS", "priority-queue:{q}:sequence")).toBe(0);
  });

  test("holds as many as it was made for, and is cleared", async () => {
    const queue = new PriorityQueue<number>(backend.store, "q", { capacity: 2 });
    expect(await queue.pushMany([{ value: 1 }, { value: 2 }, { value: 3 }])).toEqual([true, true, false]);
    expect(await queue.push(4, { priority: 9 })).toBe(false);
    const pushed = queue.push(4, { priority: 9, ...LONG });
    expect(await queue.take()).toBe(1);
    expect(await pushed).toBe(true);
    expect(await queue.takeMany()).toEqual([4, 2]);
    await queue.push(1);
    expect(await queue.clear()).toBe(1);
    expect(await backend.store.call("EXISTS", "priority-queue:{q}:items", "priority-queue:{q}:sequence")).toBe(0);
  });

  test("refuses wrong input", async () => {
    const queue = new PriorityQueue<number>(backend.store, "q");
    await expect(queue.push(1, { priority: Number.NaN })).rejects.toThrow(InputError);
    await expect(queue.pushMany([{ value: 1, priority: Number.POSITIVE_INFINITY }])).rejects.toThrow(InputError);
    expect(await queue.count()).toBe(0);
  });
});

type Kind = "bounded" | "priority";
const make = (kind: Kind, store: Store, capacity = 1_000): BoundedQueue<number> | PriorityQueue<number> =>
  kind === "bounded"
    ? new BoundedQueue<number>(store, "waited", { capacity })
    : new PriorityQueue<number>(store, "waited", { capacity });

describeBackends("waiting at a queue", (backend) => {
  describe.each<Kind>(["bounded", "priority"])("%s", (kind) => {
    test("a value comes to who waits for it, pushed by whomever", async () => {
      const mine = make(kind, backend.store);
      const theirs = make(kind, await backend.open());
      const taken = mine.take(LONG);
      await theirs.push(7);
      expect(await taken).toBe(7);
      expect(await mine.count()).toBe(0);
    });

    test("callers of one process get values in the order in which they came", async () => {
      const mine = make(kind, backend.store);
      const theirs = make(kind, await backend.open());
      const taken = Array.from({ length: 5 }, () => mine.take(LONG));
      for (let nth = 0; nth < 5; nth++) await theirs.push(nth);
      expect(await Promise.all(taken)).toEqual([0, 1, 2, 3, 4]);
    });

    test("room comes to who waits for it, in the order in which they came", async () => {
      const mine = make(kind, backend.store, 1);
      const theirs = make(kind, await backend.open(), 1);
      await mine.push(0);
      const pushed = [1, 2, 3].map((value) => mine.push(value, LONG));
      const taken: (number | null)[] = [];
      for (let nth = 0; nth < 4; nth++) taken.push(await theirs.take(LONG));
      expect(taken).toEqual([0, 1, 2, 3]);
      expect(await Promise.all(pushed)).toEqual([true, true, true]);
    });

    test("many who push and take at once neither lose nor repeat a value", async () => {
      const stores = [backend.store, await backend.open(), await backend.open()];
      const queues = stores.map((store) => make(kind, store, 3));
      const count = 120;
      const pushing = Array.from({ length: count }, (_, nth) => queues[nth % 3]!.push(nth, LONG));
      const taking = Array.from({ length: count }, (_, nth) => queues[(nth + 1) % 3]!.take(LONG));
      expect((await Promise.all(pushing)).every((each) => each)).toBe(true);
      const taken = await Promise.all(taking);
      expect(taken.sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: count }, (_, nth) => nth));
      expect(await queues[0]!.count()).toBe(0);
    });

    test("ends after its time, by its signal, and with the store", async () => {
      const store = await backend.open();
      const queue = make(kind, store);
      expect(await queue.take({ waitMs: 5 })).toBeNull();
      const leaving = new AbortController();
      const left = queue.take({ signal: leaving.signal, waitMs: Number.POSITIVE_INFINITY });
      const lost = queue.take({ waitMs: Number.POSITIVE_INFINITY });
      lost.catch(() => {});
      leaving.abort(new Error("enough"));
      await expect(left).rejects.toThrow("enough");
      await expect(queue.take({ signal: leaving.signal })).rejects.toThrow("enough");
      await store.close();
      await expect(lost).rejects.toMatchObject({ code: "CLOSED" });
      // Nobody who has left takes anything.
      const other = make(kind, backend.store);
      await other.push(1);
      expect(await other.count()).toBe(1);
    });

    test("values come as they are pushed, until the signal", async () => {
      const queue = make(kind, backend.store);
      const ending = new AbortController();
      const got: number[] = [];
      const following = (async () => {
        for await (const value of queue.values({ signal: ending.signal })) {
          got.push(value);
          if (value === 4) ending.abort(new Error("enough"));
        }
      })();
      for (let nth = 0; nth < 5; nth++) await make(kind, await backend.open()).push(nth);
      await expect(following).rejects.toThrow("enough");
      expect(got).toEqual([0, 1, 2, 3, 4]);
    });

    test("who leaves while a value is on its way gets it", async () => {
      const script = kind === "bounded" ? "blocking-queues.take" : "blocking-queues.take-by-priority";
      await make(kind, backend.store).push(7);
      const held = heldAnswer(await backend.open(), script);
      const leaving = new AbortController();
      const taking = make(kind, held.store).take({ signal: leaving.signal, waitMs: Number.POSITIVE_INFINITY });
      await held.arrived;
      leaving.abort(new Error("late"));
      held.release();
      expect(await taking).toBe(7);
    });
  });
});

describeBackends(
  "waiting at a queue, when connections are lost",
  { backends: ["redis"], audit: false, fixedServer: true },
  (backend) => {
    test("a value that was pushed meanwhile is found when the connection is back", async () => {
      const proxy = await FaultyProxy.open(backend.ports[0]!);
      const store = await open(proxy.url);
      try {
        const far = new BoundedQueue<number>(store, "q");
        const near = new BoundedQueue<number>(backend.store, "q");
        let looks = 0;
        store.on("roundTrip", ({ name }) => (name === "blocking-queues.take" ? () => void looks++ : undefined));
        const taken = far.take(LONG);
        // Once when it comes and once when messages arrive: from then on it only listens.
        await expect.poll(() => looks).toBe(2);
        proxy.refuse();
        proxy.cut();
        await near.push(7);
        proxy.refuse(false);
        expect(await taken).toBe(7);
      } finally {
        await store.close();
        await proxy.close();
      }
    });
  },
);
