/**
 * What the console knows of one kind of component beyond its names: figures, lists, a chart, a question that can be asked of it, and
 * what an operator can do. All of it is data, so that one page shows every kind.
 */
import type { NamedThing, Store } from "cinnabar";
import { Problem } from "../../route.ts";
import { messageOf, type Text, textOf } from "../../values.ts";

/** How a value is written: a `number` may be rounded, an `amount` has every digit. `state` is one of the words that the page has colours for. */
export const UNITS = ["number", "amount", "bytes", "ms", "share", "date", "text", "state"] as const;
export type Unit = (typeof UNITS)[number];

export type Cell = number | boolean | Text | null;

export interface Figure {
  readonly title: string;
  readonly value: Cell;
  readonly unit: Unit;
  /** What it is a part of: shown as a bar, which warns when it is nearly full. */
  readonly of?: number;
  readonly note?: string;
}

export interface Row {
  /** What actions on it are given. */
  readonly id: string;
  readonly cells: readonly Cell[];
  /** Where they differ from those of the list. */
  readonly actions?: readonly string[];
}

export interface List {
  readonly title: string;
  /** What stands there while it has no rows. */
  readonly empty: string;
  readonly columns: readonly { readonly title: string; readonly unit: Unit }[];
  readonly rows: readonly Row[];
  /** Actions on a row, by name. */
  readonly actions: readonly string[];
  /** Whether a row's id is an answer to the kind's question. */
  readonly asks?: boolean;
  /** Where the next page begins; null for the last. */
  readonly cursor: string | null;
  /** Whether this is all of it, whichever page of another list is shown. */
  readonly isWhole?: true;
}

export interface Line {
  readonly title: string;
  /** `at` in milliseconds, and values in the order of `labels`. */
  readonly labels: readonly string[];
  readonly points: readonly { readonly at: number; readonly values: readonly (number | null)[] }[];
}

export interface Looking {
  readonly store: Store;
  readonly thing: NamedThing;
  /** From a list's cursor. */
  readonly after?: string | undefined;
  /** What somebody asks about. */
  readonly item?: string | undefined;
  /** How far back a chart reaches. */
  readonly spanMs: number;
}

/** What opening a component takes. */
export type Opening = Pick<Looking, "store" | "thing">;

/** Rows of one page of a list. */
export const PAGE = 50;

/** The page that somebody looks at, as components that page by a cursor take it. */
export const paged = ({ after }: Looking) => ({ limit: PAGE, ...(after !== undefined && { cursor: after }) });

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly kind: "text" | "integer";
  readonly initial?: string;
}

export interface Action {
  readonly name: string;
  /** A verb and its object. */
  readonly title: string;
  /** On a row of a list: shorter, since the row says what it is about. */
  readonly short?: string;
  /** On the thing itself, or on a row of a list. */
  readonly on: "thing" | "row";
  readonly fields: readonly Field[];
  /** What cannot be undone, or may surprise: asked before it is done. */
  readonly warning?: string;
  /** Whether nothing is left to look at when it is done. */
  readonly ends?: true;
  /** Answers what was done, as a sentence. */
  run(doing: Doing): Promise<string>;
}

export interface Doing {
  readonly store: Store;
  readonly thing: NamedThing;
  /** The id of the row that it is done to; empty for the thing. */
  readonly row: string;
  readonly values: Readonly<Record<string, string>>;
}

export interface Kind {
  readonly kind: string;
  readonly title: string;
  /** The page that shows them, where they have one of their own. */
  readonly page?: string;
  /** What stands between the name and the number of a shard, where shards have keys of their own. */
  readonly shardMark?: string;
  /** What it is for, in a sentence. */
  readonly about?: string;
  /** A few figures for the list of names. */
  figures?(looking: Looking): Promise<readonly Figure[]>;
  /** Everything else. */
  lists?(looking: Looking): Promise<readonly List[]>;
  lines?(looking: Looking): Promise<readonly Line[]>;
  /** A question about an item. */
  readonly question?: { readonly label: string; readonly button: string };
  answer?(looking: Looking, item: string): Promise<readonly Figure[]>;
  readonly actions?: readonly Action[];
  /** Whether an action on the thing makes sense as it is now; all do by default. */
  offers?(action: string, figures: readonly Figure[]): boolean;
}

