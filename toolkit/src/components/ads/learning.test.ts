/** What is learned, compared with a naive account of the same events; and what chance makes of it. */
import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { type AdSpec, Ads, type AdsOptions, type Candidate } from "./index.ts";

const YEARS_MS = 1e13;
const PRIOR = 50;
const OPTIONS: AdsOptions = {
  explore: "off",
  minClickDelayMs: 0,
  priorViews: PRIOR,
  halfLifeMs: YEARS_MS,
  candidates: 50,
};

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

interface Tally {
  views: number;
  clicks: number;
  actions: number;
}
const nothing = (): Tally => ({ views: 0, clicks: 0, actions: 0 });

/** Every ad, every word, every model counted in plain maps, and valued as the README says. */
class Naive {
  readonly specs = new Map<string, AdSpec<unknown>>();
  readonly tallies = new Map<string, Tally>();

  #tally(of: string): Tally {
    const tally = this.tallies.get(of) ?? nothing();
    this.tallies.set(of, tally);
    return tally;
  }

  count(ad: string, words: readonly string[], kind: keyof Tally): void {
    const { model } = this.specs.get(ad)!;
    for (const of of [`ad ${ad}`, `model ${model}`, ...words.map((word) => `ad ${ad} ${word}`)])
      this.#tally(of)[kind]++;
  }

  value(ad: string, page: readonly string[]): { ecpm: number; bonus: number } {
    const { model, bidMicros, words = [] } = this.specs.get(ad)!;
    if (model === "cpm") return { ecpm: bidMicros, bonus: 0 };
    const events = ({ clicks, actions }: Tally): number => (model === "cpc" ? clicks : actions);
    const all = this.#tally(`model ${model}`);
    const average = (0.1 + events(all)) / (100 + all.views);
    const own = this.#tally(`ad ${ad}`);
    const rate = (PRIOR * average + events(own)) / (PRIOR + own.views);
    const bonuses = words
      .filter((word) => page.includes(word))
      .map((word) => {
        const of = this.#tally(`ad ${ad} ${word}`);
        return ((PRIOR * rate + events(of)) / (PRIOR + of.views) - rate) * bidMicros * 1_000;
      });
    const bonus = bonuses.length === 0 ? 0 : (Math.min(...bonuses) + Math.max(...bonuses)) / 2;
    return { ecpm: rate * bidMicros * 1_000, bonus };
  }
}

const WORDS = ["redis", "cache", "queue", "lock"];

describeBackends("what ads learn", { audit: "tags" }, (backend) => {
  test("is worth what a naive account of the same events says, for the ad and for each word", async () => {
    const ads = new Ads(backend.store, "site", OPTIONS);
    const naive = new Naive();
    const random = randomFrom(7);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
    for (let nth = 0; nth < 8; nth++) {
      const model = (["cpm", "cpc", "cpa", "cpc"] as const)[nth % 4]!;
      const words = WORDS.filter(() => random() < 0.5);
      const bidMicros = { cpm: 30_000_000, cpc: 300_000 + nth, cpa: 700_000 + nth }[model];
      const spec = { model, bidMicros, words };
      naive.specs.set(`ad ${nth}`, spec);
      await ads.set(`ad ${nth}`, spec);
    }
    for (let nth = 0; nth < 120; nth++) {
      const page = WORDS.filter(() => random() < 0.6);
      const exclude = [...naive.specs.keys()].filter(() => random() < 0.6);
      const { impression, candidates } = await ads.explain({ content: page.join(" "), exclude });
      expect(candidates.length).toBe(8);
      let best: { ad: string; value: number } | undefined;
      for (const { ad, ecpmMicros, bonusMicros, reason: why } of candidates) {
        const { ecpm, bonus } = naive.value(ad, page);
        expect(ecpmMicros / ecpm).toBeCloseTo(1, 5);
        expect(bonusMicros / 1_000).toBeCloseTo(bonus / 1_000, 1);
        expect(why).toBe(exclude.includes(ad) ? "excluded" : null);
        if (why === null && (best === undefined || ecpm + bonus > best.value)) best = { ad, value: ecpm + bonus };
      }
      if (best === undefined) {
        expect(impression).toBeNull();
        continue;
      }
      const { ad, id, words, valueMicros } = impression!;
      // Two may be worth nearly the same.
      expect(valueMicros / best.value).toBeCloseTo(1, 5);
      expect([...words].sort()).toEqual(
        (naive.specs.get(ad)!.words ?? []).filter((word) => page.includes(word)).sort(),
      );
      await ads.view(id);
      naive.count(ad, words, "views");
      // Some words do better than others.
      if (random() < (words.includes(pick(WORDS)) ? 0.7 : 0.2)) {
        await ads.click(id);
        naive.count(ad, words, "clicks");
        if (random() < 0.5) {
          await ads.action(id);
          naive.count(ad, words, "actions");
        }
      }
    }
  });

  test("fades", async () => {
    const ads = new Ads(backend.store, "site", { ...OPTIONS, halfLifeMs: 5 });
    await ads.set("ad", { model: "cpc", bidMicros: 1_000_000, words: ["redis"] });
    const { id } = (await ads.target({ content: "redis", viewed: true }))!;
    await ads.click(id);
    await expect.poll(async () => (await ads.get("ad"))!.learned.clicks, { timeout: 10_000 }).toBeLessThan(0.00001);
    const { learned } = (await ads.get("ad"))!;
    expect(learned.views).toBeLessThan(0.00001);
    // What is left is what is believed of a new one.
    expect(learned.ecpmMicros / 1_000_000).toBeCloseTo(1, 2);
    expect((await ads.stats("ad"))![0]).toMatchObject({ views: 1, clicks: 1 });
  });

  test("decides by the caller's seed: the same again, and over many as what is known has it", async () => {
    const ads = new Ads(backend.store, "site", { ...OPTIONS, explore: "thompson" });
    await ads.set("ad", { model: "cpc", bidMicros: 1_000 });
    for (let nth = 0; nth < 10; nth++) {
      const { id } = (await ads.target({ viewed: true }))!;
      if (nth % 2 === 0) await ads.click(id);
    }
    const values: number[] = [];
    for (let seed = 0; seed < 400; seed++) values.push((await ads.target({ seed }))!.valueMicros);
    expect((await ads.target({ seed: 77 }))!.valueMicros / values[77]!).toBeCloseTo(1, 6);
    // Gamma of 50 × (0.1 + 5) / (100 + 10) + 5 clicks in 50 + 10 views.
    const shape = (PRIOR * 5.1) / 110 + 5;
    const scale = (1_000 * 1_000) / (PRIOR + 10);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    expect(mean / (shape * scale)).toBeGreaterThan(0.9);
    expect(mean / (shape * scale)).toBeLessThan(1.1);
    expect(variance / (shape * scale ** 2)).toBeGreaterThan(0.75);
    expect(variance / (shape * scale ** 2)).toBeLessThan(1.25);
  });
});

