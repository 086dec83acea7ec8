/** Topics of the toolkit: messages that are kept, how far each consumer group is, dead letters, and replaying both. */
import { Registry } from "cinnabar";
import { DurableTopic } from "cinnabar/topics";
import { type Context, Problem, type Route, route } from "../route.ts";
import { anything, array, boolean, date, integer, nullable, object, oneOf, string } from "../schema.ts";
import { DONE } from "../shapes.ts";
import { entriesIn, listOf, sound } from "../values.ts";

const group = "Components";
const MOST = 200;
const MOST_MESSAGES = 50;
/** Data of messages are cut to so many characters. */
const MOST_SHOWN = 2_000;

const NAME = string({ minLength: 1, maxLength: 1_024 });
const GROUP = string({ minLength: 1, maxLength: 256 });
const QUERY = object({
  prefix: string({ default: "topic", minLength: 1, maxLength: 512, description: "The first word of its keys." }),
});

const STATS = {
  count: integer({ description: "Messages that are kept." }),
  published: integer({ description: "Messages that there ever were." }),
  firstAt: nullable(date()),
  lastAt: nullable(date()),
};

const PROGRESS = object({
  name: string(),
  lag: integer({ description: "Messages that the group has not been given yet." }),
  pending: integer({ description: "Messages that were given and have not ended." }),
  dead: integer(),
  position: string(),
  delivered: integer(),
  acknowledged: integer(),
  failed: integer(),
  missed: integer({ description: "Messages that were trimmed before the group had them." }),
});

const LETTER = object({
  id: string(),
  data: anything("Null if it is no JSON."),
  attempts: integer(),
  error: string(),
  publishedAt: date(),
  diedAt: date(),
});

const topicOf = ({ store }: Context, name: string, prefix: string) => new DurableTopic(store, name, { prefix });

/** One that was used: looking at another would write the version of its layout into the store. */
async function used(context: Context, name: string, prefix: string): Promise<DurableTopic> {
  const keys = ["log", "meta", "groups"].map((part) => `${prefix}:{${name}}:${part}`);
  if (Number(await context.store.call("EXISTS", ...keys)) === 0)
    throw new Problem(404, "NO_TOPIC", `no durable topic named ${name} is in this store`);
  return topicOf(context, name, prefix);
}

async function groupsOf(topic: DurableTopic) {
  const { items } = await topic.listGroups({ limit: MOST });
  const found = await Promise.all(items.map(async (name) => ({ name, progress: await topic.inspect(name) })));
  return found.flatMap(({ name, progress }) => (progress === null ? [] : [{ name, ...progress }]));
}

async function list(context: Context) {
  const registry = new Registry(context.store);
  const [durable, plain] = await Promise.all([
    registry.list("durable-topics", { limit: MOST }),
    registry.list("topics", { limit: MOST }),
  ]);
  const topics = await Promise.all(
    durable.items.map(async ({ name, prefix }) => {
      const topic = topicOf(context, name, prefix);
      const [stats, groups] = await Promise.all([topic.stats(), groupsOf(topic)]);
      const sum = (field: "lag" | "pending" | "dead") => groups.reduce((total, each) => total + each[field], 0);
      const worst = Math.max(0, ...groups.map(({ lag }) => lag));
      return { name, prefix, ...stats, groups: groups.length, lag: worst, pending: sum("pending"), dead: sum("dead") };
    }),
  );
  return { topics, channels: await listeners(context, plain.items), complete: durable.cursor === null };
}

/** Topics that keep nothing are channels: who listens now, over all nodes. */
async function listeners({ store }: Context, items: readonly { readonly name: string; readonly prefix: string }[]) {
  if (items.length === 0) return [];
  const channels = items.map(({ name, prefix }) => `${prefix}:{${name}}`);
  const answers = await store.sendToAll(["PUBSUB", "NUMSUB", ...channels]);
  return items.map(({ name, prefix }, at) => ({
    name,
    prefix,
    subscribers: answers.reduce<number>((sum, answer) => sum + Number(listOf(sound(answer))[2 * at + 1]), 0),
  }));
}

