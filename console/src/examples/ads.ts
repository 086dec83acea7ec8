/**
 * Ads: pages with a place for one, and the advertisers behind them (`cinnabar/ads`). A page shows which ad was chosen
 * and why the others were not, clicks on it, and watches budgets go down; a crowd can be sent, so that what people really click on is
 * learned within a second.
 */
import { type AdSpec, Ads, type EventOutcome } from "cinnabar/ads";
import { announce, eventsRoute } from "../events.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, boolean, integer, object, oneOf, string } from "../schema.ts";
import { untraced } from "../trace.ts";
import { forEachOf, perStore } from "../work.ts";
import { type Creative, LOCATIONS, PAGES, SAMPLE_ADS } from "./ads-sample.ts";
import { cycled } from "./cycled.ts";
import { type Example, type Progress, prefixOf } from "./example.ts";
import { needVisitor } from "./visitor.ts";

const group = "Examples";
const NAME = "ads";
const PREFIX = prefixOf(NAME, "ads");
const MOST_ADS = 40;

/** One for people, who cannot click at once, and one for crowds, who can. What is known counts soon. */
const networks = perStore((store) => {
  const options = { prefix: PREFIX, priorViews: 100, maxAds: MOST_ADS };
  return {
    people: new Ads<Creative>(store, "site", { ...options, minClickDelayMs: 200 }),
    crowd: new Ads<Creative>(store, "site", { ...options, minClickDelayMs: 0 }),
  };
});

export type AdView = Awaited<ReturnType<typeof adViews>>[number];

async function adViews(context: Context) {
  const { people: ads } = networks(context);
  const { items: ids } = await ads.list({ limit: MOST_ADS });
  const [all, reports] = await Promise.all([ads.getMany(ids), ads.statsMany(ids)]);
  return all.flatMap((ad, nth) => {
    if (ad === null) return [];
    const { learned, data, ...rest } = ad;
    const [today] = reports[nth] ?? [];
    return [
      {
        ...rest,
        text: data?.text ?? "",
        ecpmMicros: Math.round(learned.ecpmMicros),
        today: today ?? null,
      },
    ];
  });
}

interface NewAd {
  readonly id: string;
  readonly text: string;
  readonly model: "cpm" | "cpc" | "cpa";
  readonly bidMicros: number;
  readonly locations: readonly string[];
  readonly words: readonly string[];
  readonly dailyMicros?: number;
  readonly totalMicros?: number;
  readonly cap?: number;
}

async function putAd(context: Context, ad: NewAd): Promise<{ status: string }> {
  const { id, text, model, bidMicros, locations, words, dailyMicros, totalMicros, cap } = ad;
  const spec: AdSpec<Creative> = {
    model,
    bidMicros,
    locations,
    words,
    budget: { ...(dailyMicros !== undefined && { dailyMicros }), ...(totalMicros !== undefined && { totalMicros }) },
    ...(cap !== undefined && { cap: { views: cap, everyMs: 3_600_000 } }),
    data: { text, clicksOf1000: 30, actionsOf1000: 50 },
  };
  const { status } = await networks(context).people.set(id.trim(), spec);
  if (status === "full") throw new Problem(409, "FULL", `there are ${MOST_ADS} ads; remove one first`);
  await announce(context.store, NAME, { type: "ad", id });
  return { status };
}

async function setState(context: Context, id: string, isPaused: boolean): Promise<void> {
  const { people: ads } = networks(context);
  if (!(await (isPaused ? ads.pause(id) : ads.resume(id)))) throw new Problem(404, "NO_AD", "there is no such ad");
  await announce(context.store, NAME, { type: "ad", id });
}

async function removeAd(context: Context, id: string): Promise<void> {
  if (!(await networks(context).people.delete(id))) throw new Problem(404, "NO_AD", "there is no such ad");
  await announce(context.store, NAME, { type: "ad", id });
}

async function show(context: Context, visitor: string, location: string, page: number) {
  const { people: ads } = networks(context);
  const content = PAGES[page]?.text;
  if (content === undefined) throw new Problem(404, "NO_PAGE", "there is no such page");
  const request = { locations: [location], content, user: visitor, viewed: true };
  const { impression, candidates } = await ads.explain(request);
  if (impression !== null) await announce(context.store, NAME, { type: "shown", id: impression.ad });
  const shown = impression && { ...impression, text: impression.data?.text ?? "", data: undefined };
  const byValue = [...candidates].sort((a, b) => (b.valueMicros ?? -1) - (a.valueMicros ?? -1));
  return { impression: shown, candidates: byValue };
}

const REFUSALS: Readonly<Record<Extract<EventOutcome, { status: "refused" }>["reason"], string>> = {
  duplicate: "that was counted already",
  soon: "nobody clicks that fast",
  late: "that was too long ago",
  "not-viewed": "nobody has seen it yet",
  "not-clicked": "nobody has clicked on it yet",
  removed: "the ad is not there any more",
  unknown: "there is no such impression",
};

async function report(context: Context, impression: string, kind: "click" | "action"): Promise<EventOutcome> {
  const outcome = await networks(context).people[kind](impression);
  if (outcome.status === "refused")
    throw new Problem(409, outcome.reason.toUpperCase().replace("-", "_"), REFUSALS[outcome.reason]);
  await announce(context.store, NAME, { type: kind });
  return outcome;
}

