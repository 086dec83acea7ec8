/** Between what callers see and what the store holds. */
import { integer, word } from "../../base/checks.ts";
import { type Codec, encodeWithin } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { anything, choice, defineOptions, listOf, required, text, whole, within } from "../../base/options.ts";
import { asFields, asPairs, wordOf } from "../../base/replies.ts";
import { DAY_MS } from "./lua.ts";
import type { Ad, AdSpec, Candidate, DayStats, Model, Refusal } from "./types.ts";
import { adWords } from "./words.ts";

export const asModel = wordOf<Model>("cpm", "cpc", "cpa");
export const asRefusal = wordOf<Refusal>(
  "unknown",
  "removed",
  "duplicate",
  "late",
  "soon",
  "not-viewed",
  "not-clicked",
);
const asState = wordOf<Ad<unknown>["state"]>("on", "paused");
type Reason = NonNullable<Candidate["reason"]>;
const asReason = wordOf<Reason>("budget", "daily-budget", "pace", "excluded", "no-user", "cap");

/** A thousand million of the currency: sums stay far below 2^53. */
const MOST_MICROS = 1e15;
const MAX_LOCATIONS = 64;
const MAX_WORDS = 64;
/** Lists that one ad stands in, which are rewritten when its worth has moved. */
const MAX_LISTS = 512;
const MAX_DATA_BYTES = 16_384;
const MAX_CAP_VIEWS = 100;

const BUDGET = defineOptions<NonNullable<AdSpec<unknown>["budget"]>>("Ads.set.budget", {
  totalMicros: whole(1, MOST_MICROS),
  dailyMicros: whole(1, MOST_MICROS),
  pacing: choice("even", "asap"),
});

const CAP = defineOptions<NonNullable<AdSpec<unknown>["cap"]>>("Ads.set.cap", {
  views: required(whole(1, MAX_CAP_VIEWS)),
  everyMs: required(whole(1, 365 * DAY_MS)),
});

const SPEC = defineOptions<AdSpec<unknown>>("Ads.set", {
  model: required(choice("cpm", "cpc", "cpa")),
  bidMicros: required(whole(1, MOST_MICROS)),
  locations: listOf(text),
  words: listOf(text),
  budget: within(BUDGET),
  cap: within(CAP),
  reserve: choice("expected", "full"),
  data: anything,
});

/** What of an ad's hash the advertiser says, checked. */
export function fieldsOf<T>(spec: AdSpec<T>, codec: Codec<T>) {
  SPEC.check(spec);
  const { model, bidMicros, budget = {}, cap, reserve = "expected", locations = [], data } = spec;
  if (model === "cpm" && bidMicros % 1_000 !== 0) {
    throw new InputError("bidMicros for a thousand views must be a multiple of 1000");
  }
  const price = model === "cpm" ? bidMicros / 1_000 : bidMicros;
  const { totalMicros, dailyMicros, pacing = "even" } = budget;
  for (const [what, limit] of Object.entries({ totalMicros, dailyMicros })) {
    // Less would never be spent.
    if (limit !== undefined) integer(what, limit, price, MOST_MICROS);
  }
  const places = checkedPlaces(locations);
  const words = adWords(spec.words ?? [], MAX_WORDS);
  if (places.length * (1 + words.length) > MAX_LISTS) {
    throw new InputError(`locations × (words + 1) of an ad must not be more than ${MAX_LISTS}`);
  }
  const even = pacing === "even" ? 1 : 0;
  const isFull = reserve === "full" ? 1 : 0;
  const terms = [
    model,
    price,
    totalMicros ?? "-",
    dailyMicros ?? "-",
    even,
    cap?.views ?? 0,
    cap?.everyMs ?? 0,
    isFull,
  ];
  return {
    terms: terms.join(" "),
    places: places.join("\n"),
    words: words.join("\n"),
    data: data === undefined ? "" : encodeWithin(codec, data, MAX_DATA_BYTES, "the data of an ad"),
  };
}

function checkedPlaces(locations: readonly string[]): string[] {
  if (locations.length === 0) return ["*"];
  if (locations.length > MAX_LOCATIONS) throw new InputError(`an ad has at most ${MAX_LOCATIONS} locations`);
  for (const location of locations) {
    if (word("location", location, 128).includes("\n")) throw new InputError("a location must be one line");
  }
  return [...new Set(locations)];
}

type Read = readonly [string[], string, string, string, string, string | null, string, string[]];

export function toAd<T>(id: string, reply: Read, codec: Codec<T>): Ad<T> {
  const [flat, views, clicks, actions, mean, asleep, spentToday, bonuses] = reply;
  const stored = asFields(flat);
  const of = (field: string): string => stored.get(field) ?? "";
  const [model, price, total, daily, even, capViews, capMs, isFull] = of("terms").split(" ");
  const lines = (text: string): string[] => (text === "" ? [] : text.split("\n"));
  return {
    id,
    model: asModel(model),
    bidMicros: Number(price) * (model === "cpm" ? 1_000 : 1),
    locations: of("places") === "*" ? [] : lines(of("places")),
    words: lines(of("words")),
    budget: {
      ...(total === "-" ? {} : { totalMicros: Number(total) }),
      ...(daily === "-" ? {} : { dailyMicros: Number(daily) }),
      pacing: even === "1" ? "even" : "asap",
    },
    ...(capViews === "0" ? {} : { cap: { views: Number(capViews), everyMs: Number(capMs) } }),
    reserve: isFull === "1" ? "full" : "expected",
    ...(of("data") === "" ? {} : { data: codec.decode(of("data")) }),
    state: asState(of("state")),
    spentMicros: Number(of("spent")),
    spentTodayMicros: Number(spentToday),
    heldMicros: Number(of("held")),
    learned: {
      views: Number(views),
      clicks: Number(clicks),
      actions: Number(actions),
      ecpmMicros: Number(mean),
      bonusMicros: Object.fromEntries(asPairs(bonuses).map(([each, bonus]) => [each, Number(bonus)])),
    },
    resumesAt: asleep === null ? null : asleep === "inf" ? "never" : new Date(Number(asleep)),
  };
}

export function toCandidates(found: readonly (readonly string[])[]): Candidate[] {
  return found.map(([ad, ecpm, bonus, value, why]) => ({
    ad: ad!,
    ecpmMicros: Number(ecpm),
    bonusMicros: Number(bonus),
    valueMicros: value === "" ? null : Number(value),
    reason: why === "" ? null : asReason(why),
  }));
}

export function toReport(flat: string[], dayStartMs: number): DayStats[] {
  const days = new Map<number, Record<string, number>>();
  for (const [field, count] of asPairs(flat)) {
    const at = field.indexOf(":");
    const day = Number(field.slice(0, at));
    const counts = days.get(day) ?? {};
    counts[field.slice(at + 1)] = Number(count);
    days.set(day, counts);
  }
  return [...days]
    .sort(([a], [b]) => b - a)
    .map(([day, counts]) => ({
      day: new Date(day * DAY_MS + dayStartMs),
      chosen: counts.chosen ?? 0,
      views: counts.views ?? 0,
      clicks: counts.clicks ?? 0,
      actions: counts.actions ?? 0,
      spentMicros: counts.spent ?? 0,
      unpaid: counts.unpaid ?? 0,
      refused: counts.refused ?? 0,
    }));
}