function dataOf(payload: Buffer): unknown {
  const text = payload.toString("utf8");
  if (text.length > MOST_SHOWN) return `${text.slice(0, MOST_SHOWN)}…`;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The newest first. */
async function lastMessages({ store }: Context, name: string, prefix: string) {
  const words = ["XREVRANGE", `${prefix}:{${name}}:log`, "+", "-", "COUNT", MOST_MESSAGES];
  const entries = entriesIn(await store.send(words, { buffers: true }));
  return entries.map(([id, fields]) => {
    const text = id.toString();
    return {
      id: text,
      data: dataOf(fields[1] ?? Buffer.alloc(0)),
      publishedAt: new Date(Number(text.slice(0, text.indexOf("-")))),
    };
  });
}

async function show(context: Context, name: string, prefix: string) {
  const topic = await used(context, name, prefix);
  const [stats, groups, messages] = await Promise.all([
    topic.stats(),
    groupsOf(topic),
    lastMessages(context, name, prefix),
  ]);
  return { ...stats, groups, messages };
}

async function groupIn(topic: DurableTopic, name: string): Promise<void> {
  if ((await topic.inspect(name)) === null)
    throw new Problem(404, "NO_GROUP", `topic ${topic.name} has no consumer group ${name}`);
}

const ONE = object({ name: NAME, group: GROUP });

export const TOPIC_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/topics",
    group,
    summary: "Topics, from the registry of names: durable ones with their groups, plain ones with who listens.",
    answers: "Durable topics with messages, groups, the worst lag, pending and dead ones; channels with subscribers.",
    answer: object({
      topics: array(
        object({
          name: string(),
          prefix: string(),
          ...STATS,
          groups: integer(),
          lag: integer({ description: "Of the group that is farthest behind." }),
          pending: integer(),
          dead: integer(),
        }),
      ),
      channels: array(object({ name: string(), prefix: string(), subscribers: integer() })),
      complete: boolean(),
    }),
    run: list,
  }),
  route({
    method: "GET",
    url: "/api/topics/:name",
    group,
    summary: "A durable topic: its consumer groups and its last messages.",
    params: object({ name: NAME }),
    query: QUERY,
    answers: "Messages, the newest first; long data are cut to text.",
    answer: object({
      ...STATS,
      groups: array(PROGRESS),
      messages: array(object({ id: string(), data: anything(), publishedAt: date() })),
    }),
    run: (context, { params, query }) => show(context, params.name, query.prefix),
  }),
  route({
    method: "POST",
    url: "/api/topics/:name/messages",
    group,
    summary: "Publishes a message.",
    params: object({ name: NAME }),
    query: QUERY,
    body: object({ data: anything("Any JSON.") }),
    answers: "Nothing.",
    answer: DONE,
    run: async (context, { params, query, body }) =>
      void (await (await used(context, params.name, query.prefix)).publish(body.data)),
  }),
  route({
    method: "GET",
    url: "/api/topics/:name/groups/:group/dead",
    group,
    summary: "Dead letters of a consumer group, the oldest first.",
    params: ONE,
    query: QUERY,
    answers: "The first 200 with their errors.",
    answer: object({ items: array(LETTER), cursor: nullable(string()) }),
    run: async (context, { params, query }) =>
      (await used(context, params.name, query.prefix)).listDead(params.group, { limit: MOST }),
  }),
  route({
    method: "POST",
    url: "/api/topics/:name/groups/:group",
    group,
    summary: "Sets a group to a place, so that it gets messages again; or delivers its dead letters again.",
    params: ONE,
    query: QUERY,
    body: object(
      {
        action: oneOf(["replay", "replayDead"]),
        from: string({ maxLength: 64, description: "`start`, `now`, a time, or the id of a message. For `replay`." }),
        id: string({ maxLength: 64, description: "Of one dead letter; all if it is left out." }),
      },
      ["from", "id"],
    ),
    answers: "How many dead letters were delivered again.",
    answer: object({ messages: integer() }),
    run: async (context, { params, query, body }) => {
      const topic = await used(context, params.name, query.prefix);
      await groupIn(topic, params.group);
      if (body.action === "replayDead")
        return { messages: await topic.replayDead(params.group, body.id === undefined ? {} : { id: body.id }) };
      const { from = "start" } = body;
      const isTime = /^\d{4}-\d\d-\d\d(T|$)/.test(from);
      await topic.replay(params.group, { from: isTime ? new Date(from) : from });
      return { messages: 0 };
    },
  }),
  route({
    method: "DELETE",
    url: "/api/topics/:name/groups/:group",
    group,
    summary: "Deletes a consumer group with its place and its dead letters.",
    params: ONE,
    query: QUERY,
    answers: "Whether there was one.",
    answer: object({ deleted: boolean() }),
    run: async (context, { params, query }) => ({
      deleted: await (await used(context, params.name, query.prefix)).deleteGroup(params.group),
    }),
  }),
];