/** The figure of this title; null where there is none. */
export const figureOf = (figures: readonly Figure[], title: string): Cell =>
  figures.find((each) => each.title === title)?.value ?? null;

/** Every key of a thing begins with this. */
export const keyOf = ({ prefix, name }: NamedThing, last: string): string => `${prefix}:{${name}}${last}`;

/** The keys of a shard, where shards have keys of their own. */
export const shardKey = (thing: NamedThing, shard: string, last: string): string =>
  keyOf({ ...thing, name: thing.name + shard }, last);

export function numberIn({ details }: NamedThing, name: string): number {
  const value = details[name];
  if (typeof value === "number") return value;
  throw new Problem(
    409,
    "DETAILS",
    `the registry does not say with which "${name}" this was opened: a process of an older version announced it. It is shown once a newer one has used it`,
  );
}

/** An option that a process of an older version did not announce is left to its default. */
export const known = <N extends string>({ details }: NamedThing, name: N): { readonly [name in N]?: number } =>
  (typeof details[name] === "number" ? { [name]: details[name] } : {}) as { readonly [name in N]?: number };

/** Values as they are stored, for the page: whichever codec wrote them. */
export const STORED = {
  binary: true,
  encode: (value: Text): string | Uint8Array =>
    typeof value === "string" ? value : Uint8Array.from(Buffer.from(value.bytes, "base64")),
  decode: (stored: string | Buffer): Text =>
    short(typeof stored === "string" ? Buffer.from(stored, "utf8") : Buffer.from(stored)),
};

/** What a question is answered about something that does not exist. */
export const NOT_THERE: Figure = { title: "Answer", value: "not there", unit: "state" };

const MOST_SHOWN = 400;

/** The beginning of what is long. */
export function short(stored: Buffer): Text {
  const text = textOf(stored);
  return typeof text === "string" ? shortText(text) : text;
}

export const shortText = (text: string, most = MOST_SHOWN): string =>
  text.length > most ? `${text.slice(0, most)}…` : text;

const MOST_ID_BYTES = 256;

/** What is asked about, where it can be the id of something: components refuse to look for any other. */
export const idIn = (item: string): string | null =>
  item === "" || Buffer.byteLength(item) > MOST_ID_BYTES ? null : item;

export function integerOf(values: Readonly<Record<string, string>>, name: string, label: string): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value)) return value;
  throw new Problem(400, "INPUT", `${label} must be a whole number, not "${values[name] ?? ""}"`);
}

/** What stands in the field `value`, as JSON in its shortest form. */
export function jsonIn({ value = "" }: Readonly<Record<string, string>>): string {
  try {
    return JSON.stringify(JSON.parse(value));
  } catch (error) {
    throw new Problem(400, "INPUT", `the value is not JSON: ${messageOf(error)}. Text stands in double quotes`);
  }
}

export function gone(what: string): Problem {
  return new Problem(
    409,
    "STATE",
    `${what} is not there any more: it was deleted, or has expired. Load the page again`,
  );
}

/** How many connections listen to a channel, on all nodes. */
export async function listeners(store: Store, channel: string): Promise<number> {
  let sum = 0;
  for (const answer of await store.sendToAll(["PUBSUB", "NUMSUB", channel])) {
    if (Array.isArray(answer)) sum += Number(answer[1]);
  }
  return sum;
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

const LENGTHS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
] as const;

/** A length of time in the largest unit in which it is a whole number. */
export function lengthOf(ms: number): string {
  const [unitMs, unit] = LENGTHS.find(([length]) => ms % length === 0) ?? [1, "ms"];
  return `${ms / unitMs} ${unit}`;
}

/** How often each name is there, the most frequent first. */
export function tally(names: readonly string[]): [name: string, count: number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}
