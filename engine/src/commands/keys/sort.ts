/**
 * SORT and SORT_RO.
 *
 * Each element of a list, set or sorted set gets a weight: itself, or what the BY pattern names for it (`w_*` a string,
 * `h_*->f` a field of a hash). Numbers compare first by weight and then by the elements' bytes; words (ALPHA) compare by
 * weight alone, and equal ones keep their order. DESC turns all of it around, except the order of equals. A BY pattern
 * without a star means: do not sort.
 */

import type { Client } from "../../core/client.ts";
import type { Db } from "../../core/db.ts";
import { SYNTAX, WRONGTYPE } from "../../core/errors.ts";
import { SORT_BY_DENIED, SORT_GET_DENIED, SORT_NOT_NUMERIC, sortDenied } from "../../core/rare-errors.ts";
import type { Reply } from "../../core/reply.ts";
import { parseFloat64, parseFloatLoosely } from "../../lib/numbers.ts";
import type { Args } from "../../table/args.ts";
import { group, type KeySpec, key } from "../../table/command.ts";
import { whole } from "../../table/shares.ts";
import { textOf } from "../../types/bytes.ts";
import { HashValue } from "../../types/hash/index.ts";
import { isCollection } from "../../types/kind.ts";
import { ListValue } from "../../types/list/index.ts";
import { own } from "../../types/packed.ts";
import { SetValue } from "../../types/set/index.ts";
import type { Value } from "../../types/value.ts";
import { ZsetValue } from "../../types/zset/index.ts";
import { partialSort } from "./partial-sort.ts";

/** The smallest double that strtod reads without complaint about its range. */
const SMALLEST_NORMAL = 2 ** -1022;

/** A key, or a field in one, with a place for the element. */
interface Pattern {
  readonly before: string;
  readonly after: string;
  readonly field: string | undefined;
}

/** GET's own pattern for the element itself. */
const SELF = "self";
/** A pattern without a star names nothing. */
const NOTHING = "nothing";

type Lookup = Pattern | typeof SELF | typeof NOTHING;

interface Options {
  by: Lookup | undefined;
  unsorted: boolean;
  descending: boolean;
  alpha: boolean;
  offset: number;
  count: number;
  readonly gets: Lookup[];
  store: string | undefined;
}

function parsePattern(text: string): Lookup {
  if (text === "#") return SELF;
  const star = text.indexOf("*");
  if (star < 0) return NOTHING;
  const before = text.slice(0, star);
  const arrow = text.indexOf("->", star + 1);
  if (arrow < 0 || arrow + 2 === text.length) return { before, after: text.slice(star + 1), field: undefined };
  return { before, after: text.slice(star + 1, arrow), field: text.slice(arrow + 2) };
}

/**
 * Reads the options. BY and GET read keys whose names nobody can tell beforehand: only for users that may read every key, and not in
 * a Cluster, which cannot tell their slots.
 */
function readOptions({ user, engine }: Client, args: Args, mayStore: boolean): Options {
  const { argv } = args;
  const isConfined = user.limited && !user.mayReadEveryKey(engine.commands.find(argv)!, argv);
  const inCluster = engine.cluster !== null;
  const options: Options = {
    by: undefined,
    unsorted: false,
    descending: false,
    alpha: false,
    offset: 0,
    count: -1,
    gets: [],
    store: undefined,
  };
  while (args.more) {
    const option = args.option();
    if (option === "asc") options.descending = false;
    else if (option === "desc") options.descending = true;
    else if (option === "alpha") options.alpha = true;
    else if (option === "limit" && args.left >= 2) {
      options.offset = args.int();
      options.count = args.int();
    } else if (option === "store" && args.more && mayStore) options.store = args.next();
    else if (option === "by" && args.more) {
      const text = args.next();
      options.by = parsePattern(text);
      if (!text.includes("*")) options.unsorted = true;
      else if (inCluster) throw sortDenied("BY");
      else if (isConfined) throw SORT_BY_DENIED;
    } else if (option === "get" && args.more) {
      if (inCluster) throw sortDenied("GET");
      if (isConfined) throw SORT_GET_DENIED;
      options.gets.push(parsePattern(args.next()));
    } else throw SYNTAX;
  }
  return options;
}

/** What a pattern names for an element; undefined where there is nothing, or nothing of the right type. */
function lookUp(db: Db, pattern: Lookup, element: string): string | undefined {
  if (pattern === SELF) return element;
  if (pattern === NOTHING) return undefined;
  const value = db.read(pattern.before + element + pattern.after);
  if (value === undefined) return undefined;
  if (pattern.field !== undefined) return value instanceof HashValue ? value.get(pattern.field) : undefined;
  return isCollection(value) ? undefined : textOf(value);
}

