/** Sets and maps with expiring elements, multi-maps and local cached maps. */
import type { NamedThing } from "cinnabar";
import { ExpiringMap, ExpiringSet } from "cinnabar/expiring";
import { LocalMap } from "cinnabar/local-map";
import { MultiMap } from "cinnabar/multi-map";
import { bytesIn, pairs, scanned, type Text } from "../../values.ts";
import { clearing, deletingRow, KEY_FIELD, VALUE_FIELD } from "./actions.ts";
import {
  type Action,
  type Doing,
  type Figure,
  gone,
  integerOf,
  jsonIn,
  type Kind,
  keyOf,
  known,
  listeners,
  NOT_THERE,
  type Opening,
  PAGE,
  paged,
  plural,
  STORED,
  short,
} from "./kind.ts";

const MOST_VALUES = 200;

const expiringSet = ({ store, thing }: Opening): ExpiringSet =>
  new ExpiringSet(store, thing.name, { prefix: thing.prefix, ...known(thing, "maxItems") });
const expiringMap = ({ store, thing }: Opening): ExpiringMap<Text> =>
  new ExpiringMap<Text>(store, thing.name, { prefix: thing.prefix, codec: STORED, ...known(thing, "maxItems") });
const localMap = ({ store, thing }: Opening): LocalMap<Text> =>
  new LocalMap<Text>(store, thing.name, { prefix: thing.prefix, codec: STORED, ...known(thing, "maxItems") });
const multiMap = ({ store, thing }: Opening): MultiMap<Text> =>
  new MultiMap<Text>(store, thing.name, {
    prefix: thing.prefix,
    codec: STORED,
    values: thing.details.values === "list" ? "list" : "set",
    ...known(thing, "maxKeys"),
  });

const clearingAll = (what: string, run: (doing: Doing) => Promise<unknown>): Action =>
  clearing(what, `Everything in this ${what} is deleted. This cannot be undone.`, run);

const touching = (what: string, run: (doing: Doing, ttlMs: number) => Promise<boolean>): Action => ({
  name: "touch",
  title: `Set expiry of ${what}`,
  short: "Set expiry",
  on: "row",
  fields: [{ name: "seconds", label: "Expires in how many seconds", kind: "integer", initial: "3600" }],
  run: async (doing) => {
    const seconds = integerOf(doing.values, "seconds", "Seconds");
    if (!(await run(doing, seconds * 1_000))) throw gone(`the ${what} ${doing.row}`);
    return `The ${what} ${doing.row} expires in ${plural(seconds, "second")}.`;
  },
});

/** What can be done to a set or a map whose elements expire one by one. */
const expiringActions = (open: (opening: Opening) => ExpiringSet | ExpiringMap<Text>, what: string, whole: string) => [
  touching(what, (doing, ttlMs) => open(doing).touch(doing.row, { ttlMs })),
  deletingRow(what, (doing) => open(doing).delete(doing.row)),
  clearingAll(whole, (doing) => open(doing).clear()),
];

const EXPIRES = { title: "Expires", unit: "date" } as const;
const dateOf = (expiresAt: Date | null): string | null => expiresAt?.toISOString() ?? null;
const expiryFigure = (expiresAt: Date | null): Figure => ({ title: "Expires", value: dateOf(expiresAt), unit: "date" });

const KEY_QUESTION = { label: "Key", button: "Look up key" };

const valueFigure = (value: Text | null): Figure =>
  value === null ? NOT_THERE : { title: "Value", value, unit: "text" };

function full(thing: NamedThing, name: string): Pick<Figure, "of"> {
  const most = known(thing, name)[name];
  return most === undefined ? {} : { of: most };
}

const itemsFigure = (count: number, thing: NamedThing): Figure => ({
  title: "Items",
  value: count,
  unit: "number",
  ...full(thing, "maxItems"),
  note: "a full one refuses new items",
});

export const EXPIRING_SETS: Kind = {
  kind: "expiring-sets",
  title: "Sets with expiring members",
  about: "A set in which each member has a lifetime of its own.",
  figures: async (looking) => [itemsFigure(await expiringSet(looking).count(), looking.thing)],
  async lists(looking) {
    const { items, cursor } = await expiringSet(looking).list(paged(looking));
    return [
      {
        title: "Members, in the order in which they expire",
        empty: "The set is empty.",
        columns: [{ title: "Member", unit: "text" }, EXPIRES],
        rows: items.map(({ member, expiresAt }) => ({ id: member, cells: [member, dateOf(expiresAt)] })),
        actions: ["touch", "delete"],
        cursor,
      },
    ];
  },
  question: { label: "Member", button: "Look up member" },
  async answer(looking, item) {
    const found = await expiringSet(looking).get(item);
    if (found === null) return [NOT_THERE];
    return [{ title: "Answer", value: "there", unit: "state" }, expiryFigure(found.expiresAt)];
  },
  actions: expiringActions(expiringSet, "member", "set"),
};

