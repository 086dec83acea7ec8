/** Latches, barriers and sequences of ids. */
import { Barriers } from "cinnabar/barriers";
import { Ids } from "cinnabar/ids";
import { Latches } from "cinnabar/latches";
import { deleting } from "./actions.ts";
import { figureOf, gone, integerOf, type Kind, keyOf, listeners, numberIn, type Opening, plural } from "./kind.ts";

const latches = ({ store, thing }: Opening): Latches => new Latches(store, { prefix: thing.prefix });
const barriers = ({ store, thing }: Opening): Barriers =>
  new Barriers(store, { prefix: thing.prefix, parties: numberIn(thing, "parties") });
const ids = ({ store, thing }: Opening): Ids => new Ids(store, { prefix: thing.prefix });

export const LATCHES: Kind = {
  kind: "latches",
  title: "Latches",
  about: "Processes wait until so many things have happened. An open latch stays open.",
  async figures(looking) {
    const { store, thing } = looking;
    const [state, waiting] = await Promise.all([
      latches(looking).inspect(thing.name),
      listeners(store, keyOf(thing, ":news")),
    ]);
    if (state === null)
      return [{ title: "State", value: "expired", unit: "state", note: "it was deleted, or its time has run out" }];
    const { count, left, ttlMs } = state;
    return [
      { title: "State", value: left === 0 ? "open" : "closed", unit: "state" },
      {
        title: "Counted down",
        value: count - left,
        unit: "number",
        of: count,
        note: left === 0 ? "" : `${left} missing`,
      },
      { title: "Processes waiting", value: waiting, unit: "number" },
      { title: "Expires in", value: ttlMs, unit: "ms" },
    ];
  },
  offers: (action, figures) => {
    const state = figureOf(figures, "State");
    return action === "countDown" ? state === "closed" : state !== "expired";
  },
  actions: [
    {
      name: "countDown",
      title: "Count down latch",
      on: "thing",
      fields: [{ name: "by", label: "By how much", kind: "integer", initial: "1" }],
      warning: "Processes that wait go on once nothing is missing. A latch cannot be closed again.",
      run: async (doing) => {
        const left = await latches(doing).countDown(doing.thing.name, {
          by: integerOf(doing.values, "by", "By how much"),
        });
        if (left === null) throw gone(`the latch ${doing.thing.name}`);
        return left === 0
          ? `The latch ${doing.thing.name} is open.`
          : `${plural(left, "count is missing", "counts are missing")}.`;
      },
    },
    deleting("latch", "Processes that wait for it are told that there is none.", (doing) =>
      latches(doing).delete(doing.thing.name),
    ),
  ],
};

export const BARRIERS: Kind = {
  kind: "barriers",
  title: "Barriers",
  about: "Parties wait for each other, go on together, and may meet again.",
  async figures(looking) {
    const { generation, parties, arrived } = await barriers(looking).inspect(looking.thing.name);
    return [
      {
        title: "Arrived",
        value: arrived,
        unit: "number",
        of: parties,
        note: `${plural(parties - arrived, "party", "parties")} missing`,
      },
      { title: "Generation", value: generation, unit: "number", note: "how often all have met" },
    ];
  },
  async lists(looking) {
    const { waiting } = await barriers(looking).inspect(looking.thing.name);
    return [
      {
        title: "Parties that wait",
        empty: "Nobody waits.",
        columns: [
          { title: "Party", unit: "text" },
          { title: "Lease left", unit: "ms" },
        ],
        rows: waiting.map(({ id, validForMs }, nth) => ({
          id: String(nth),
          cells: [id ?? "without an id", validForMs],
        })),
        actions: [],
        cursor: null,
      },
    ];
  },
  actions: [
    {
      name: "reset",
      title: "Reset barrier",
      on: "thing",
      fields: [],
      warning:
        "All parties that wait are sent away with the status “reset”. Do this where a party that is missing will never come.",
      run: async (doing) =>
        `${plural(await barriers(doing).reset(doing.thing.name), "party was", "parties were")} sent away.`,
    },
  ],
};

export const IDS: Kind = {
  kind: "ids",
  title: "Sequences of ids",
  about: "Numbers that are given once over all processes, reserved in blocks.",
  async figures(looking) {
    const { last } = await ids(looking).inspect(looking.thing.name);
    return [
      { title: "Reserved up to", value: last, unit: "text", note: "processes use up their blocks below it" },
      { title: "Left below 2^53", value: 1 - last / Number.MAX_SAFE_INTEGER, unit: "share" },
    ];
  },
  actions: [
    {
      name: "raise",
      title: "Raise sequence",
      on: "thing",
      fields: [{ name: "to", label: "Give no number up to", kind: "integer" }],
      warning: "Numbers up to this one are never given. Processes that have a block use it up first.",
      run: async (doing) =>
        `Numbers up to ${await ids(doing).raise(doing.thing.name, integerOf(doing.values, "to", "The number"))} are taken.`,
    },
    deleting(
      "sequence",
      "The sequence begins at 1 again: ids that were given before are given a second time.",
      (doing) => ids(doing).delete(doing.thing.name),
    ),
  ],
};
