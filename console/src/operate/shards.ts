/** Sharded structures and fleets of the toolkit: what is where, what moves, and the means to begin a move or to help one along. */
import { json, Registry, type Store } from "cinnabar";
import { type Layout, shares } from "cinnabar/fleet";
import { ShardedStructures } from "cinnabar/sharded";
import { withoutCredentials } from "../options.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, boolean, either, integer, named, nullable, object, oneOf, string } from "../schema.ts";
import { MILLISECONDS } from "../shapes.ts";
import { fieldsOf, listOf } from "../values.ts";

const group = "Components";
const NAME = object({ name: string({ minLength: 1, maxLength: 512 }) });
const MOST = 200;
/** A page that asks for a move does not wait for a long one: a mover goes on with it, or the page asks again. */
const MOVE_MS = 5_000;

const STRUCTURE = named(
  "ShardedStructure",
  object({
    name: string(),
    kind: string(),
    generation: integer({ description: "Odd while elements are moved." }),
    tags: integer(),
    shards: integer({ description: "Shards by hash, in all." }),
    shardSize: integer({ description: "Numbers for each shard by range." }),
    elements: integer(),
    elementsByTag: array(integer()),
    moving: nullable(object({ elementsLeft: integer(), tagsLeft: integer() })),
  }),
);

const LIST = named(
  "ShardedList",
  object({
    name: string(),
    kind: oneOf(["list"]),
    generation: integer({ description: "Odd while lanes are given up." }),
    lanes: integer(),
    pieceSize: integer(),
    elements: integer(),
    byLane: array(object({ elements: integer(), pieces: integer(), bytes: integer() })),
    moving: nullable(object({ elementsLeft: integer(), lanesLeft: integer() })),
  }),
);

const FLEET = named(
  "Fleet",
  object({
    name: string(),
    version: integer(),
    changedAt: integer({ description: MILLISECONDS }),
    processes: array(object({ version: integer(), untilMs: integer({ description: MILLISECONDS }) })),
    components: array(
      object({
        name: string(),
        moving: nullable(object({ from: integer(), to: integer(), source: string(), target: string() })),
        left: integer({ description: "Ranges of slots that are still to be deleted where they were." }),
        shards: array(
          object({
            shard: string(),
            url: string({ description: "Without credentials." }),
            slots: integer(),
            leaving: boolean(),
          }),
        ),
      }),
    ),
  }),
);

const SHARD = object({
  key: string(),
  tag: integer(),
  elements: integer(),
  bytes: integer(),
  encoding: string(),
  isOld: boolean("Of the layout that elements are moved from."),
});

const MOVED = object({
  moved: nullable(integer({ description: "Elements; null where the time ran out before that was known." })),
  finished: boolean(),
});

async function structures(store: Store) {
  const all = new ShardedStructures(store);
  const { items: names } = await all.list({ limit: MOST });
  const found = await Promise.all(names.map(({ name }) => all.inspect(name)));
  return found.filter((each) => each !== null);
}

interface Member {
  readonly version: number;
  readonly untilMs: number;
}

const LAYOUT_CODEC = json<Layout>();

async function fleetAt(store: Store, key: string) {
  const [answer, seen, members] = await store.pipeline([
    ["HMGET", key, "version", "value", "at"],
    ["HGETALL", `${key}:seen`],
    ["ZRANGE", `${key}:members`, 0, MOST - 1, "WITHSCORES"],
  ]);
  const [version, value, at] = listOf(answer);
  if (typeof value !== "string") return null;
  const versions = fieldsOf(seen);
  const processes = [...fieldsOf(members)].map(([member, untilMs]): Member => {
    return { version: Number.parseInt(String(versions.get(member) ?? 0), 10), untilMs: Number(untilMs) };
  });
  const layout = LAYOUT_CODEC.decode(value);
  return {
    name: key.slice("fleet:{".length, -1),
    version: Number(version),
    changedAt: Number(at),
    processes,
    components: Object.entries(layout.components).map(([name, component]) => {
      const counts = shares(component);
      const { moving = null, left = [] } = component;
      return {
        name,
        moving,
        left: left.length,
        // Passwords are no business of a page.
        shards: Object.entries(component.shards).map(([shard, { url, leaving = false }]) => ({
          shard,
          url: withoutCredentials(url),
          slots: counts.get(shard) ?? 0,
          leaving,
        })),
      };
    }),
  };
}

async function fleets(store: Store) {
  const { items } = await new Registry(store).list("fleet", { limit: MOST });
  const keys = items.filter(({ prefix }) => prefix === "fleet").map(({ name }) => `fleet:{${name}}`);
  const found = await Promise.all(keys.map((key) => fleetAt(store, key).catch(() => null)));
  return found.filter((each) => each !== null);
}

async function show({ store }: Context) {
  const [sharded, fleet] = await Promise.all([structures(store), fleets(store)]);
  return { structures: sharded, fleets: fleet };
}

async function shardsOf({ store }: Context, name: string) {
  const shards = await new ShardedStructures(store).shards(name);
  if (shards === null)
    throw new Problem(404, "NOT_FOUND", `there are no shards of "${name}" whose number could be changed`);
  return shards;
}

async function move(context: Context, name: string) {
  const shards = await shardsOf(context, name);
  return shards.move({ signal: AbortSignal.timeout(MOVE_MS) }).catch((error: unknown) => {
    if (error instanceof Error && error.name === "TimeoutError") return { moved: null, finished: false };
    throw error;
  });
}

export const SHARD_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/shards",
    group,
    summary: "Sharded structures and fleets.",
    answers: "Structures with their shards and elements; fleets with their components, shards, slots and processes.",
    answer: object({ structures: array(either(STRUCTURE, LIST)), fleets: array(FLEET) }),
    run: show,
  }),
  route({
    method: "GET",
    url: "/api/shards/:name",
    group,
    summary: "Some shards of a structure.",
    params: NAME,
    query: object({ tag: integer({ default: 0, minimum: 0 }) }),
    answers: "Those behind a tag that hold something: key, elements, bytes, encoding.",
    answer: object({ shards: array(SHARD) }),
    run: async (context, { params, query }) => ({
      shards: await (await shardsOf(context, params.name)).inspectTag(query.tag, { limit: MOST }),
    }),
  }),
  route({
    method: "POST",
    url: "/api/shards/:name/reshard",
    group,
    summary: "Changes the number of a structure's shards. Elements move in the background, while it is used.",
    params: NAME,
    body: object({ shards: integer({ minimum: 1, maximum: 16_777_216 }) }),
    answers: "False if another change is under way.",
    answer: object({ begun: boolean() }),
    run: async (context, { params, body }) => ({
      begun: await (await shardsOf(context, params.name)).reshard({ shards: body.shards }),
    }),
  }),
  route({
    method: "POST",
    url: "/api/shards/:name/move",
    group,
    summary: "Moves elements of a change that is under way, for some seconds.",
    params: NAME,
    answers: "How far it came.",
    answer: MOVED,
    run: (context, { params }) => move(context, params.name),
  }),
];
