/** Social networks of the toolkit: what their workers have left to do, and how somebody's statuses and timeline are kept. */
import type { Store } from "cinnabar";
import { Social } from "cinnabar/social";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, boolean, date, either, integer, named, object, oneOf, string } from "../schema.ts";
import { COUNTS } from "../shapes.ts";
import { places } from "./queue-places.ts";

const group = "Components";
const PREFIX = string({ minLength: 1, maxLength: 100 });
const SUBJECT = string({ minLength: 1, maxLength: 60 });
const MOST = 50;

const NETWORK = object({
  prefix: string(),
  jobs: COUNTS,
  open: integer({ description: "Calls under way, and those that died and are not finished yet." }),
});

const TIMELINE = named(
  "Timeline",
  object({
    state: oneOf(["cold", "building", "warm"]),
    size: integer(),
    isComplete: boolean("Otherwise older statuses are read from the profiles."),
    merged: array(string({ description: "Authors who are merged in at reading." })),
    muted: array(string()),
    expiresInMs: integer(),
  }),
);

const PERSON = object({
  subject: string(),
  user: object({ id: string(), login: string(), name: string(), joinedAt: date() }),
  counts: object({ followers: integer(), following: integer(), statuses: integer() }),
  author: object({
    mode: oneOf(["push", "toPull", "pull", "toPush"], "Whether statuses are delivered, or merged in at reading."),
    followers: integer(),
    lists: integer(),
  }),
  timeline: TIMELINE,
});

const LIST = object({
  subject: string(),
  list: object({ id: string(), owner: string(), name: string(), members: integer() }),
  timeline: TIMELINE,
});

const made = new WeakMap<Store, Map<string, Social>>();

function networkOf({ store }: Context, prefix: string, queueShards: number): Social {
  const networks = made.get(store) ?? new Map<string, Social>();
  made.set(store, networks);
  const name = `${queueShards} ${prefix}`;
  const network = networks.get(name) ?? new Social(store, { prefix, queueShards });
  // Names come from requests: no more are kept than are shown.
  if (networks.size >= MOST) networks.clear();
  networks.set(name, network);
  return network;
}

const QUEUE_PREFIX = /^(.+):queue$/;

/** Networks have a queue, `fan-out`, whose prefix is theirs with `:queue` behind it: the registry of names knows it. */
async function find({ store }: Context): Promise<{ found: Map<string, number>; complete: boolean }> {
  const { places: queues, complete } = await places(store);
  const found = new Map<string, number>();
  for (const { name, prefix, shards } of queues) {
    const [, network] = QUEUE_PREFIX.exec(prefix) ?? [];
    if (name === "fan-out" && network !== undefined && found.size < MOST) found.set(network, shards);
  }
  return { found, complete };
}

async function networkNamed(context: Context, prefix: string): Promise<Social> {
  const shards = (await find(context)).found.get(prefix);
  if (shards === undefined) throw new Problem(404, "NOT_FOUND", `there is no social network "${prefix}"`);
  return networkOf(context, prefix, shards);
}

async function list(context: Context) {
  const { found, complete } = await find(context);
  const networks = await Promise.all(
    [...found].map(async ([prefix, shards]) => ({
      prefix,
      ...(await networkOf(context, prefix, shards).stats()),
    })),
  );
  return { networks: networks.sort((a, b) => a.prefix.localeCompare(b.prefix)), complete };
}

/** By login, or by the id of a user or a list. */
async function look(context: Context, prefix: string, who: string) {
  const social = await networkNamed(context, prefix);
  if (who.startsWith("+")) {
    const found = await social.lists.get(who);
    if (found === null) throw new Problem(404, "NOBODY", `there is no list ${who}`);
    return { subject: who, list: found, timeline: await social.inspectTimeline(who) };
  }
  const byLogin = await social.users.getByLogin(who.replace(/^@/, "")).catch(() => null);
  const user = byLogin ?? (await social.users.get(who).catch(() => null));
  if (user === null) throw new Problem(404, "NOBODY", `there is nobody with the login or the id ${who}`);
  const [counts, author, timeline] = await Promise.all([
    social.follows.counts(user.id),
    social.inspectAuthor(user.id),
    social.inspectTimeline(user.id),
  ]);
  const merged = await social.users.getMany(timeline.merged);
  return {
    subject: user.id,
    user,
    counts,
    author,
    timeline: { ...timeline, merged: timeline.merged.map((id) => merged.get(id)?.login ?? id) },
  };
}

export const TIMELINE_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/timelines",
    group,
    summary: "Social networks, with what is left to deliver.",
    answers: "Prefixes, jobs by state, and calls under way.",
    answer: object({ networks: array(NETWORK), complete: boolean() }),
    run: list,
  }),
  route({
    method: "GET",
    url: "/api/timelines/look",
    group,
    summary: "A user, by login or id, or a list, by its id.",
    query: object({ network: PREFIX, who: SUBJECT }),
    answers: "Counts, how statuses are delivered, and the state of the timeline.",
    answer: either(PERSON, LIST),
    run: (context, { query }) => look(context, query.network, query.who),
  }),
  route({
    method: "POST",
    url: "/api/timelines/drop",
    group,
    summary: "Drops a timeline; it is built anew when it is read.",
    body: object({ network: PREFIX, subject: SUBJECT }),
    answers: "Whether there was one.",
    answer: object({ dropped: boolean() }),
    run: async (context, { body }) => ({
      dropped: await (await networkNamed(context, body.network)).deleteTimeline(body.subject),
    }),
  }),
  route({
    method: "POST",
    url: "/api/timelines/retry",
    group,
    summary: "Does again what workers have given up.",
    body: object({ network: PREFIX }),
    answers: "How many jobs.",
    answer: object({ retried: integer() }),
    run: async (context, { body }) => ({ retried: await (await networkNamed(context, body.network)).retryDead() }),
  }),
];
