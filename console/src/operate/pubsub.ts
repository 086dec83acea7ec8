import { type Context, type Input, Problem, type Route, route } from "../route.ts";
import { array, boolean, integer, object, string, type Typed } from "../schema.ts";
import { listOf, sound, textsOf } from "../values.ts";
import { streamHeard } from "./listening.ts";

const group = "Live";
const MOST_CHANNELS = 500;
const MOST_NAMES = 20;
/** Messages that are shown in one second; the others are counted. */
const MOST_SHOWN = 200;
const MOST_LETTERS = 2_000;

const QUERY = object(
  {
    channels: array(string({ minLength: 1, maxLength: 1_024 }), { maxItems: MOST_NAMES }),
    patterns: array(string({ minLength: 1, maxLength: 1_024 }), { maxItems: MOST_NAMES }),
    minutes: integer({ default: 10, minimum: 1, maximum: 60, description: "It ends by itself after so long." }),
  },
  ["channels", "patterns"],
);

async function channels({ store }: Context, match: string) {
  const counts = new Map<string, number>();
  let patterns = 0;
  for (const answer of await store.sendToAll(["PUBSUB", "NUMPAT"])) patterns += Number(sound(answer));
  const names = new Set<string>();
  for (const answer of await store.sendToAll(["PUBSUB", "CHANNELS", match]))
    for (const name of textsOf(sound(answer))) names.add(name);
  const shown = [...names].sort().slice(0, MOST_CHANNELS);
  if (shown.length > 0) {
    for (const answer of await store.sendToAll(["PUBSUB", "NUMSUB", ...shown])) {
      const flat = listOf(sound(answer));
      for (const [at, name] of shown.entries()) counts.set(name, (counts.get(name) ?? 0) + Number(flat[2 * at + 1]));
    }
  }
  return {
    channels: shown.map((name) => ({ name, subscribers: counts.get(name) ?? 0 })),
    patterns,
    complete: names.size <= MOST_CHANNELS,
  };
}

interface Message {
  readonly at: number;
  readonly channel: string;
  readonly text: string;
}

/** `message channel text`, or `pmessage pattern channel text`. */
function messageOf([kind, ...rest]: readonly string[]): Message | null {
  const [channel, text] = kind === "message" ? rest : kind === "pmessage" ? rest.slice(1) : [];
  if (channel === undefined || text === undefined) return null;
  return { at: Date.now(), channel, text: text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text };
}

async function listen(context: Context, input: Input<Typed<typeof QUERY>, unknown, unknown>): Promise<void> {
  const { channels: names = [], patterns = [], minutes } = input.query;
  if (names.length + patterns.length === 0) throw new Problem(400, "INPUT", "name a channel or a pattern to listen to");
  let heard = 0;
  await streamHeard<Message>(context.store, input, {
    // A command for each: every one is confirmed by a message of its own.
    commands: [...names.map((name) => ["SUBSCRIBE", name]), ...patterns.map((pattern) => ["PSUBSCRIBE", pattern])],
    name: "messages",
    heard: (parts) => {
      const message = messageOf(parts);
      if (message === null) return null;
      heard++;
      return heard <= MOST_SHOWN ? message : null;
    },
    second: () => {
      const counts = { heard, shown: Math.min(heard, MOST_SHOWN) };
      heard = 0;
      return counts;
    },
    began: {},
    lastsMs: minutes * 60_000,
    over: `it listened for ${minutes} min`,
  });
}

/** What key-space events need: events by name, of all kinds that the page shows. */
const WANTED_EVENTS = "KEA";

async function keySpace({ store }: Context) {
  const { "notify-keyspace-events": setting = "" } = await store.configGet("notify-keyspace-events");
  // E: events by their names; A or any letter of a kind: which.
  return {
    setting,
    wanted: WANTED_EVENTS,
    enabled: setting.includes("E") && /[A-DF-Zg$lshzxetdmn]/.test(setting.replace(/[KE]/g, "")),
  };
}

export const PUBSUB_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/pubsub",
    group,
    summary: "Channels that somebody listens to now.",
    query: object({ match: string({ default: "*", minLength: 1, maxLength: 1_024, description: "A glob." }) }),
    answers: "Channels with their subscribers, the first 500; how many patterns are subscribed to.",
    answer: object({
      channels: array(object({ name: string(), subscribers: integer() })),
      patterns: integer(),
      complete: boolean(),
    }),
    run: (context, { query }) => channels(context, query.match),
  }),
  route({
    method: "GET",
    url: "/api/stream/messages",
    group,
    summary:
      "Messages of channels and patterns, as server-sent events: `messages` with at most 200 a second, `second` with how many there were, `ended` with the reason.",
    query: QUERY,
    answers: "A stream of events; it ends by itself.",
    media: "text/event-stream",
    run: listen,
  }),
  route({
    method: "POST",
    url: "/api/pubsub",
    group,
    summary: "Publishes a message.",
    body: object({ channel: string({ minLength: 1, maxLength: 1_024 }), message: string({ maxLength: 1_000_000 }) }),
    answers: "How many heard it, as the server counts.",
    answer: object({ receivers: integer() }),
    run: async ({ store }, { body }) => ({
      receivers: Number(await store.call("PUBLISH", body.channel, body.message)),
    }),
  }),
  route({
    method: "GET",
    url: "/api/keyspace-events",
    group,
    summary: "Whether the server tells of changes to keys: notify-keyspace-events.",
    answers: "The setting, the one that is needed, and whether it will do.",
    answer: object({ setting: string(), wanted: string(), enabled: boolean() }),
    run: keySpace,
  }),
];
