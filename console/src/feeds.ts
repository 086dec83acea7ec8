/**
 * What a server says unasked: the commands that it runs (MONITOR) and messages of channels. A feed has connections of its own, one to
 * each primary, since such a connection can do nothing else. It is open only while a page looks, and there are few at once.
 */
import type { Store } from "cinnabar";
import { type Link, LinkFailure, ReplyFailure } from "./commands/link/link.ts";
import { placeOf } from "./commands/link/place.ts";
import { reach, slotRanges } from "./commands/link/reach.ts";
import { itemsIn, type Reply, textIn } from "./commands/link/reply.ts";
import { Problem } from "./route.ts";

/** At once, over all pages of a console. */
const MOST_FEEDS = 8;

export interface Feed {
  close(): void;
}

export interface FeedEvents {
  /** A line of MONITOR is a list of one. */
  heard(message: readonly string[]): void;
  /** The connection is gone. */
  lost(reason: string): void;
}

const open = new WeakMap<Store, Set<Feed>>();

export async function openFeed(
  store: Store,
  commands: readonly (readonly string[])[],
  events: FeedEvents,
): Promise<Feed> {
  const feeds = open.get(store) ?? new Set<Feed>();
  open.set(store, feeds);
  if (feeds.size >= MOST_FEEDS)
    throw new Problem(429, "FEEDS", `${MOST_FEEDS} pages listen to this store already: close one of them`);
  const ends: (() => void)[] = [];
  let isClosed = false;
  // What is closed here is not lost, and what was under way is not heard.
  const heeded: FeedEvents = {
    heard: (message) => !isClosed && events.heard(message),
    lost: (reason) => !isClosed && events.lost(reason),
  };
  const feed: Feed = {
    close: () => {
      isClosed = true;
      feeds.delete(feed);
      for (const end of ends.splice(0)) end();
    },
  };
  // Before it is open, so that many requests at once do not pass the limit.
  feeds.add(feed);
  try {
    ends.push(...(await (store.topology === "embedded" ? inProcess : overWires)(store, commands, heeded)));
  } catch (error) {
    feed.close();
    if (error instanceof ReplyFailure) throw new Problem(422, error.code, error.message);
    if (error instanceof LinkFailure) throw new Problem(503, "UNREACHABLE", error.message);
    throw error;
  }
  return feed;
}

async function inProcess(
  store: Store,
  commands: readonly (readonly string[])[],
  { heard }: FeedEvents,
): Promise<(() => void)[]> {
  const ends: (() => void)[] = [];
  for (const words of commands) {
    const end = await store.feed(words, (message) => heard(message.map(String)));
    if (end === null) throw unreachable();
    ends.push(end);
  }
  return ends;
}

const unreachable = (): Problem =>
  new Problem(
    501,
    "NO_ADDRESS",
    "this console uses a client that the program brought along, and cannot listen beside it",
  );

async function overWires(
  store: Store,
  commands: readonly (readonly string[])[],
  { heard, lost }: FeedEvents,
): Promise<(() => void)[]> {
  const address = store.workerAddress;
  if (address === null) throw unreachable();
  const { tls } = address.options;
  const reached = await reach(placeOf(address.url, {}), tls === undefined ? {} : { tls });
  const links = await connections(reached, store.topology === "cluster");
  for (const link of links) {
    link.onPush = (reply) => heard(textsIn(reply));
    link.onClose((error) => lost(error.message));
    for (const words of commands) await link.call(...words);
  }
  return links.map((link) => () => link.close());
}

async function connections(reached: Awaited<ReturnType<typeof reach>>, isCluster: boolean): Promise<Link[]> {
  const first = await reached.connect();
  if (!isCluster || reached.endpoint === undefined || typeof reached.endpoint === "string") return [first];
  const ranges = await slotRanges(first, reached.endpoint);
  first.close();
  const primaries = new Map(ranges.map(({ primary }) => [`${primary.host} ${primary.port}`, primary]));
  return Promise.all([...primaries.values()].map((primary) => reached.connectTo(primary)));
}

const textsIn = (reply: Reply): string[] =>
  "items" in reply ? itemsIn(reply).map((item) => textIn(item)) : [textIn(reply)];