describeBackends("ads that learn", { backends: ["embedded"], flush: "test" }, (backend) => {
  /** Shows ads whose clicks are drawn by their true rates; how often each was shown in the last quarter. */
  async function simulate(ads: Ads, rates: ReadonlyMap<string, number>, rounds: number): Promise<Map<string, number>> {
    const random = randomFrom(11);
    const late = new Map<string, number>();
    for (let nth = 0; nth < rounds; nth++) {
      const { id, ad } = (await ads.target({ viewed: true, seed: nth * 7919 }))!;
      if (random() < rates.get(ad)!) await ads.click(id);
      if (nth >= rounds * 0.75) late.set(ad, (late.get(ad) ?? 0) + 1);
    }
    return late;
  }

  test.each(["thompson", "ucb"] as const)("find the best of those that cost the same, by %s", async (explore) => {
    const ads = new Ads(backend.store, "site", { ...OPTIONS, explore });
    const rates = new Map([
      ["poor", 0.02],
      ["best", 0.12],
      ["middling", 0.05],
    ]);
    for (const ad of rates.keys()) await ads.set(ad, { model: "cpc", bidMicros: 1_000 });
    const late = await simulate(ads, rates, 1_200);
    expect(late.get("best")).toBeGreaterThan(230);
  });

  test("find a good one among many more than are looked at in one call", async () => {
    const ads = new Ads(backend.store, "site", { ...OPTIONS, explore: "thompson", candidates: 10 });
    const rates = new Map(Array.from({ length: 150 }, (_, nth) => [`ad ${nth}`, nth === 120 ? 0.3 : 0.01]));
    for (const ad of rates.keys()) await ads.set(ad, { model: "cpc", bidMicros: 1_000 });
    const late = await simulate(ads, rates, 2_000);
    expect(late.get("ad 120") ?? 0).toBeGreaterThan(250);
  });

  test("a call looks at a bounded number of ads, however many there are", async () => {
    const ads = new Ads(backend.store, "site", { ...OPTIONS, candidates: 10 });
    for (let nth = 0; nth < 200; nth++) await ads.set(`ad ${nth}`, { model: "cpc", bidMicros: 1_000 + nth });
    const looked: Candidate[][] = [];
    for (let seed = 0; seed < 20; seed++) looked.push([...(await ads.explain({ seed: seed * 7919 })).candidates]);
    // Ten, and two from anywhere.
    expect(Math.max(...looked.map(({ length }) => length))).toBeLessThanOrEqual(12);
    expect(new Set(looked.flat().map(({ ad }) => ad)).size).toBeGreaterThan(20);
    expect(looked.every(([first]) => first!.ad === "ad 199")).toBe(true);
  });
});