export const EXPIRING_MAPS: Kind = {
  kind: "expiring-maps",
  title: "Maps with expiring entries",
  about: "A map in which each entry has a lifetime of its own.",
  figures: async (looking) => [itemsFigure(await expiringMap(looking).count(), looking.thing)],
  async lists(looking) {
    const { items, cursor } = await expiringMap(looking).list(paged(looking));
    return [
      {
        title: "Entries, in the order in which they expire",
        empty: "The map is empty.",
        columns: [{ title: "Key", unit: "text" }, { title: "Value", unit: "text" }, EXPIRES],
        rows: items.map(({ key, value, expiresAt }) => ({
          id: key,
          cells: [key, value, dateOf(expiresAt)],
        })),
        actions: ["touch", "delete"],
        cursor,
      },
    ];
  },
  question: KEY_QUESTION,
  async answer(looking, item) {
    const map = expiringMap(looking);
    const [value, expiry] = await Promise.all([map.get(item), map.expiry(item)]);
    return [valueFigure(value), ...(expiry === null ? [] : [expiryFigure(expiry.expiresAt)])];
  },
  actions: expiringActions(expiringMap, "entry", "map"),
};

export const MULTI_MAPS: Kind = {
  kind: "multi-maps",
  title: "Multi-maps",
  about: "A map with several values for a key.",
  async figures(looking) {
    const { keys, values } = await multiMap(looking).counts();
    return [
      {
        title: "Keys",
        value: keys,
        unit: "number",
        ...full(looking.thing, "maxKeys"),
        note: "a full map refuses new keys",
      },
      {
        title: "Values",
        value: values,
        unit: "number",
        note: looking.thing.details.values === "list" ? "lists" : "sets",
      },
    ];
  },
  async lists(looking) {
    const map = multiMap(looking);
    const { items, cursor } = await map.list(paged(looking));
    const counts = await Promise.all(items.map((key) => map.count(key)));
    return [
      {
        title: "Keys",
        empty: "The map is empty.",
        columns: [
          { title: "Key", unit: "text" },
          { title: "Values", unit: "number" },
        ],
        rows: items.map((key, at) => ({ id: key, cells: [key, counts[at]!] })),
        actions: ["delete"],
        asks: true,
        cursor,
      },
    ];
  },
  question: { label: "Key", button: "Show values" },
  async answer(looking, item) {
    const values = await multiMap(looking).get(item);
    if (values.length === 0) return [NOT_THERE];
    return values.slice(0, MOST_VALUES).map((value, nth) => ({
      title: `Value ${nth + 1} of ${values.length}`,
      value,
      unit: "text",
    }));
  },
  actions: [
    {
      name: "add",
      title: "Add value to map",
      on: "thing",
      fields: [KEY_FIELD, VALUE_FIELD],
      run: async (doing) => {
        const { key = "" } = doing.values;
        const { status } = await multiMap(doing).add(key, jsonIn(doing.values));
        if (status === "full") return `The map is full: nothing was added to ${key}.`;
        return status === "added" ? `A value was added to ${key}.` : `${key} had this value already.`;
      },
    },
    deletingRow("key", (doing) => multiMap(doing).delete(doing.row)),
    clearingAll("multi-map", (doing) => multiMap(doing).clear()),
  ],
};

export const LOCAL_MAPS: Kind = {
  kind: "local-maps",
  title: "Local cached maps",
  about: "A map that processes read from their own memory; every change tells them to forget what they hold.",
  async figures(looking) {
    const { store, thing } = looking;
    const [count, listening] = await Promise.all([
      localMap(looking).count(),
      listeners(store, keyOf(thing, ":changes")),
    ]);
    return [
      itemsFigure(count, thing),
      { title: "Processes listening", value: listening, unit: "number", note: "hold entries in memory" },
    ];
  },
  async lists({ store, thing, after }) {
    const words = ["HSCAN", keyOf(thing, ":values"), after ?? "0", "COUNT", PAGE];
    const { next, found } = scanned(await store.send(words, { buffers: true }));
    const rows = pairs(found).map(([name, value]) => {
      const key = name.toString();
      return { id: key, cells: [key, short(value)] };
    });
    return [
      {
        title: "Entries",
        empty: "No entry is in this part of the map.",
        columns: [
          { title: "Key", unit: "text" },
          { title: "Value", unit: "text" },
        ],
        rows,
        actions: ["delete"],
        cursor: next === "0" ? null : next,
      },
    ];
  },
  question: KEY_QUESTION,
  async answer({ store, thing }, item) {
    const found = await store.send(["HGET", keyOf(thing, ":values"), item], { buffers: true });
    return [valueFigure(found === null ? null : short(bytesIn(found)))];
  },
  actions: [
    {
      name: "set",
      title: "Set entry of map",
      on: "thing",
      fields: [KEY_FIELD, VALUE_FIELD],
      run: async (doing) => {
        const { key = "" } = doing.values;
        const done = await localMap(doing).set(key, jsonIn(doing.values));
        return done ? `${key} was set; processes read the new value.` : `The map is full: ${key} was not set.`;
      },
    },
    deletingRow("entry", (doing) => localMap(doing).delete(doing.row)),
    clearingAll("map", (doing) => localMap(doing).clear()),
  ],
};
