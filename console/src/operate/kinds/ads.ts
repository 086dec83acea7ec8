/** Networks of ads: what each ad is paid for, where it is shown, what came of it, and what is left of its budget. */
import { type Ad, Ads, type DayStats } from "cinnabar/ads";
import { sound } from "../../values.ts";
import { deletingRow, onRow } from "./actions.ts";
import {
  type Cell,
  type Figure,
  gone,
  idIn,
  type Kind,
  keyOf,
  type List,
  lengthOf,
  NOT_THERE,
  numberIn,
  type Opening,
  paged,
  plural,
  type Row,
  shardKey,
  shortText,
} from "./kind.ts";

/** Ads of one page: each has a report of up to three months. */
const MOST_ADS = 25;
const MOST_DAYS = 31;
const SHARD_MARK = "/";
const MICROS = 1_000_000;

/** The registry says what is needed to read an ad, and to put it back where it belongs among the others. */
const ads = ({ store, thing }: Opening): Ads =>
  new Ads(store, thing.name, {
    prefix: thing.prefix,
    shards: numberIn(thing, "shards"),
    halfLifeMs: numberIn(thing, "halfLifeMs"),
    priorViews: numberIn(thing, "priorViews"),
    matchLift: numberIn(thing, "matchLift"),
    dayStartMs: numberIn(thing, "dayStartMs"),
    maxOpen: numberIn(thing, "maxOpen"),
  });

/** A shard's keys are those of a network of its own name. */
function keysOf({ thing }: Opening, last: string): string[] {
  const shards = numberIn(thing, "shards");
  if (shards === 1) return [keyOf(thing, last)];
  return Array.from({ length: shards }, (_, nth) => shardKey(thing, `${SHARD_MARK}${nth}`, last));
}

async function sizeOf({ store }: Opening, keys: readonly string[]): Promise<number> {
  const sizes = await store.pipeline(keys.map((key) => ["ZCARD", key]));
  return sizes.reduce<number>((sum, size) => sum + Number(sound(size)), 0);
}

const money = (micros: number): number => micros / MICROS;

/** An estimate: four digits say enough. */
const ecpmOf = (micros: number): number => Number(money(micros).toPrecision(4));

const PAID_FOR = { cpm: "1\u00a0000 views", cpc: "a click", cpa: "an action" } as const;

function stateOf({ state, resumesAt }: Ad<unknown>): string {
  if (state === "paused") return "paused";
  if (resumesAt === null) return "on";
  return resumesAt === "never" ? "out of budget" : "waiting";
}

function targetOf({ locations, words }: Ad<unknown>): string {
  const places = locations.length === 0 ? "everywhere" : locations.join(", ");
  return shortText(words.length === 0 ? places : `${places}; ${words.join(", ")}`);
}

function budgetOf({ budget: { totalMicros, dailyMicros } = {} }: Ad<unknown>): string | null {
  const parts = [
    ...(totalMicros === undefined ? [] : [`${money(totalMicros)} in all`]),
    ...(dailyMicros === undefined ? [] : [`${money(dailyMicros)} a day`]),
  ];
  return parts.length === 0 ? null : parts.join(", ");
}

const sumOf = (days: readonly DayStats[], what: "views" | "clicks" | "actions"): number =>
  days.reduce((sum, day) => sum + day[what], 0);

function rowOf(ad: Ad<unknown>, days: readonly DayStats[]): Row {
  const cells: Cell[] = [
    ad.id,
    stateOf(ad),
    `${money(ad.bidMicros)} for ${PAID_FOR[ad.model]}`,
    ecpmOf(ad.learned.ecpmMicros),
    targetOf(ad),
    sumOf(days, "views"),
    sumOf(days, "clicks"),
    sumOf(days, "actions"),
    money(ad.spentMicros),
    budgetOf(ad),
  ];
  return { id: ad.id, cells, actions: [ad.state === "paused" ? "resume" : "pause", "delete"] };
}

const dayList = (id: string, days: readonly DayStats[]): List => ({
  title: `Days of ${id}`,
  empty: "Nothing has happened with this ad.",
  columns: [
    { title: "Day", unit: "text" },
    { title: "Chosen", unit: "number" },
    { title: "Views", unit: "number" },
    { title: "Clicks", unit: "number" },
    { title: "Actions", unit: "number" },
    { title: "Spent", unit: "amount" },
    { title: "Not paid", unit: "number" },
    { title: "Refused", unit: "number" },
  ],
  rows: days.slice(0, MOST_DAYS).map(({ day, chosen, views, clicks, actions, spentMicros, unpaid, refused }) => {
    const date = day.toISOString().slice(0, 10);
    return { id: date, cells: [date, chosen, views, clicks, actions, money(spentMicros), unpaid, refused] };
  }),
  actions: [],
  cursor: null,
  isWhole: true,
});

const spending = (title: string, micros: number, most: number | undefined): Figure => ({
  ...{ title, value: money(micros), unit: "amount" },
  ...(most !== undefined && { of: money(most) }),
});