// Elements

type Sortable = ListValue | SetValue | ZsetValue;

function sortable(value: Value | undefined): Sortable | undefined {
  if (value === undefined || value instanceof ListValue || value instanceof SetValue || value instanceof ZsetValue) {
    return value;
  }
  throw WRONGTYPE;
}

/** All elements in the order of their type. */
function elementsOf(value: Sortable): string[] {
  if (value instanceof ListValue) return value.range(0, value.size - 1);
  if (value instanceof SetValue) return value.members();
  return rankedMembers(value, 0, value.size, false);
}

/** The elements from `from` up to `to`, for SORT without sorting; DESC is from the other end where there is an order. */
function unsortedSlice(value: Sortable, from: number, to: number, descending: boolean): string[] {
  if (from >= to) return [];
  if (value instanceof SetValue) return value.members().slice(from, to);
  const first = descending ? value.size - to : from;
  const last = descending ? value.size - from : to;
  if (value instanceof ZsetValue) return rankedMembers(value, first, last, descending);
  const words = value.range(first, last - 1);
  return descending ? words.reverse() : words;
}

function rankedMembers(zset: ZsetValue, from: number, to: number, reverse: boolean): string[] {
  const members: string[] = [];
  zset.visit(from, to, reverse, (member) => {
    members.push(member);
  });
  return members;
}

// Sorting

interface Weighted<Weight> {
  readonly element: string;
  readonly weight: Weight;
}
/** Undefined where BY named nothing. */
type Words = Weighted<string | undefined>;
type Numbers = Weighted<number>;

/** A word's number as strtod reads it; numbers that are out of a double's range are an error, subnormal ones too. */
function numberOf(word: string): number {
  const value = parseFloatLoosely(word);
  if (value === undefined) throw SORT_NOT_NUMERIC;
  const size = Math.abs(value);
  if (size >= SMALLEST_NORMAL && size !== Number.POSITIVE_INFINITY) return value;
  if (size > 0 && size < SMALLEST_NORMAL) throw SORT_NOT_NUMERIC;
  // Infinite or zero: does the word say so, or does it only come too close?
  const text = untilNul(word).trimStart();
  if (text !== "" && parseFloat64(text) === undefined) throw SORT_NOT_NUMERIC;
  return value;
}

function untilNul(word: string): string {
  const nul = word.indexOf("\0");
  return nul < 0 ? word : word.slice(0, nul);
}

function withWords(db: Db, elements: readonly string[], { by, store }: Options): Words[] {
  // What is stored compares by all bytes; what is only shown compares as strcoll does, which ends at a NUL.
  const whole = store !== undefined;
  return elements.map((element) => {
    const word = by === undefined ? element : lookUp(db, by, element);
    return { element, weight: word === undefined || whole ? word : untilNul(word) };
  });
}

function withNumbers(db: Db, elements: readonly string[], { by }: Options): Numbers[] {
  return elements.map((element) => {
    const word = by === undefined ? element : lookUp(db, by, element);
    return { element, weight: word === undefined ? 0 : numberOf(word) };
  });
}

const compareBytes = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function compareNumbers(a: Numbers, b: Numbers): number {
  const x = a.weight;
  const y = b.weight;
  return x < y ? -1 : x > y ? 1 : compareBytes(a.element, b.element);
}

function compareWords(a: Words, b: Words): number {
  const x = a.weight;
  const y = b.weight;
  if (x === undefined || y === undefined) return x === y ? 0 : x === undefined ? -1 : 1;
  return compareBytes(x, y);
}

function sorted(db: Db, elements: readonly string[], options: Options, from: number, to: number): string[] {
  return options.alpha
    ? inOrder(withWords(db, elements, options), compareWords, options, from, to)
    : inOrder(withNumbers(db, elements, options), compareNumbers, options, from, to);
}

function inOrder<T extends Weighted<unknown>>(
  weighted: T[],
  compare: (a: T, b: T) => number,
  options: Options,
  from: number,
  to: number,
): string[] {
  const directed = options.descending ? (a: T, b: T) => -compare(a, b) : compare;
  if (options.by !== undefined && to - from < weighted.length) partialSort(weighted, directed, from, to);
  else weighted.sort(directed);
  return weighted.slice(from, to).map(({ element }) => element);
}

