/** What the example of ads begins with: advertisers, and pages to show their ads on. */
import type { AdSpec } from "cinnabar/ads";

export interface Creative {
  readonly text: string;
  /** How many of a thousand who see it would click, and how many of those buy: what the network does not know and has to learn. */
  readonly clicksOf1000: number;
  readonly actionsOf1000: number;
}

export const LOCATIONS = ["Berlin", "London", "New York", "Tokyo"] as const;

export const PAGES: readonly { readonly title: string; readonly text: string }[] = [
  {
    title: "A weekend on two wheels",
    text: "The bicycle is the best way to see the coast. Pack light, take a map, check the brakes and the chain of the bicycle, and leave the hills for the second day. A good saddle and rain clothes are worth their price.",
  },
  {
    title: "How caches go stale",
    text: "Every cache is a promise about the past. Redis keeps the promise in memory, the database keeps the truth; a queue between them carries the news. Measure before you cache, and cache what you have measured.",
  },
  {
    title: "Coffee at altitude",
    text: "Water boils sooner in the mountains, and coffee brewed with it is thin. Grind finer, take more coffee, and insulate the pot. On a hike a light brewer and fresh beans weigh less than disappointment.",
  },
  {
    title: "The garden in May",
    text: "Plant tomatoes when the nights are warm. Soil that was dug in autumn takes seeds gladly; tools that were oiled in winter do not complain. Water in the morning, and leave a corner of the garden for the bees.",
  },
];

const euros = (amount: number): number => Math.round(amount * 1_000_000);

/** Name, what the advertiser says, and what people think of it. */
const SAMPLE: readonly (readonly [string, Omit<AdSpec<Creative>, "data">, Creative])[] = [
  [
    "Coastline Cycles",
    { model: "cpc", bidMicros: euros(0.4), words: ["bicycle", "chain", "saddle"], budget: { dailyMicros: euros(20) } },
    { text: "Bicycles that like salt water.", clicksOf1000: 60, actionsOf1000: 50 },
  ],
  [
    "Drip & Daughters",
    { model: "cpc", bidMicros: euros(0.3), words: ["coffee", "beans"], budget: { dailyMicros: euros(20) } },
    { text: "Beans roasted this week.", clicksOf1000: 90, actionsOf1000: 80 },
  ],
  [
    "Memory Lane Hosting",
    { model: "cpa", bidMicros: euros(15), words: ["redis", "cache", "queue"], budget: { totalMicros: euros(300) } },
    { text: "Your cache, kept warm.", clicksOf1000: 70, actionsOf1000: 120 },
  ],
  [
    "Green Thumb",
    { model: "cpc", bidMicros: euros(0.25), words: ["garden", "seeds", "tomatoes"], locations: ["London", "Berlin"] },
    { text: "Tools that outlive their owners.", clicksOf1000: 40, actionsOf1000: 60 },
  ],
  [
    "Harbour Bank",
    { model: "cpm", bidMicros: euros(0.6), budget: { dailyMicros: euros(1), pacing: "even" } },
    { text: "Money sleeps soundly here.", clicksOf1000: 5, actionsOf1000: 10 },
  ],
  [
    "Night Train",
    { model: "cpm", bidMicros: euros(14), locations: ["Berlin", "London"], cap: { views: 3, everyMs: 3_600_000 } },
    { text: "Asleep in Berlin, awake in London.", clicksOf1000: 20, actionsOf1000: 30 },
  ],
  [
    "Tokyo Rain",
    { model: "cpc", bidMicros: euros(0.5), locations: ["Tokyo"], words: ["rain", "hike"], reserve: "full" },
    { text: "An umbrella that folds into a haiku.", clicksOf1000: 30, actionsOf1000: 90 },
  ],
  [
    "One Cent Wonders",
    { model: "cpc", bidMicros: euros(0.01) },
    { text: "Everything costs a cent. Nothing works.", clicksOf1000: 120, actionsOf1000: 5 },
  ],
  [
    "Grand Claims Inc.",
    { model: "cpc", bidMicros: euros(0.9), budget: { totalMicros: euros(5), pacing: "asap" } },
    { text: "You will not believe what happens next.", clicksOf1000: 4, actionsOf1000: 1 },
  ],
];

export const SAMPLE_ADS: readonly { readonly id: string; readonly spec: AdSpec<Creative> }[] = SAMPLE.map(
  ([id, spec, data]) => ({ id, spec: { ...spec, data } }),
);