/** Visitors who look at pages at random and click as people do: the same for the same number. */
async function sendCrowd(context: Context, visitors: number, from: number) {
  const { crowd: ads } = networks(context);
  let state = from + 1;
  const random = (): number => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
  const visits = Array.from({ length: visitors }, (_, nth) => ({
    location: cycled(LOCATIONS, Math.floor(random() * LOCATIONS.length)),
    page: cycled(PAGES, Math.floor(random() * PAGES.length)),
    user: `Visitor ${(from + nth) % 500}`,
    seed: Math.floor(random() * 1e9),
    luck: [random() * 1_000, random() * 1_000] as const,
  }));
  const counts = new Map<string, { shown: number; clicks: number; actions: number; chargedMicros: number }>();
  let nothing = 0;
  const begin = performance.now();
  await untraced(() =>
    forEachOf(visits, async ({ location, page, user, seed, luck }) => {
      const shown = await ads.target({ locations: [location], content: page.text, user, seed, viewed: true });
      if (shown === null) return void nothing++;
      const count = counts.get(shown.ad) ?? { shown: 0, clicks: 0, actions: 0, chargedMicros: 0 };
      counts.set(shown.ad, count);
      count.shown++;
      if (shown.model === "cpm") count.chargedMicros += shown.priceMicros;
      // Who has come for the words clicks twice as gladly.
      const appeal = (shown.data?.clicksOf1000 ?? 0) * (shown.words.length > 0 ? 2 : 1);
      if (luck[0] >= appeal) return;
      const click = await ads.click(shown.id);
      count.clicks++;
      const action = luck[1] < (shown.data?.actionsOf1000 ?? 0) ? await ads.action(shown.id) : null;
      if (action !== null) count.actions++;
      for (const each of [click, action]) if (each?.status === "counted") count.chargedMicros += each.chargedMicros;
    }),
  );
  const micros = Math.round((performance.now() - begin) * 1_000);
  await announce(context.store, NAME, { type: "crowd" });
  const byAd = [...counts].map(([id, count]) => ({ id, ...count })).sort((a, b) => b.shown - a.shown);
  return { visitors, nothing, micros, ads: byAd };
}

const ID = string({ minLength: 1, maxLength: 40, pattern: "^[^\\u0000-\\u001f]+$" });
const MICROS = integer({ minimum: 1, maximum: 1e12, description: "In millionths of a euro." });
const WORDS = array(string({ minLength: 1, maxLength: 60 }), { maxItems: 8 });
const AD = object(
  {
    id: ID,
    text: string({ maxLength: 120 }),
    model: oneOf(["cpm", "cpc", "cpa"], "Paid for a thousand views, a click, or an action."),
    bidMicros: MICROS,
    locations: WORDS,
    words: WORDS,
    dailyMicros: MICROS,
    totalMicros: MICROS,
    cap: integer({ minimum: 1, maximum: 20, description: "Views by one person in an hour." }),
  },
  ["dailyMicros", "totalMicros", "cap"],
);

const ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/examples/ads/view",
    group,
    summary: "The ads with their money and what is known about them; the pages and places to show them at.",
    answers: "Those.",
    run: async (context) => ({ ads: await adViews(context), pages: PAGES, locations: LOCATIONS }),
  }),
  route({
    method: "POST",
    url: "/api/examples/ads/ads",
    group,
    summary: "Adds an ad, or changes it.",
    body: AD,
    answers: "`added` or `changed`.",
    run: (context, { body }) => putAd(context, body),
  }),
  route({
    method: "POST",
    url: "/api/examples/ads/ads/:id/state",
    group,
    summary: "Pauses an ad, or lets it go on.",
    params: object({ id: ID }),
    body: object({ paused: boolean() }),
    answers: "Nothing.",
    run: (context, { params, body }) => setState(context, params.id, body.paused),
  }),
  route({
    method: "DELETE",
    url: "/api/examples/ads/ads/:id",
    group,
    summary: "Removes an ad.",
    params: object({ id: ID }),
    answers: "Nothing.",
    run: (context, { params }) => removeAd(context, params.id),
  }),
  route({
    method: "POST",
    url: "/api/examples/ads/show",
    group,
    summary: "Opens a page somewhere: chooses an ad for it and counts the view.",
    body: object({ location: oneOf(LOCATIONS), page: integer({ minimum: 0, maximum: PAGES.length - 1 }) }),
    answers: "The ad, or null, and what was considered.",
    run: (context, { body, request }) => show(context, needVisitor(request), body.location, body.page),
  }),
  route({
    method: "POST",
    url: "/api/examples/ads/events",
    group,
    summary: "Somebody clicked on an ad, or did what it is about.",
    body: object({ impression: string({ minLength: 3, maxLength: 200 }), kind: oneOf(["click", "action"]) }),
    answers: "What was charged.",
    run: (context, { body }) => report(context, body.impression, body.kind),
  }),
  route({
    method: "POST",
    url: "/api/examples/ads/crowd",
    group,
    summary: "Sends visitors to all pages, who click as people do.",
    body: object({
      visitors: integer({ minimum: 1, maximum: 500, default: 200 }),
      from: integer({ minimum: 0, maximum: 1e6, default: 0, description: "The same twice is the same visitors." }),
    }),
    answers: "How often each ad was shown and clicked.",
    run: (context, { body }) => sendCrowd(context, body.visitors, body.from),
  }),
  eventsRoute(NAME, "What is shown, clicked and changed, as server-sent events."),
];

async function make(context: Context, progress: Progress): Promise<void> {
  const { people: ads } = networks(context);
  await forEachOf(
    SAMPLE_ADS,
    async ({ id, spec }) => {
      if ((await ads.get(id)) === null) await ads.set(id, spec);
    },
    (done) => progress(done, SAMPLE_ADS.length),
  );
}

export const ads: Example = {
  name: NAME,
  title: "Ads",
  about:
    "Pages show the ad that is worth most there. What people click on is learned, and no budget is ever overspent.",
  components: ["ads"],
  routes: ROUTES,
  make,
};