/** The elements that SORT answers with, before GET. */
function select(client: Client, value: Sortable, options: Options): string[] {
  const { size } = value;
  const from = Math.min(Math.max(options.offset, 0), size);
  const to = options.count < 0 ? size : Math.min(from + options.count, size);
  if (options.unsorted && value instanceof SetValue && options.store !== undefined) {
    // A set has no order, and what is stored must not depend on chance: it is sorted by words.
    return sorted(client.db, elementsOf(value), { ...options, by: undefined, alpha: true }, from, to);
  }
  if (options.unsorted) return unsortedSlice(value, from, to, options.descending);
  return sorted(client.db, elementsOf(value), options, from, to);
}

/** Redis sorts no sorted set in its packed form, and OBJECT ENCODING shows it afterwards. */
function widen(db: Db, name: string): void {
  db.amend(name, ZsetValue, "", (zset) => {
    zset.widen();
    return 0;
  });
}

function sort(client: Client, args: Args, mayStore: boolean): Reply {
  const { db } = client;
  const name = args.next();
  const options = readOptions(client, args, mayStore);
  const value = sortable(db.read(name));
  if (value instanceof ZsetValue) widen(db, name);
  const elements = value === undefined ? [] : select(client, value, options);
  const { gets, store } = options;
  const result: (string | null)[] =
    gets.length === 0 ? elements : elements.flatMap((element) => gets.map((get) => lookUp(db, get, element) ?? null));
  if (store === undefined) return result;
  if (result.length === 0) {
    db.delete(store);
    return 0;
  }
  const list = new ListValue();
  for (const word of result) list.pushTail(own(word ?? ""));
  db.put(store, list, { event: "sortstore", changes: result.length });
  return result.length;
}

/** Words that follow each option: what must not be taken for an option itself. */
const OPTION_WORDS: ReadonlyMap<string, number> = new Map(Object.entries({ limit: 2, get: 1, by: 1 }));

/** The key that is sorted and, if there is one, the key of the last STORE. */
function sortKeys(argv: readonly string[]): number[] {
  let store = 0;
  let next = 2;
  for (const [i, word] of argv.entries()) {
    if (i < next) continue;
    const option = word.toLowerCase();
    const stores = option === "store" && i + 1 < argv.length;
    if (stores) store = i + 1;
    next = i + 1 + (stores ? 1 : (OPTION_WORDS.get(option) ?? 0));
  }
  return store === 0 ? [1] : [1, store];
}

const unknown = (flags: KeySpec["flags"], notes: string): KeySpec => ({
  flags,
  begin: { index: 0 },
  find: null,
  notes,
});

const PATTERN_KEYS = unknown(
  ["RO", "access"],
  "For the optional BY/GET keyword. It is marked 'unknown' because the key names derive from the content of the key we sort",
);
const STORE_KEY = unknown(
  ["OW", "update"],
  "For the optional STORE keyword. It is marked 'unknown' because the keyword can appear anywhere in the argument array",
);

const CATEGORIES = ["@set", "@sortedset", "@list", "@dangerous"];
const SYNTAX_RO = "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA]";

export const sorting = group("generic", [
  {
    name: "sort",
    arity: -2,
    flags: ["write", "denyoom", "movablekeys"],
    keys: [key(["RO", "access"]), PATTERN_KEYS, STORE_KEY],
    categories: CATEGORIES,
    noGroupCategory: true,
    builds: whole,
    since: "1.0.0",
    summary: "Returns or stores the elements of a list, a set or a sorted set, sorted by themselves or by other keys.",
    syntax: `${SYNTAX_RO} [STORE destination]`,
    reply: { otherwise: "(string | null)[]", STORE: "number" },
    complexity: "O(N log N) with N elements; O(N) without sorting",
    keysOf: sortKeys,
    run: (client, args) => sort(client, args, true),
  },
  {
    name: "sort_ro",
    arity: -2,
    flags: ["readonly", "movablekeys"],
    keys: [key(["RO", "access"]), PATTERN_KEYS],
    categories: CATEGORIES,
    noGroupCategory: true,
    builds: whole,
    since: "7.0.0",
    summary: "Returns the elements of a list, a set or a sorted set, sorted by themselves or by other keys.",
    syntax: SYNTAX_RO,
    reply: "(string | null)[]",
    complexity: "O(N log N) with N elements; O(N) without sorting",
    keysOf: () => [1],
    run: (client, args) => sort(client, args, false),
  },
]);
