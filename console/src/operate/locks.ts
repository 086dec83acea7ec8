/**
 * Locks, semaphores and elections: who holds them, who waits, and the means to take them away. Names come from the registry that
 * components keep; of those, the ones are shown that are held or lately were, however many other keys the store has.
 */
import { type NamedThing, Registry, type Store } from "cinnabar";
import { Elections } from "cinnabar/elections";
import { Locks } from "cinnabar/locks";
import { Semaphores } from "cinnabar/semaphores";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, boolean, integer, nullable, number, object, string } from "../schema.ts";
import { perStore } from "../work.ts";

const group = "Components";
const NAME = object({ name: string({ minLength: 1, maxLength: 1_024 }) });
/** Of each kind, so many are shown at once. */
const MOST = 500;
/** Names that are looked at: as many as the registry keeps of a kind. */
const MOST_NAMES = 100_000;
const PAGE = 1_000;
/** What was found is looked for again at the earliest after so many times what it took. */
const REST = 20;

const VALID = number({
  description: "Milliseconds; negative where it has run out, and nobody has needed the place yet.",
});

const LOCK = {
  waiting: integer(),
  fence: integer({ description: "The last one given; 0 where none is remembered." }),
  holders: array(object({ fence: integer(), validForMs: VALID, shared: boolean() })),
};

const SEMAPHORE = {
  limit: integer({
    description: "1 unless one was stored with `resize`: processes agree on it, the store does not know.",
  }),
  used: integer(),
  waiting: integer(),
  holders: array(object({ permits: integer(), fence: integer(), validForMs: VALID })),
};

const ELECTION = {
  leader: nullable(object({ id: string(), fence: integer(), validForMs: VALID })),
  candidates: array(string(), {}),
  waiting: integer(),
  fence: integer(),
};

type Kind = "locks" | "semaphores" | "elections";

/** Components with any prefix; each is made once. */
function perPrefix<T>(make: (store: Store, prefix: string) => T): (context: Context, prefix: string) => T {
  const made = perStore(() => new Map<string, T>());
  return (context, prefix) => {
    const all = made(context);
    const found = all.get(prefix) ?? make(context.store, prefix);
    all.set(prefix, found);
    return found;
  };
}

const locksOf = perPrefix((store, prefix) => new Locks(store, { prefix }));
// The limit is what processes agree on, not what is stored: the console only looks.
const semaphoresOf = perPrefix((store, prefix) => new Semaphores(store, { prefix, limit: 1 }));
const electionsOf = perPrefix((store, prefix) => new Elections(store, { prefix }));

interface Held {
  readonly things: readonly NamedThing[];
  /** False where more are held than are shown. */
  readonly complete: boolean;
}

const searches = new WeakMap<Store, Map<Kind, { readonly until: number; readonly held: Promise<Held> }>>();

/** Names that somebody holds or waits for. What was found a moment ago is found again without asking. */
function heldOf(store: Store, kind: Kind): Promise<Held> {
  const known = searches.get(store) ?? new Map();
  searches.set(store, known);
  const begin = performance.now();
  const last = known.get(kind);
  if (last !== undefined && last.until > begin) return last.held;
  const held = search(store, kind);
  known.set(kind, { until: Number.POSITIVE_INFINITY, held });
  held.then(
    () => known.set(kind, { until: begin + (REST + 1) * (performance.now() - begin), held }),
    () => known.delete(kind),
  );
  return held;
}

async function search(store: Store, kind: Kind): Promise<Held> {
  const registry = new Registry(store);
  const things: NamedThing[] = [];
  let cursor: string | null = null;
  for (let seen = 0; seen < MOST_NAMES && things.length < MOST; seen += PAGE) {
    const page = await registry.list(kind, { limit: PAGE, ...(cursor !== null && { cursor }) });
    const there = await store.pipeline(
      page.items.map(({ prefix, name }) => ["EXISTS", `${prefix}:{${name}}:held`, `${prefix}:{${name}}:queue`]),
    );
    things.push(...page.items.filter((_, at) => Number(there[at]) > 0));
    ({ cursor } = page);
    if (cursor === null) return { things: things.slice(0, MOST), complete: things.length <= MOST };
  }
  return { things: things.slice(0, MOST), complete: false };
}

