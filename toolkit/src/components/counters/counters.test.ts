import { Engine, ManualClock } from "@cinnabar/engine";
import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { FaultyProxy } from "../../../tests/kit/proxy.ts";
import { InputError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import { Counters } from "./index.ts";

const DAY = 86_400_000;

/** A store whose clock is moved by hand. */
async function atOwnTime(): Promise<{
  store: Awaited<ReturnType<typeof open>>;
  clock: ManualClock;
  end: () => Promise<void>;
}> {
  const clock = new ManualClock();
  const engine = await Engine.open({ clock });
  const store = await open(engine);
  return { store, clock, end: () => store.close().then(() => engine.close()) };
}

describeBackends("counters", (backend) => {
  test("count at every precision", async () => {
    const counters = new Counters(backend.store);
    await counters.add("hits");
    await counters.add("hits", 4);
    for (const precision of counters.precisionsMs.slice(2)) {
      const series = await counters.series("hits", precision, { samples: 2 });
      expect(series[0]!.count + series[1]!.count).toBe(5);
      expect(series[1]!.at.getTime() % precision).toBe(0);
      expect(series[1]!.at.getTime() - series[0]!.at.getTime()).toBe(precision);
    }
  });

  test("a counter that was never hit is a series of zeros", async () => {
    const series = await new Counters(backend.store).series("absent", 1_000);
    expect(series.length).toBe(120);
    expect(series.every(({ count }) => count === 0)).toBe(true);
  });

  test("equal what was counted, with many processes at the same time", async () => {
    const stores = await Promise.all([backend.open(), backend.open(), backend.open()]);
    const counters = stores.map(
      (store, at) => new Counters(store, { precisionsMs: [DAY], bufferMs: at === 0 ? 0 : 5 }),
    );
    let counted = 0;
    await Promise.all(
      Array.from({ length: 300 }, (_, nth) => {
        const by = (nth % 7) - 1;
        counted += by;
        return counters[nth % 3]!.add("hits", by);
      }),
    );
    const series = await counters[0]!.series("hits", DAY, { samples: 2 });
    expect(series[0]!.count + series[1]!.count).toBe(counted);
  });

  test("are listed and can be removed; every key expires", async () => {
    const counters = new Counters(backend.store, { precisionsMs: [1_000, DAY] });
    await counters.add("hits");
    await expect.poll(async () => (await counters.list()).items).toEqual(["hits"]);
    expect(await backend.store.call("PTTL", `counter:{hits}:${DAY}`)).toBeGreaterThan(0);
    await counters.delete("hits");
    expect(await counters.list()).toEqual({ items: [], cursor: null });
    const series = await counters.series("hits", DAY, { samples: 1 });
    expect(series[0]!.count).toBe(0);
  });

  test("what is in the buffer is sent before the store closes", async () => {
    const store = await backend.open();
    const counters = new Counters(store, { precisionsMs: [DAY], bufferMs: 60_000 });
    void counters.add("hits", 3);
    await store.close();
    const series = await new Counters(backend.store, { precisionsMs: [DAY] }).series("hits", DAY, { samples: 2 });
    expect(series[0]!.count + series[1]!.count).toBe(3);
  });

  test("wrong input is refused", async () => {
    const counters = new Counters(backend.store);
    await expect(counters.add("hits", 0.5)).rejects.toThrow(InputError);
    await expect(counters.add("")).rejects.toThrow(InputError);
    await expect(counters.series("hits", 17)).rejects.toThrow(InputError);
    await expect(counters.series("hits", 1_000, { samples: 121 })).rejects.toThrow(InputError);
    expect(() => new Counters(backend.store, { precisionsMs: [] })).toThrow(InputError);
    expect(() => new Counters(backend.store, { keepCount: 0 })).toThrow(InputError);
  });
});

test("a counter keeps its samples and no more, however long it runs and pauses", async () => {
  const { store, clock, end } = await atOwnTime();
  const counters = new Counters(store, { precisionsMs: [1_000], keepCount: 20 });
  const naive = new Map<number, number>();
  for (let nth = 0; nth < 500; nth++) {
    clock.advance(Math.floor(clock.random() ** 4 * 9_000));
    const slice = clock.now() - (clock.now() % 1_000);
    naive.set(slice, (naive.get(slice) ?? 0) + 1);
    await counters.add("hits");
    expect(Number(await store.call("HLEN", "counter:{hits}:1000"))).toBeLessThanOrEqual(24);
  }
  const series = await counters.series("hits", 1_000);
  expect(series.map(({ at, count }) => [at.getTime(), count])).toEqual(
    series.map(({ at }) => [at.getTime(), naive.get(at.getTime()) ?? 0]),
  );
  expect(series.filter(({ count }) => count > 0).length).toBeGreaterThan(2);
  clock.advance(22_000);
  expect(await store.call("EXISTS", "counter:{hits}:1000")).toBe(0);
  await end();
});

test("a rate is over whole slices", async () => {
  const { store, clock, end } = await atOwnTime();
  const counters = new Counters(store, { precisionsMs: [5_000] });
  clock.set(1_700_000_000_000);
  await counters.add("hits", 50);
  expect(await counters.rate("hits", 5_000)).toBe(0);
  clock.advance(5_000);
  expect(await counters.rate("hits", 5_000)).toBe(10);
  expect(await counters.rate("hits", 5_000, 2)).toBe(5);
  await end();
});

describeBackends(
  "counters, when an answer is lost",
  { backends: ["redis"], audit: false, fixedServer: true },
  (backend) => {
    test("what was counted before a circuit opened is counted when it closes", async () => {
      const proxy = await FaultyProxy.open(Number(new URL(backend.url!).port));
      let opened: () => void = () => {};
      const isOpen = new Promise<void>((resolve) => {
        opened = resolve;
      });
      const store = await open(proxy.url, {
        timeoutMs: 200,
        breaker: { failures: 1, openAfterMs: 0, probeEveryMs: 20 },
        hooks: { circuit: ({ state }) => void (state === "open" && opened()) },
      });
      const counters = new Counters(store, { bufferMs: 5 });
      proxy.refuse();
      proxy.cut();
      const counted = counters.add("hits", 7);
      await isOpen;
      proxy.refuse(false);
      await counted;
      expect((await new Counters(backend.store).series("hits", DAY)).at(-1)!.count).toBe(7);
      await store.close();
      await proxy.close();
    });

    test("a buffered sum is sent again and counted once", async () => {
      const proxy = await FaultyProxy.open(backend.ports[0]!);
      const store = await open(`redis://127.0.0.1:${proxy.port}`);
      try {
        const counters = new Counters(store, { precisionsMs: [DAY], bufferMs: 1 });
        await counters.add("hits", 1);
        const lost = proxy.loseAnswerOf("counter:{hits}");
        await counters.add("hits", 10);
        await lost;
        const series = await counters.series("hits", DAY, { samples: 2 });
        expect(series[0]!.count + series[1]!.count).toBe(11);
      } finally {
        await store.close();
        await proxy.close();
      }
    });
  },
);