function figuresOf(ad: Ad<unknown>): Figure[] {
  const { learned, budget = {}, cap, reserve, resumesAt, data } = ad;
  return [
    { title: "State", value: stateOf(ad), unit: "state" },
    ...(resumesAt instanceof Date
      ? [{ title: "May be shown again", value: resumesAt.toISOString(), unit: "date" } as const]
      : []),
    { title: "Bid", value: money(ad.bidMicros), unit: "amount", note: `for ${PAID_FOR[ad.model]}` },
    {
      title: "eCPM",
      value: ecpmOf(learned.ecpmMicros),
      unit: "amount",
      note: "worth of 1 000 views on average",
    },
    spending("Spent", ad.spentMicros, budget.totalMicros),
    spending("Spent today", ad.spentTodayMicros, budget.dailyMicros),
    {
      title: "Reserved",
      value: money(ad.heldMicros),
      unit: "amount",
      note: `for open impressions; ${reserve === "full" ? "the whole price of each" : "the expected cost of each"}`,
    },
    { title: "Locations", value: ad.locations.length === 0 ? "everywhere" : ad.locations.join(", "), unit: "text" },
    ...ad.words.map((word): Figure => {
      const bonus = ecpmOf(learned.bonusMicros[word] ?? 0);
      return { title: `Word ${word}`, value: bonus, unit: "amount", note: "added to the eCPM on its pages" };
    }),
    ...(cap === undefined
      ? []
      : [
          {
            title: "Cap",
            value: cap.views,
            unit: "number",
            note: `views of a user in ${lengthOf(cap.everyMs)}`,
          } as const,
        ]),
    ...(data === undefined
      ? []
      : [{ title: "Data", value: shortText(JSON.stringify(data) ?? ""), unit: "text" } as const]),
  ];
}

export const ADS: Kind = {
  kind: "ads",
  title: "Ads",
  shardMark: SHARD_MARK,
  about: "Which ad to show on a page, what it costs, and what is learned from it. Money is in units of the currency.",
  async figures(looking) {
    const [count, asleep, open] = await Promise.all(
      [":ads", ":asleep", ":open"].map((last) => sizeOf(looking, keysOf(looking, last))),
    );
    return [
      { title: "Ads", value: count!, unit: "number" },
      {
        title: "Cannot be paid for now",
        value: asleep!,
        unit: "number",
        note: "their budget or its pace leaves nothing",
      },
      {
        title: "Open impressions",
        value: open!,
        unit: "number",
        of: numberIn(looking.thing, "maxOpen") * numberIn(looking.thing, "shards"),
        note: "a view, a click or an action may follow",
      },
    ];
  },
  async lists(looking) {
    const network = ads(looking);
    const { items: ids, cursor } = await network.list({ ...paged(looking), limit: MOST_ADS });
    const asked = looking.item === undefined ? null : idIn(looking.item);
    const [found, reports, days] = await Promise.all([
      network.getMany(ids),
      network.statsMany(ids),
      asked === null ? null : network.stats(asked),
    ]);
    const all: List = {
      title: "Ads, by id",
      empty: "The network has no ads.",
      columns: [
        { title: "Ad", unit: "text" },
        { title: "State", unit: "state" },
        { title: "Bid", unit: "text" },
        { title: "eCPM", unit: "amount" },
        { title: "Shown on", unit: "text" },
        { title: "Views", unit: "number" },
        { title: "Clicks", unit: "number" },
        { title: "Actions", unit: "number" },
        { title: "Spent", unit: "amount" },
        { title: "Budget", unit: "text" },
      ],
      rows: found.flatMap((ad, at) => (ad === null ? [] : [rowOf(ad, reports[at] ?? [])])),
      actions: [],
      asks: true,
      cursor,
    };
    return days === null ? [all] : [dayList(asked!, days), all];
  },
  question: { label: "Id of an ad", button: "Look up ad" },
  async answer(looking, item) {
    const id = idIn(item);
    const ad = id === null ? null : await ads(looking).get(id);
    return ad === null ? [NOT_THERE] : figuresOf(ad);
  },
  actions: [
    onRow("pause", "Pause ad", "Pause", async (doing) => {
      if (!(await ads(doing).pause(doing.row))) throw gone(`the ad ${doing.row}`);
      return `The ad ${doing.row} is paused: it is not chosen until it is resumed.`;
    }),
    onRow("resume", "Resume ad", "Resume", async (doing) => {
      if (!(await ads(doing).resume(doing.row))) throw gone(`the ad ${doing.row}`);
      return `The ad ${doing.row} can be chosen again.`;
    }),
    {
      ...deletingRow("ad", (doing) => ads(doing).delete(doing.row)),
      warning: "Its report is deleted with it, and clicks on it are charged to nobody. This cannot be undone.",
    },
    {
      name: "sweep",
      title: "End overdue impressions",
      on: "thing",
      fields: [],
      run: async (doing) =>
        `${plural(await ads(doing).sweep(), "impression was", "impressions were")} ended, and what they reserved is free.`,
    },
  ],
};
