/**
 * Who listens to what. Channels, patterns and shard channels are three separate spaces; a client's own sets (client.ts)
 * and the maps here always say the same.
 *
 * A message is built once, as one Push, and handed to every subscriber of a channel; encoders keep its bytes on it
 * (reply.ts), so that a message to thousands is encoded once per protocol. Subscribers get it in the order in which they
 * subscribed: those of the channel first, then those of each pattern.
 */

import { compileGlob } from "../lib/glob.ts";
import { Push, type Reply } from "./reply.ts";

/** A client, as far as it listens. */
export interface Subscriber {
  readonly channels: Set<string>;
  readonly patterns: Set<string>;
  readonly shardChannels: Set<string>;
  /** How many of all three. */
  readonly subscriptions: number;
  push(message: Reply): void;
}

interface PatternSubscribers {
  readonly matches: (channel: string) => boolean;
  readonly clients: Set<Subscriber>;
}

type Subscribers = Map<string, Set<Subscriber>>;

function add(subscribers: Subscribers, channel: string, client: Subscriber): void {
  const clients = subscribers.get(channel);
  if (clients === undefined) subscribers.set(channel, new Set([client]));
  else clients.add(client);
}

function remove(subscribers: Subscribers, channel: string, client: Subscriber): void {
  const clients = subscribers.get(channel);
  if (clients === undefined) return;
  clients.delete(client);
  if (clients.size === 0) subscribers.delete(channel);
}

export class PubSub {
  readonly channels: ReadonlyMap<string, ReadonlySet<Subscriber>>;
  readonly shardChannels: ReadonlyMap<string, ReadonlySet<Subscriber>>;
  readonly #channels: Subscribers = new Map();
  readonly #shardChannels: Subscribers = new Map();
  readonly #patterns = new Map<string, PatternSubscribers>();

  constructor() {
    this.channels = this.#channels;
    this.shardChannels = this.#shardChannels;
  }

  /** How many different patterns are listened to. */
  get patternCount(): number {
    return this.#patterns.size;
  }

  // ---------------------------------------------------------------------------------------------- subscribing

  subscribe(client: Subscriber, channel: string): void {
    client.channels.add(channel);
    add(this.#channels, channel, client);
  }

  unsubscribe(client: Subscriber, channel: string): void {
    if (client.channels.delete(channel)) remove(this.#channels, channel, client);
  }

  subscribePattern(client: Subscriber, pattern: string): void {
    client.patterns.add(pattern);
    const found = this.#patterns.get(pattern);
    if (found === undefined) {
      this.#patterns.set(pattern, { matches: compileGlob(pattern), clients: new Set([client]) });
    } else found.clients.add(client);
  }

  unsubscribePattern(client: Subscriber, pattern: string): void {
    if (!client.patterns.delete(pattern)) return;
    const found = this.#patterns.get(pattern);
    if (found === undefined) return;
    found.clients.delete(client);
    if (found.clients.size === 0) this.#patterns.delete(pattern);
  }

  subscribeShard(client: Subscriber, channel: string): void {
    client.shardChannels.add(channel);
    add(this.#shardChannels, channel, client);
  }

  unsubscribeShard(client: Subscriber, channel: string): void {
    if (client.shardChannels.delete(channel)) remove(this.#shardChannels, channel, client);
  }

  /** Ends every subscription of a client, silently. */
  unsubscribeAll(client: Subscriber): void {
    if (client.subscriptions === 0) return;
    for (const channel of client.channels) this.unsubscribe(client, channel);
    for (const pattern of client.patterns) this.unsubscribePattern(client, pattern);
    for (const channel of client.shardChannels) this.unsubscribeShard(client, channel);
  }

  // ---------------------------------------------------------------------------------------------- publishing

  /** Hands a message to everybody who listens; returns to how many (one client counts once per matching subscription). */
  publish(channel: string, message: string): number {
    let receivers = 0;
    const clients = this.#channels.get(channel);
    if (clients !== undefined) {
      receivers = clients.size;
      deliver(clients, new Push(["message", channel, message]));
    }
    if (this.#patterns.size === 0) return receivers;
    for (const [pattern, subscribers] of this.#patterns) {
      if (!subscribers.matches(channel)) continue;
      receivers += subscribers.clients.size;
      deliver(subscribers.clients, new Push(["pmessage", pattern, channel, message]));
    }
    return receivers;
  }

  publishShard(channel: string, message: string): number {
    const clients = this.#shardChannels.get(channel);
    if (clients === undefined) return 0;
    const receivers = clients.size;
    deliver(clients, new Push(["smessage", channel, message]));
    return receivers;
  }
}

/** A subscriber that is cut off meanwhile leaves the set, which a loop over a Set allows. */
function deliver(clients: ReadonlySet<Subscriber>, message: Push): void {
  for (const client of clients) client.push(message);
}
