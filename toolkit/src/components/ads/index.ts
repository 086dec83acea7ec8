/**
 * Ads: which one to show, what it costs, and what is learned from it.
 *
 *   const ads = new Ads(store, "site");
 *   await ads.put("shoes", { model: "cpc", bidMicros: 250_000, locations: ["US"], words: ["running"], budget: { dailyMicros: 5_000_000 } });
 *   const shown = await ads.target({ locations: ["US"], content: page, user: "ann", viewed: true });
 *   await ads.click(shown.id);                        // { status: "counted", chargedMicros: 250_000 }
 *
 * An ad belongs to one shard, and with it its budget, its impressions and its users' caps: choosing and reserving is one script.
 */

import { BackgroundLoop } from "../../base/background-loop.ts";
import { aStore, integer, word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { type Codec, json } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { hashOf } from "../../base/hash.ts";
import { type Filled, only, zipped } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { callback, choice, defineOptions, number, prefix, text, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import { asTexts } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { adKey, allKey, impressionKey, openKey, reportKey, shardBase, userKey } from "./keys.ts";
import { DAY_MS } from "./lua.ts";
import { put, read, remove, setState } from "./manage.ts";
import { type Chosen, record, sweep, target } from "./scripts.ts";
import { asModel, asRefusal, fieldsOf, toAd, toCandidates, toReport } from "./shapes.ts";
import type {
  Ad,
  AdSpec,
  AdsOptions,
  DayStats,
  EventOutcome,
  Explained,
  Impression,
  SetOutcome,
  TargetRequest,
} from "./types.ts";
import { pageWords } from "./words.ts";

export type {
  Ad,
  AdSpec,
  AdsOptions,
  Candidate,
  DayStats,
  EventOutcome,
  Explained,
  Impression,
  Model,
  Refusal,
  SetOutcome,
  TargetRequest,
} from "./types.ts";

const MAX_LOCATIONS = 16;
const MAX_PAGE_WORDS = 64;
const MAX_EXCLUDED = 64;
const MAX_SEED = 2 ** 31 - 1;
const SWEPT_AT_ONCE = 100;

type Kind = "views" | "clicks" | "actions";

function configOf(options: AdsOptions) {
  const { matchLift = 0 } = options;
  return {
    halfLifeMs: options.halfLifeMs ?? 7 * DAY_MS,
    priorViews: options.priorViews ?? 500,
    matchLift,
    dayStartMs: options.dayStartMs ?? 0,
    burstMs: options.burstMs ?? DAY_MS / 24,
    keepDays: Math.ceil((options.keepMs ?? 90 * DAY_MS) / DAY_MS),
    viewWindowMs: options.viewWindowMs ?? 60_000,
    clickWindowMs: options.clickWindowMs ?? 1_800_000,
    actionWindowMs: options.actionWindowMs ?? DAY_MS,
    minClickDelayMs: options.minClickDelayMs ?? 300,
    maxOpen: options.maxOpen ?? 500_000,
  };
}

const OPTIONS = defineOptions<AdsOptions>("Ads", {
  prefix,
  shards: whole(1, 256),
  explore: choice("thompson", "ucb", "off"),
  halfLifeMs: whole(1),
  priorViews: whole(1, 1_000_000),
  matchLift: number(0, 100),
  candidates: whole(1, 200),
  viewWindowMs: whole(1),
  clickWindowMs: whole(1),
  minClickDelayMs: whole(0),
  actionWindowMs: whole(1),
  dayStartMs: whole(0, DAY_MS - 1),
  burstMs: whole(0, DAY_MS),
  keepMs: whole(1, 1_000 * DAY_MS),
  maxAds: whole(1),
  maxOpen: whole(1),
});

const LIST_OPTIONS = defineOptions<PageOptions>("Ads.list", pageChecks(10_000));

/** Of views, clicks and actions. */
const EVENT_OPTIONS = defineOptions<{ readonly id?: string }>("Ads.view", {
  id: text,
});

const SWEEPER_OPTIONS = defineOptions<{ readonly everyMs?: number; readonly onError?: (error: unknown) => void }>(
  "Ads.sweeper",
  {
    everyMs: whole(1),
    onError: callback,
  },
);

/**
 * A network of ads: which one to show, what it costs, and what is learned from it. Budgets are never overspent.
 *
 * @example
 * const ads = new Ads(db, "site", { minClickDelayMs: 0 });
 * await ads.set("shoes", { model: "cpc", bidMicros: 250_000, words: ["running"] }); // → { status: "added" }
 * const shown = await ads.target({ content: "People who like running.", user: "ann" });
 * await ads.view(shown!.id); // → { status: "counted", chargedMicros: 0 }
 * await ads.click(shown!.id, { id: "click 1" }); // → { status: "counted", chargedMicros: 250000 }
 * await ads.action(shown!.id); // → { status: "counted", chargedMicros: 0 }
 * @example
 * const ads = new Ads(db, "site");
 * await ads.set("soap", { model: "cpm", bidMicros: 100_000, budget: { totalMicros: 5_000_000 } });
 * await ads.pause("soap"); // → true
 * (await ads.explain({})).impression; // → null
 * await ads.resume("soap"); // → true
 * (await ads.get("soap"))?.state; // → "on"
 * @example
 * const ads = new Ads(db, "site");
 * await ads.set("soap", { model: "cpm", bidMicros: 100_000 });
 * await ads.target({ viewed: true });
 * await ads.list({ limit: 10 }); // → { items: ["soap"], cursor: null }
 * (await ads.getMany(["soap", "none"])).map((ad) => ad?.spentMicros); // → [100, undefined]
 * (await ads.stats("soap"))?.[0]; // → { day: …, chosen: 1, views: 1, clicks: 0, actions: 0, spentMicros: 100, unpaid: 0, refused: 0 }
 * @example
 * const ads = new Ads(db, "site");
 * await ads.sweep(); // → 0
 * await ads.delete("none"); // → false
 * await ads.statsMany(["none"]); // → [null]
 * const sweeper = ads.sweeper({ everyMs: 10_000 }).start();
 * await sweeper.stop();
 */
export class Ads<T = unknown> {
  /** The network's name, as given. */
  readonly name: string;
  readonly #store: Store;
  readonly #codec: Codec<T> = json<T>();
  readonly #bases: Filled<string>;
  readonly #config: ReturnType<typeof configOf>;
  readonly #explore: "thompson" | "ucb" | "off";
  readonly #candidates: number;
  readonly #maxAds: number;
  readonly #names: NameIndex;

  constructor(store: Store, name: string, options: AdsOptions = {}) {
    aStore("Ads", store);
    OPTIONS.check(options);
    this.name = name;
    this.#store = store;
    const { prefix = "ads" } = options;
    const shards = options.shards ?? 1;
    this.#config = configOf(options);
    const { halfLifeMs, priorViews, matchLift, dayStartMs, maxOpen } = this.#config;
    const details = { shards, halfLifeMs, priorViews, matchLift, dayStartMs, maxOpen };
    this.#names = new NameIndex(store, { kind: "ads", prefix, details });
    const base = (shard: number): string => shardBase(prefix, name, shard, shards);
    this.#bases = [base(0), ...Array.from({ length: shards - 1 }, (_, nth) => base(nth + 1))];
    this.#explore = options.explore ?? "thompson";
    this.#candidates = options.candidates ?? 16;
    this.#maxAds = options.maxAds ?? 100_000;
  }

  // ---------------------------------------------------------------------------------------------- ads

  /** Adds an ad, or changes what it is; what it has spent and learned stays. "full": there are `maxAds`. */
  async set(id: string, spec: AdSpec<T>): Promise<SetOutcome> {
    word("id", id, 256);
    const fields = fieldsOf(spec, this.#codec);
    const base = this.#baseOf(id);
    const keys = { ad: adKey(base, id), ads: allKey(base) };
    const outcome = await this.#store.run(put, { ...keys, ...this.#at(base), ...fields, id, maxAds: this.#maxAds });
    this.#names.announce(this.name);
    return { status: outcome === 1 ? "added" : outcome === 0 ? "changed" : "full" };
  }

  /** Takes an ad out of the running; what it has shown is still counted and charged. False if there is none. */
  pause(id: string): Promise<boolean> {
    return this.#setState(id, "paused");
  }

  /** Puts a paused ad back into the running. False if there is none. */
  resume(id: string): Promise<boolean> {
    return this.#setState(id, "on");
  }

  #setState(id: string, state: string): Promise<boolean> {
    const base = this.#baseOf(word("id", id, 256));
    return this.#store.run(setState, { ad: adKey(base, id), ...this.#at(base), id, state });
  }

  /** Removes an ad with its report. False if there was none. */
  async delete(id: string): Promise<boolean> {
    const base = this.#baseOf(word("id", id, 256));
    const keys = { ad: adKey(base, id), ads: allKey(base), report: reportKey(base, id) };
    return this.#store.run(remove, { ...keys, ...this.#at(base), id });
  }

  /** An ad with its money and what is known about it, or null. */
  async get(id: string): Promise<Ad<T> | null> {
    const reply = await this.#store.run(read, this.#toRead(id));
    return reply === null ? null : toAd(id, reply, this.#codec);
  }

  /** The same of many, in one round trip. */
  async getMany(ids: readonly string[]): Promise<(Ad<T> | null)[]> {
    const replies = await this.#store.pipeline(ids.map((id) => read.with(this.#toRead(id))));
    return zipped(ids, replies).map(([id, reply]) => {
      if (reply instanceof Error) throw reply;
      return reply === null ? null : toAd(id, reply, this.#codec);
    });
  }

  #toRead(id: string) {
    const base = this.#baseOf(word("id", id, 256));
    return { ad: adKey(base, id), ...this.#at(base), id };
  }

  /** The ids of the ads, in their order as bytes. */
  async list(options: PageOptions = {}): Promise<Page<string>> {
    LIST_OPTIONS.check(options);
    const { limit = 100, cursor } = options;
    const from = cursor === undefined ? "-" : `(${cursor}`;
    const pages = await this.#store.pipeline(
      this.#bases.map((base) => ["ZRANGEBYLEX", allKey(base), from, "+", "LIMIT", 0, limit + 1]),
    );
    const ids = pages.flatMap((page) => {
      if (page instanceof Error) throw page;
      return asTexts(page);
    });
    ids.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const items = ids.slice(0, limit);
    return { items, cursor: ids.length > limit ? (items.at(-1) ?? null) : null };
  }

  /** What happened with an ad day by day, the latest first; days without anything are left out. Null if there is no such ad. */
  async stats(id: string): Promise<DayStats[] | null> {
    return only(await this.statsMany([id]));
  }

  /** The same of many, in one round trip. */
  async statsMany(ids: readonly string[]): Promise<(DayStats[] | null)[]> {
    const answers = await this.#store.pipeline(
      ids.flatMap((id) => {
        const base = this.#baseOf(word("id", id, 256));
        return [
          ["EXISTS", adKey(base, id)],
          ["HGETALL", reportKey(base, id)],
        ];
      }),
    );
    for (const answer of answers) if (answer instanceof Error) throw answer;
    return ids.map((_, at) => {
      if (answers[2 * at] === 0) return null;
      return toReport(asTexts(answers[2 * at + 1]), this.#config.dayStartMs);
    });
  }

  // ---------------------------------------------------------------------------------------------- showing

  /** Chooses the best ad for a page and reserves what it costs; null if there is none. */
  async target(request: TargetRequest): Promise<Impression<T> | null> {
    return (await this.#target(request)).impression;
  }

  /** The same, and what was considered. */
  explain(request: TargetRequest): Promise<Explained<T>> {
    return this.#target({ ...request, explain: true });
  }

  async #target(request: TargetRequest): Promise<Explained<T>> {
    const params = this.#params(request);
    const id = word("id", request.id ?? randomToken(), 128);
    const from = (shard: number, isQuote: boolean) => {
      const base = this.#bases[shard]!;
      return {
        ...params,
        ...this.#at(base),
        impression: impressionKey(base, id),
        caps: userKey(base, params.user),
        impressionId: id,
        isQuote: isQuote ? 1 : 0,
      };
    };
    if (this.#bases.length === 1) return this.#answer(0, id, await this.#store.run(target, from(0, false)));
    const quotes = await this.#store.pipeline(this.#bases.map((_, shard) => target.with(from(shard, true))));
    const offers = quotes.flatMap((quote, shard) => {
      if (quote instanceof Error) throw quote;
      return quote.chosen === null ? [] : [{ shard, chosen: quote.chosen, quote }];
    });
    const made = offers.find(({ chosen }) => chosen.isAgain);
    if (made !== undefined) return this.#answer(made.shard, id, made.quote);
    const candidates = quotes.flatMap((quote) => (quote instanceof Error ? [] : quote.candidates));
    // The shard of the best offer has the first say; it may be gone meanwhile, and then the next best is asked.
    offers.sort((a, b) => Number(b.chosen.value) - Number(a.chosen.value));
    for (const { shard } of offers) {
      const taken = await this.#store.run(target, from(shard, false));
      if (taken.chosen !== null) return this.#answer(shard, id, { candidates, chosen: taken.chosen });
    }
    return { impression: null, candidates: toCandidates(candidates) };
  }

  #params(request: TargetRequest) {
    const { locations = [], content = [], user = "", exclude = [], seed, viewed = false, explain = false } = request;
    if (locations.length > MAX_LOCATIONS) throw new InputError(`at most ${MAX_LOCATIONS} locations at once`);
    for (const location of locations) word("location", location, 128);
    if (exclude.length > MAX_EXCLUDED) throw new InputError(`at most ${MAX_EXCLUDED} ads can be excluded`);
    if (user !== "") word("user", user, 256);
    const words = pageWords(content, MAX_PAGE_WORDS);
    return {
      user,
      most: this.#candidates,
      seed: integer("seed", seed ?? Math.floor(this.#store.clock.random() * MAX_SEED), 0, MAX_SEED),
      explore: this.#explore,
      isViewed: viewed ? 1 : 0,
      isExplained: explain ? 1 : 0,
      placeCount: locations.length,
      wordCount: words.length,
      given: [...locations, ...words, ...exclude],
    };
  }

  #answer(
    shard: number,
    id: string,
    { candidates, chosen }: { readonly candidates: readonly string[][]; readonly chosen: Chosen | null },
  ): Explained<T> {
    if (chosen === null) return { impression: null, candidates: toCandidates(candidates) };
    return {
      impression: {
        id: `${shard}.${id}`,
        ad: chosen.ad,
        model: asModel(chosen.model),
        priceMicros: Number(chosen.price),
        valueMicros: Number(chosen.value),
        words: chosen.words.split("\n").filter((each) => each !== ""),
        data: chosen.data === "" ? undefined : this.#codec.decode(chosen.data),
      },
      candidates: toCandidates(candidates),
    };
  }

  // ---------------------------------------------------------------------------------------------- what becomes of it

  /** The ad is on somebody's screen. Charged now if it is paid by views. With the `id` of a call that was counted, the same answer. */
  async view(impression: string, options: { readonly id?: string } = {}): Promise<EventOutcome> {
    EVENT_OPTIONS.check(options);
    return this.#record("views", impression, options.id);
  }

  /** Somebody clicked on it, after the view. */
  async click(impression: string, options: { readonly id?: string } = {}): Promise<EventOutcome> {
    EVENT_OPTIONS.check(options);
    return this.#record("clicks", impression, options.id);
  }

  /** Somebody did what it is about (bought, signed up), after the click. */
  async action(impression: string, options: { readonly id?: string } = {}): Promise<EventOutcome> {
    EVENT_OPTIONS.check(options);
    return this.#record("actions", impression, options.id);
  }

  async #record(kind: Kind, impression: string, id = randomToken()): Promise<EventOutcome> {
    word("impression", impression, 256);
    const [shard, impressionId] = split(impression);
    const base = this.#bases[shard];
    if (base === undefined || impressionId === "") return { status: "refused", reason: "unknown" };
    const [status, said] = await this.#store.run(record, {
      ...this.#at(base),
      impression: impressionKey(base, impressionId),
      impressionId,
      kind,
      token: word("id", id, 128),
    });
    if (status === "counted") return { status, chargedMicros: Number(said) };
    return { status: "refused", reason: asRefusal(said) };
  }

  /** Ends impressions whose time is over and gives back what they reserve; targeting does it too, a few with each call. */
  async sweep(): Promise<number> {
    let ended = 0;
    for (const base of this.#bases) {
      let now: number;
      do {
        now = await this.#store.run(sweep, { open: openKey(base), ...this.#at(base), most: SWEPT_AT_ONCE });
        ended += now;
      } while (now === SWEPT_AT_ONCE);
    }
    return ended;
  }

  /** Sweeps every now and then, for networks that are not asked all the time. Any number of processes may run one. */
  sweeper(options: { readonly everyMs?: number; readonly onError?: (error: unknown) => void } = {}): BackgroundLoop {
    SWEEPER_OPTIONS.check(options);
    const { everyMs = 60_000, ...rest } = options;
    return new BackgroundLoop(this.#store, {
      everyMs: everyMs,
      round: () => this.sweep(),
      ...rest,
    });
  }

  #at(base: string) {
    return { base, ...this.#config };
  }

  #baseOf(ad: string): string {
    const count = this.#bases.length;
    if (count === 1) return this.#bases[0];
    return this.#bases[hashOf(ad) % count]!;
  }
}

function split(impression: string): [shard: number, id: string] {
  const at = impression.indexOf(".");
  const shard = impression.slice(0, Math.max(at, 0));
  return [/^\d{1,3}$/.test(shard) ? Number(shard) : -1, impression.slice(at + 1)];
}