async function inspected<T>(context: Context, kind: Kind, inspect: (prefix: string, name: string) => Promise<T>) {
  const { things, complete } = await heldOf(context.store, kind);
  const list = await Promise.all(
    things.map(async ({ name, prefix }) => ({ name, prefix, ...(await inspect(prefix, name)) })),
  );
  return { list, complete };
}

const released = (count: number, what: string) => {
  if (count === 0) throw new Problem(409, "STATE", `nobody holds this ${what} any more`);
  return { released: count };
};

const prefixed = (prefix: string) =>
  object({
    prefix: string({ default: prefix, minLength: 1, maxLength: 512, description: "The first word of its keys." }),
  });

const RELEASED = object({ released: integer({ description: "How many held it." }) });

export const LOCK_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/locks",
    group,
    summary: "Locks that are held or lately were.",
    answers: "Holders, waiters, leases left.",
    answer: object({ locks: array(object({ name: string(), prefix: string(), ...LOCK })), complete: boolean() }),
    run: async (context) => {
      const { list, complete } = await inspected(context, "locks", (prefix, name) =>
        locksOf(context, prefix).inspect(name),
      );
      return { locks: list, complete };
    },
  }),
  route({
    method: "GET",
    url: "/api/locks/:name",
    group,
    summary: "A lock.",
    params: NAME,
    query: prefixed("lock"),
    answers: "Its holders, how many wait, the last fence.",
    answer: object(LOCK),
    run: (context, { params, query }) => locksOf(context, query.prefix).inspect(params.name),
  }),
  route({
    method: "POST",
    url: "/api/locks/:name/release",
    group,
    summary: "Takes a lock from all who hold it. They notice at their next renewal and may work on until then.",
    params: NAME,
    query: prefixed("lock"),
    answers: "How many held it.",
    answer: RELEASED,
    run: async (context, { params, query }) =>
      released(await locksOf(context, query.prefix).release(params.name), "lock"),
  }),
  route({
    method: "GET",
    url: "/api/semaphores",
    group,
    summary: "Semaphores that are held or lately were.",
    answers: "Holders, waiters, leases left.",
    answer: object({
      semaphores: array(object({ name: string(), prefix: string(), ...SEMAPHORE })),
      complete: boolean(),
    }),
    run: async (context) => {
      const { list, complete } = await inspected(context, "semaphores", (prefix, name) =>
        semaphoresOf(context, prefix).inspect(name),
      );
      return { semaphores: list, complete };
    },
  }),
  route({
    method: "GET",
    url: "/api/semaphores/:name",
    group,
    summary: "A semaphore. The limit is 1 unless one was stored with `resize`.",
    params: NAME,
    query: prefixed("semaphore"),
    answers: "Its holders, how many wait.",
    answer: object(SEMAPHORE),
    run: (context, { params, query }) => semaphoresOf(context, query.prefix).inspect(params.name),
  }),
  route({
    method: "POST",
    url: "/api/semaphores/:name/release",
    group,
    summary: "Takes the permits of a semaphore from all who hold some.",
    params: NAME,
    query: prefixed("semaphore"),
    answers: "How many held some.",
    answer: RELEASED,
    run: async (context, { params, query }) =>
      released(await semaphoresOf(context, query.prefix).release(params.name), "semaphore"),
  }),
  route({
    method: "GET",
    url: "/api/elections",
    group,
    summary: "Elections that have a leader or candidates.",
    answers: "Who leads, for how long yet, who waits in line.",
    answer: object({
      elections: array(object({ name: string(), prefix: string(), ...ELECTION })),
      complete: boolean(),
    }),
    run: async (context) => {
      const { list, complete } = await inspected(context, "elections", (prefix, name) =>
        electionsOf(context, prefix).inspect(name),
      );
      return { elections: list, complete };
    },
  }),
  route({
    method: "POST",
    url: "/api/elections/:name/release",
    group,
    summary: "Ends the term of a leader; the next in line leads at once.",
    params: NAME,
    query: prefixed("election"),
    answers: "How many terms ended.",
    answer: RELEASED,
    run: async (context, { params, query }) =>
      released(await electionsOf(context, query.prefix).release(params.name), "election"),
  }),
];
