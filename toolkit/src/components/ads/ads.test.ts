import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { InputError } from "../../base/errors.ts";
import type { Store } from "../../connection/store.ts";
import { type AdSpec, Ads, type AdsOptions } from "./index.ts";
import { adKey, shardBase } from "./keys.ts";
import { wordsOf } from "./words.ts";

const DAY_MS = 86_400_000;
/** No time is too short for a click, and nothing is left to chance. */
const PLAIN: AdsOptions = { explore: "off", minClickDelayMs: 0 };

const cpm = (bidMicros: number, more: Partial<AdSpec<unknown>> = {}): AdSpec<unknown> => ({
  model: "cpm",
  bidMicros,
  ...more,
});
const cpc = (bidMicros: number, more: Partial<AdSpec<unknown>> = {}): AdSpec<unknown> => ({
  model: "cpc",
  bidMicros,
  ...more,
});

async function serverMs(store: Store): Promise<number> {
  const [seconds] = (await store.call("TIME")) as string[];
  return Number(seconds) * 1_000;
}

/** So that it is noon now, by the day of the ads. */
async function noon(store: Store): Promise<number> {
  return ((await serverMs(store)) + DAY_MS / 2) % DAY_MS;
}

describeBackends("ads", { audit: "tags" }, (backend) => {
  const network = (options: AdsOptions = PLAIN, store = backend.store) => new Ads(store, "site", options);

  test("the ad of the highest worth for a thousand views is chosen, however it is paid", async () => {
    const ads = network();
    expect(await ads.set("views", cpm(1_500_000))).toEqual({ status: "added" });
    expect(await ads.set("clicks", cpc(2_000_000))).toEqual({ status: "added" });
    expect(await ads.set("actions", { model: "cpa", bidMicros: 1_000_000 })).toEqual({ status: "added" });
    // Before anything is known, one of a thousand is clicked or acted on.
    expect((await ads.get("views"))!.learned.ecpmMicros).toBe(1_500_000);
    expect((await ads.get("clicks"))!.learned.ecpmMicros).toBeCloseTo(2_000_000, 3);
    expect((await ads.get("actions"))!.learned.ecpmMicros).toBeCloseTo(1_000_000, 3);
    expect(await ads.target({})).toMatchObject({ ad: "clicks", model: "cpc", priceMicros: 2_000_000, words: [] });
    expect(await ads.set("clicks", cpc(1_000_000))).toEqual({ status: "changed" });
    expect(await ads.target({})).toMatchObject({ ad: "views", priceMicros: 1_500 });
    const { impression, candidates } = await ads.explain({ exclude: ["views"] });
    expect(impression?.ad).toBe("actions");
    expect(candidates.find(({ ad }) => ad === "views")).toMatchObject({ valueMicros: null, reason: "excluded" });
  });

  test("an ad is shown only where one of its locations is asked for", async () => {
    const ads = network();
    await ads.set("states", cpm(9_000, { locations: ["US", "CA"] }));
    await ads.set("anywhere", cpm(1_000));
    const shown = async (...locations: string[]) => (await ads.target({ locations }))?.ad;
    expect(await shown("US", "web")).toBe("states");
    expect(await shown("CA")).toBe("states");
    expect(await shown("DE")).toBe("anywhere");
    expect(await shown()).toBe("anywhere");
    await ads.set("states", cpm(9_000, { locations: ["DE"] }));
    expect(await shown("US")).toBe("anywhere");
    expect(await shown("DE")).toBe("states");
    await ads.delete("anywhere");
    expect(await shown("US")).toBeUndefined();
  });

  test("what each way of paying costs, and when", async () => {
    const ads = network();
    for (const [model, bidMicros] of [
      ["cpm", 5_000],
      ["cpc", 700],
      ["cpa", 90_000],
    ] as const) {
      await ads.set("ad", { model, bidMicros, reserve: "full", data: { text: model } });
      const shown = (await ads.target({}))!;
      expect(shown.data).toEqual({ text: model });
      const price = { cpm: 5, cpc: 700, cpa: 90_000 }[model];
      expect((await ads.get("ad"))!.heldMicros).toBe(price);
      const charged: number[] = [];
      for (const event of ["view", "click", "action"] as const) {
        const outcome = await ads[event](shown.id);
        charged.push(outcome.status === "counted" ? outcome.chargedMicros : Number.NaN);
      }
      expect(charged).toEqual({ cpm: [5, 0, 0], cpc: [0, 700, 0], cpa: [0, 0, 90_000] }[model]);
      expect(await ads.get("ad")).toMatchObject({ spentMicros: price, heldMicros: 0, spentTodayMicros: price });
      const [day] = (await ads.stats("ad"))!;
      expect(day).toMatchObject({
        chosen: 1,
        views: 1,
        clicks: 1,
        actions: 1,
        spentMicros: price,
        unpaid: 0,
        refused: 0,
      });
      await ads.delete("ad");
    }
  });

  test("events that cannot be are refused with a reason, and change nothing", async () => {
    const ads = network();
    await ads.set("ad", cpc(100));
    const refused = (reason: string) => ({ status: "refused", reason });
    const { id } = (await ads.target({}))!;
    expect(await ads.click(id)).toEqual(refused("not-viewed"));
    expect(await ads.view(id)).toEqual({ status: "counted", chargedMicros: 0 });
    expect(await ads.view(id)).toEqual(refused("duplicate"));
    expect(await ads.action(id)).toEqual(refused("not-clicked"));
    expect(await network({ ...PLAIN, minClickDelayMs: DAY_MS }).click(id)).toEqual(refused("soon"));
    expect(await ads.click(id, { id: "c1" })).toEqual({ status: "counted", chargedMicros: 100 });
    expect(await ads.click(id, { id: "c1" })).toEqual({ status: "counted", chargedMicros: 100 });
    expect(await ads.click(id, { id: "c2" })).toEqual(refused("duplicate"));
    expect(await ads.click(id, { id: "c2" })).toEqual(refused("duplicate"));
    for (const unknown of ["0.nothing", "nothing", "9.x", "0.", "-1.x"]) {
      expect(await ads.view(unknown)).toEqual(refused("unknown"));
    }
    expect((await ads.stats("ad"))![0]).toMatchObject({
      views: 1,
      clicks: 1,
      actions: 0,
      spentMicros: 100,
      refused: 5,
    });
    const later = (await ads.target({ viewed: true }))!;
    await ads.delete("ad");
    expect(await ads.click(later.id)).toEqual(refused("removed"));
    expect(await ads.stats("ad")).toBeNull();
  });

  test("an impression that is not viewed in time is over, and gives back what it reserved", async () => {
    const ads = network({ ...PLAIN, viewWindowMs: 1 });
    await ads.set("ad", cpm(5_000, { budget: { totalMicros: 5 }, cap: { views: 1, everyMs: DAY_MS } }));
    const shown = (await ads.target({ user: "ann" }))!;
    await expect.poll(() => ads.sweep(), { timeout: 10_000 }).toBe(1);
    expect(await ads.view(shown.id)).toEqual({ status: "refused", reason: "late" });
    expect(await ads.get("ad")).toMatchObject({ heldMicros: 0, spentMicros: 0 });
    // Neither the budget nor the user's cap has been used.
    const again = network({ ...PLAIN, viewWindowMs: DAY_MS });
    const second = (await again.target({ user: "ann" }))!;
    expect(second.ad).toBe("ad");
    expect(await again.target({ user: "ben" })).toBeNull();
    expect(await again.view(second.id)).toEqual({ status: "counted", chargedMicros: 5 });
    expect((await ads.get("ad"))!.resumesAt).toBe("never");
  });

  test("clicks after their time are late, and what was reserved for them is given back", async () => {
    const ads = network({ ...PLAIN, clickWindowMs: 1 });
    await ads.set("ad", cpc(100, { budget: { totalMicros: 100 }, reserve: "full" }));
    const { id } = (await ads.target({ viewed: true }))!;
    await expect.poll(() => ads.sweep(), { timeout: 10_000 }).toBe(1);
    expect(await ads.click(id)).toEqual({ status: "refused", reason: "late" });
    expect(await ads.get("ad")).toMatchObject({ heldMicros: 0, spentMicros: 0 });
  });

  test("a budget is used up to the last view and never beyond, with many requests at the same time", async () => {
    const stores = await Promise.all([backend.open(), backend.open(), backend.open()]);
    const networks = stores.map((store) => network(PLAIN, store));
    await networks[0]!.set("ad", cpm(7_000, { budget: { totalMicros: 7 * 40 + 3 } }));
    await networks[0]!.set("other", cpm(1_000));
    const shown = await Promise.all(
      Array.from({ length: 90 }, (_, nth) => networks[nth % 3]!.target({ viewed: nth % 2 === 0 })),
    );
    expect(shown.filter((each) => each!.ad === "ad").length).toBe(40);
    expect(shown.filter((each) => each!.ad === "other").length).toBe(50);
    await Promise.all(shown.map((each, nth) => networks[nth % 3]!.view(each!.id)));
    expect(await networks[0]!.get("ad")).toMatchObject({ spentMicros: 280, heldMicros: 0 });
    // More money brings it back.
    await networks[0]!.set("ad", cpm(7_000, { budget: { totalMicros: 290 } }));
    expect((await networks[0]!.target({}))!.ad).toBe("ad");
    expect((await networks[0]!.target({}))!.ad).toBe("other");
  });

  test("clicks beyond the budget are counted and not charged; with full reservation there are none", async () => {
    const ads = network();
    const budget = { totalMicros: 1_000_000 };
    await ads.set("ad", cpc(500_000, { budget }));
    const shown = await Promise.all(Array.from({ length: 5 }, () => ads.target({})));
    expect(new Set(shown.map((each) => each?.ad))).toEqual(new Set(["ad"]));
    // What five views cost on average, when one of a thousand is clicked.
    expect((await ads.get("ad"))!.heldMicros).toBe(5 * 500);
    const charged = [];
    for (const each of shown) await ads.view(each!.id);
    for (const each of shown) charged.push(await ads.click(each!.id));
    expect(charged.map((each) => (each.status === "counted" ? each.chargedMicros : -1))).toEqual([
      500_000, 500_000, 0, 0, 0,
    ]);
    expect((await ads.stats("ad"))![0]).toMatchObject({ clicks: 5, spentMicros: 1_000_000, unpaid: 3 });
    expect(await ads.get("ad")).toMatchObject({ spentMicros: 1_000_000, heldMicros: 0 });
    await ads.set("sure", cpc(500_000, { budget, reserve: "full" }));
    const sure = await Promise.all(Array.from({ length: 5 }, () => ads.target({ viewed: true })));
    expect(sure.filter((each) => each?.ad === "sure").length).toBe(2);
  });

  test("a daily budget begins anew with the day", async () => {
    const ads = network({ ...PLAIN, dayStartMs: await noon(backend.store) });
    const put = () => ads.set("ad", cpm(5_000, { budget: { dailyMicros: 10, totalMicros: 25, pacing: "asap" } }));
    const show = async () => (await ads.target({ viewed: true }))?.ad ?? null;
    // The servers' clocks cannot be moved, so what was spent is moved to the day before.
    const nextDay = () => backend.store.call("HINCRBY", adKey(shardBase("ads", "site", 0, 1), "ad"), "day", -1);
    await put();
    expect([await show(), await show(), await show()]).toEqual(["ad", "ad", null]);
    expect(await ads.get("ad")).toMatchObject({ spentTodayMicros: 10, spentMicros: 10 });
    await nextDay();
    expect(await ads.get("ad")).toMatchObject({ spentTodayMicros: 0, spentMicros: 10 });
    // An ad without a budget for the day sleeps until the next one; a change wakes it.
    expect(await show()).toBe(null);
    await put();
    expect([await show(), await show(), await show()]).toEqual(["ad", "ad", null]);
    expect(await ads.get("ad")).toMatchObject({ spentTodayMicros: 10, spentMicros: 20 });
    await nextDay();
    await put();
    expect([await show(), await show()]).toEqual(["ad", null]);
    expect((await ads.stats("ad"))!.map(({ spentMicros }) => spentMicros).reduce((a, b) => a + b)).toBe(25);
  });

  test("an even pace spends as much of a day's budget as of the day is over", async () => {
    const ads = network({ ...PLAIN, dayStartMs: await noon(backend.store), burstMs: 0 });
    await ads.set("ad", cpm(1_000_000, { budget: { dailyMicros: 41_000 } }));
    // At noon a little more than half of 41 views.
    const shown = await Promise.all(Array.from({ length: 30 }, () => ads.target({ viewed: true })));
    expect(shown.filter((each) => each !== null).length).toBe(20);
    const { resumesAt } = (await ads.get("ad"))!;
    const [day] = (await ads.stats("ad"))!;
    // The 21st of 41 views is due at 21/41 of the day.
    expect(resumesAt).toEqual(new Date(day!.day.getTime() + Math.ceil((21 / 41) * DAY_MS)));
  });

  test("a user sees an ad as often as its cap allows", async () => {
    const ads = network();
    await ads.set("ad", cpm(9_000, { cap: { views: 3, everyMs: DAY_MS } }));
    const stores = await Promise.all([backend.open(), backend.open()]);
    const both = stores.map((store) => network(PLAIN, store));
    const shown = await Promise.all(
      Array.from({ length: 20 }, (_, nth) =>
        both[nth % 2]!.target({ user: nth % 4 < 2 ? "ann" : "ben", viewed: true }),
      ),
    );
    const by = (rest: number) => shown.filter((each, nth) => each !== null && nth % 4 < 2 === (rest === 0)).length;
    expect([by(0), by(1)]).toEqual([3, 3]);
    expect((await ads.explain({ user: "ann" })).candidates).toMatchObject([{ ad: "ad", reason: "cap" }]);
    expect((await ads.explain({})).candidates).toMatchObject([{ ad: "ad", reason: "no-user" }]);
    // Views are forgotten when they are older than what the cap looks at.
    await ads.set("ad", cpm(9_000, { cap: { views: 3, everyMs: 1 } }));
    await expect.poll(async () => (await ads.target({ user: "ann" }))?.ad, { timeout: 10_000 }).toBe("ad");
  });

  test("the same request twice is one impression", async () => {
    const ads = network();
    await ads.set("ad", cpm(5_000, { budget: { totalMicros: 10 } }));
    const first = await ads.target({ id: "request 1", viewed: true });
    expect(await ads.target({ id: "request 1", viewed: true })).toEqual(first);
    expect(await ads.get("ad")).toMatchObject({ spentMicros: 5, heldMicros: 0 });
    expect((await ads.stats("ad"))![0]).toMatchObject({ chosen: 1, views: 1 });
  });

  test("a paused ad is not shown, and what it has shown still counts", async () => {
    const ads = network();
    await ads.set("ad", cpc(100, { words: ["redis"] }));
    const { id } = (await ads.target({ viewed: true }))!;
    expect(await ads.pause("ad")).toBe(true);
    expect(await ads.target({ content: "redis" })).toBeNull();
    expect(await ads.click(id)).toEqual({ status: "counted", chargedMicros: 100 });
    await ads.set("ad", cpc(200, { words: ["redis"] }));
    expect(await ads.get("ad")).toMatchObject({ state: "paused", spentMicros: 100 });
    expect(await ads.target({ content: "redis" })).toBeNull();
    expect(await ads.resume("ad")).toBe(true);
    expect(await ads.target({ content: "redis" })).toMatchObject({ ad: "ad", priceMicros: 200, words: ["redis"] });
    expect([await ads.pause("none"), await ads.resume("none"), await ads.delete("none")]).toEqual([
      false,
      false,
      false,
    ]);
    expect(await ads.get("none")).toBeNull();
  });

  test("a removed ad leaves nothing behind, nor does an ad of the same name owe for it", async () => {
    const ads = network({ ...PLAIN, viewWindowMs: 1 });
    const spec = cpc(100, {
      locations: ["US", "DE"],
      words: ["a", "b"],
      reserve: "full",
      budget: { totalMicros: 200 },
    });
    await ads.set("ad", spec);
    const { id } = (await ads.target({ locations: ["US"], user: "ann" }))!;
    expect(await ads.delete("ad")).toBe(true);
    await ads.set("ad", spec);
    // The next call ends it: removing did already, if its time was over.
    const open = async () => (await ads.sweep()) + Number(await backend.store.call("ZCARD", "ads:{site}:open"));
    await expect.poll(open, { timeout: 10_000 }).toBe(0);
    expect(await ads.get("ad")).toMatchObject({ heldMicros: 0, spentMicros: 0 });
    expect(await ads.view(id)).toMatchObject({ status: "refused" });
    await ads.delete("ad");
    // The averages of all ads, and for an hour that an impression was there.
    expect(await keysIn(backend.store)).toEqual(["ads:{site}:averages", `ads:{site}:impression:${id.slice(2)}`]);
    expect(Number(await backend.store.call("PTTL", `ads:{site}:impression:${id.slice(2)}`))).toBeGreaterThan(0);
  });

  test("with several shards the best of all is chosen, and budgets and ids hold as well", async () => {
    const ads = network({ ...PLAIN, shards: 3 });
    for (let nth = 0; nth < 12; nth++)
      await ads.set(`ad ${nth}`, cpm((nth + 1) * 1_000, { budget: { totalMicros: nth + 1 } }));
    expect(await ads.list({ limit: 5, cursor: "ad 10" })).toEqual({
      items: ["ad 11", "ad 2", "ad 3", "ad 4", "ad 5"],
      cursor: "ad 5",
    });
    expect((await ads.getMany(["ad 3", "none", "ad 7"])).map((ad) => ad?.bidMicros)).toEqual([4_000, undefined, 8_000]);
    expect(await ads.statsMany(["ad 3", "none"])).toEqual([[], null]);
    const first = await ads.target({ id: "r", viewed: true });
    expect(first!.ad).toBe("ad 11");
    expect(await ads.target({ id: "r", viewed: true })).toEqual(first);
    // Each can pay for one view.
    const seen = [first!.ad];
    for (let nth = 0; nth < 11; nth++) seen.push((await ads.target({ viewed: true }))!.ad);
    expect(seen).toEqual(Array.from({ length: 12 }, (_, nth) => `ad ${11 - nth}`));
    expect(await ads.target({})).toBeNull();
    expect(await ads.click(first!.id)).toMatchObject({ status: "counted" });
    expect((await ads.explain({})).impression).toBeNull();
  });

  test("too many ads are refused, too many open impressions end early", async () => {
    const ads = network({ ...PLAIN, maxAds: 2, maxOpen: 3 });
    await ads.set("a", cpm(1_000));
    await ads.set("b", cpm(2_000));
    expect(await ads.set("c", cpm(3_000))).toEqual({ status: "full" });
    expect(await ads.set("b", cpm(3_000))).toEqual({ status: "changed" });
    expect(await ads.list()).toEqual({ items: ["a", "b"], cursor: null });
    const shown = [];
    for (let nth = 0; nth < 10; nth++) shown.push((await ads.target({}))!);
    await ads.sweep();
    expect((await ads.get("b"))!.heldMicros).toBe(9);
    const outcomes = await Promise.all(shown.map(({ id }) => ads.view(id)));
    expect(outcomes.filter(({ status }) => status === "counted").length).toBe(3);
  });

  test("wrong input is refused", async () => {
    const ads = network();
    const wrong: AdSpec<unknown>[] = [
      cpm(1_001),
      cpm(0),
      cpc(1.5),
      cpc(10, { budget: { totalMicros: 9 } }),
      cpc(10, { budget: { dailyMicros: -1 } }),
      cpc(10, { cap: { views: 0, everyMs: 1 } }),
      cpc(10, { words: ["?"] }),
      cpc(10, { locations: ["a\nb"] }),
      cpc(10, { locations: Array.from({ length: 60 }, (_, nth) => `l${nth}`), words: [..."abcdefghi"] }),
      cpc(10, { data: "x".repeat(20_000) }),
      { ...cpc(10), model: "cpx" as never },
    ];
    for (const spec of wrong) await expect(ads.set("ad", spec)).rejects.toThrow(InputError);
    await expect(ads.set("", cpc(1))).rejects.toThrow(InputError);
    await expect(ads.target({ seed: -1 })).rejects.toThrow(InputError);
    await expect(ads.target({ locations: [""] })).rejects.toThrow(InputError);
    expect(() => network({ explore: "luck" as never })).toThrow(InputError);
    expect(() => network({ matchLift: -1 })).toThrow(InputError);
    expect(() => network({ viewWindowMs: 0 })).toThrow(InputError);
    expect(await keysIn(backend.store)).toEqual([]);
  });
});

test("words meet whatever their case and form, also where they are written without spaces", () => {
  expect(wordsOf("Ｒｅｄｉｓ, the CACHE! naïve 東京都に")).toEqual([
    "redis",
    "the",
    "cache",
    "naïve",
    "東京",
    "都",
    "に",
  ]);
  expect(wordsOf("...")).toEqual([]);
});
