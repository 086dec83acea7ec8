/**
 * Publish and subscribe. Confirmations are messages, one per channel, and in RESP3 pushes; the count in them is of channels
 * and patterns together, while shard channels are counted apart.
 */

import type { Client } from "../../core/client.ts";
import { subcommandSyntax } from "../../core/errors.ts";
import { Push, Replies, type Reply } from "../../core/reply.ts";
import { compileGlob } from "../../lib/glob.ts";
import type { Args } from "../../table/args.ts";
import { group, key, keysFrom, type Row } from "../../table/command.ts";
import { withHelp } from "../shared/help.ts";

type Change = (client: Client, channel: string) => void;
type Count = (client: Client) => number;

const plainCount: Count = (client) => client.channels.size + client.patterns.size;
const shardCount: Count = (client) => client.shardChannels.size;

/** One reply, or several to one command. */
const replies = (items: readonly Reply[]): Reply => (items.length === 1 ? items[0]! : new Replies(items));

/** Changes the subscription to each channel and confirms each with the count that it leaves. */
function confirmEach(kind: string, client: Client, channels: Iterable<string>, change: Change, count: Count): Reply {
  const confirmations: Reply[] = [];
  for (const channel of channels) {
    change(client, channel);
    confirmations.push(new Push([kind, channel, count(client)]));
  }
  if (confirmations.length === 0) confirmations.push(new Push([kind, null, count(client)]));
  return replies(confirmations);
}

interface Kind {
  readonly count: Count;
  readonly own: (client: Client) => ReadonlySet<string>;
  readonly add: Change;
  readonly remove: Change;
}

const CHANNELS: Kind = {
  count: plainCount,
  own: (client) => client.channels,
  add: (client, channel) => client.engine.pubsub.subscribe(client, channel),
  remove: (client, channel) => client.engine.pubsub.unsubscribe(client, channel),
};

const PATTERNS: Kind = {
  count: plainCount,
  own: (client) => client.patterns,
  add: (client, pattern) => client.engine.pubsub.subscribePattern(client, pattern),
  remove: (client, pattern) => client.engine.pubsub.unsubscribePattern(client, pattern),
};

const SHARD_CHANNELS: Kind = {
  count: shardCount,
  own: (client) => client.shardChannels,
  add: (client, channel) => client.engine.pubsub.subscribeShard(client, channel),
  remove: (client, channel) => client.engine.pubsub.unsubscribeShard(client, channel),
};

const subscribe = (name: string, { add, count }: Kind) => ({
  name,
  channels: { many: true, patterns: name === "psubscribe" },
  arity: -2,
  flags: ["pubsub", "noscript", "loading", "stale"] as const,
  whileSubscribed: true as const,
  ownConnection: true as const,
  reply: "Reply[]",
  complexity: "O(N) for N channels",
  run: (client: Client, args: Args) => confirmEach(name, client, args.rest(), add, count),
});

/** Without a channel: all of its kind that the client has. */
const unsubscribe = (name: string, { own, remove, count }: Kind) => ({
  name,
  arity: -1,
  flags: ["pubsub", "noscript", "loading", "stale"] as const,
  whileSubscribed: true as const,
  ownConnection: true as const,
  reply: "Reply[]",
  complexity: "O(N) for N channels",
  run: (client: Client, args: Args) =>
    confirmEach(name, client, args.more ? args.rest() : [...own(client)], remove, count),
});

const ONE_CHANNEL = { many: false, patterns: false };
const SHARD_KEYS = [keysFrom(["not_key"])];

/** PUBSUB CHANNELS and its like: names, filtered by a pattern where one is given. */
function listChannels(names: Iterable<string>, args: Args): string[] {
  if (args.left > 1) throw subcommandSyntax(args.argv[1]!, "PUBSUB");
  if (!args.more) return [...names];
  const matches = compileGlob(args.next());
  const found: string[] = [];
  for (const name of names) if (matches(name)) found.push(name);
  return found;
}

function countSubscribers(
  subscribers: ReadonlyMap<string, ReadonlySet<unknown>>,
  channels: readonly string[],
): Reply[] {
  const flat: Reply[] = [];
  for (const channel of channels) flat.push(channel, subscribers.get(channel)?.size ?? 0);
  return flat;
}

/** Replicas get it by the stream; the nodes of a Cluster, replicas among them, from each other. */
function publish(client: Client, args: Args, sharded: boolean): number {
  const { cluster, pubsub } = client.engine;
  const channel = args.next();
  const message = args.next();
  if (cluster === null) client.propagate.asItselfToReplicas(args.argv);
  else cluster.spread(channel, message, sharded);
  return sharded ? pubsub.publishShard(channel, message) : pubsub.publish(channel, message);
}

const look: Pick<Row, "flags"> = { flags: ["pubsub", "loading", "stale"] };

export const pubsub = group("pubsub", [
  {
    ...subscribe("subscribe", CHANNELS),
    since: "2.0.0",
    summary: "Listens to channels.",
    syntax: "channel [channel ...]",
  },
  {
    ...unsubscribe("unsubscribe", CHANNELS),
    since: "2.0.0",
    summary: "Stops listening to channels, or to all of them.",
    syntax: "[channel [channel ...]]",
  },
  {
    ...subscribe("psubscribe", PATTERNS),
    since: "2.0.0",
    summary: "Listens to all channels whose names match a pattern.",
    syntax: "pattern [pattern ...]",
  },
  {
    ...unsubscribe("punsubscribe", PATTERNS),
    since: "2.0.0",
    summary: "Stops listening by patterns, or by all of them.",
    syntax: "[pattern [pattern ...]]",
  },
  {
    ...subscribe("ssubscribe", SHARD_CHANNELS),
    keys: SHARD_KEYS,
    since: "7.0.0",
    summary: "Listens to shard channels.",
    syntax: "shardchannel [shardchannel ...]",
  },
  {
    ...unsubscribe("sunsubscribe", SHARD_CHANNELS),
    keys: SHARD_KEYS,
    since: "7.0.0",
    summary: "Stops listening to shard channels, or to all of them.",
    syntax: "[shardchannel [shardchannel ...]]",
  },
  {
    name: "publish",
    arity: 3,
    channels: ONE_CHANNEL,
    flags: ["pubsub", "loading", "stale", "fast", "may_replicate"],
    since: "2.0.0",
    summary: "Sends a message to everybody who listens to a channel and returns how many they are.",
    syntax: "channel message",
    reply: "number",
    complexity: "O(N+M) for N subscribers of the channel and M patterns",
    run: (client, args) => publish(client, args, false),
  },
  {
    name: "spublish",
    arity: 3,
    channels: ONE_CHANNEL,
    flags: ["pubsub", "loading", "stale", "fast", "may_replicate"],
    keys: [key(["not_key"])],
    since: "7.0.0",
    summary: "Sends a message to everybody who listens to a shard channel and returns how many they are.",
    syntax: "shardchannel message",
    reply: "number",
    complexity: "O(N) for N subscribers of the channel",
    run: (client, args) => publish(client, args, true),
  },
  {
    name: "pubsub",
    arity: -2,
    flags: [],
    since: "2.8.0",
    summary: "Tells who listens to what.",
    syntax: "",
    complexity: "depends on the subcommand",
    subcommands: withHelp(
      "pubsub",
      "6.2.0",
      [
        {
          ...look,
          name: "channels",
          arity: -2,
          since: "2.8.0",
          summary: "Lists the channels that somebody listens to.",
          syntax: "[pattern]",
          reply: "string[]",
          complexity: "O(N) for N channels",
          run: ({ engine }, args) => listChannels(engine.pubsub.channels.keys(), args),
        },
        {
          ...look,
          name: "numpat",
          arity: 2,
          since: "2.8.0",
          summary: "Counts the patterns that somebody listens by.",
          syntax: "",
          reply: "number",
          complexity: "O(1)",
          run: ({ engine }) => engine.pubsub.patternCount,
        },
        {
          ...look,
          name: "numsub",
          arity: -2,
          since: "2.8.0",
          summary: "Counts the subscribers of channels.",
          syntax: "[channel [channel ...]]",
          reply: "(string | number)[]",
          complexity: "O(N) for N channels",
          run: ({ engine }, args) => countSubscribers(engine.pubsub.channels, args.rest()),
        },
        {
          ...look,
          name: "shardchannels",
          arity: -2,
          since: "7.0.0",
          summary: "Lists the shard channels that somebody listens to.",
          syntax: "[pattern]",
          reply: "string[]",
          complexity: "O(N) for N channels",
          run: ({ engine }, args) => listChannels(engine.pubsub.shardChannels.keys(), args),
        },
        {
          ...look,
          name: "shardnumsub",
          arity: -2,
          since: "7.0.0",
          summary: "Counts the subscribers of shard channels.",
          syntax: "[shardchannel [shardchannel ...]]",
          reply: "(string | number)[]",
          complexity: "O(N) for N channels",
          run: ({ engine }, args) => countSubscribers(engine.pubsub.shardChannels, args.rest()),
        },
      ],
      { noGroupCategory: true },
    ),
  },
]);
