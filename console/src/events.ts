/**
 * Live updates: what one request announces, all pages that follow the example hear, in this console and in any other on the same
 * store, by publish/subscribe. To a browser they go as server-sent events.
 */
import type { Store } from "cinnabar";
import { Channel } from "cinnabar/waiting";
import { type Context, type Input, type Route, route } from "./route.ts";
import { untraced } from "./trace.ts";

/** What a page may leave unread before it is let go; it connects again when it is awake. */
const MOST_UNREAD_BYTES = 256 * 1024;
/** A comment so often keeps the connection, and finds out that there is none. */
const ALIVE_MS = 15_000;
/** A store that is lost is asked again so often. */
const RETRY_MS = 1_000;

export interface EventStream {
  /** Sends an event; `data` as JSON. */
  send(event: string, data: unknown): void;
  /** Called once, when the page has gone. */
  onClose(callback: () => void): void;
}

/** Turns the answer to a request into a stream of events. */
export function openStream({ request, reply }: Input<unknown, unknown, unknown>): EventStream {
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200, { "content-type": "text/event-stream" });
  raw.write("retry: 1000\n\n");
  const alive = setInterval(() => raw.write(": alive\n\n"), ALIVE_MS);
  alive.unref();
  request.raw.once("close", () => clearInterval(alive));
  return {
    send: (event, data) => {
      if (raw.destroyed) return;
      raw.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      if (raw.writableLength > MOST_UNREAD_BYTES) raw.destroy();
    },
    onClose: (callback) => {
      if (raw.destroyed) callback();
      else request.raw.once("close", callback);
    },
  };
}

export const channelOf = (name: string): string => `example:${name}:events`;

/** Tells everybody who follows the example. `event` becomes JSON; keep it small: pages load what they need. */
export async function announce(store: Store, name: string, event: unknown): Promise<void> {
  await store.call("PUBLISH", channelOf(name), JSON.stringify(event));
}

/** Hears what is announced for an example: `change` with each event, and `resumed` when some may have been missed. */
function channelTo(heard: { change(event: unknown): void; resumed(): void }, store: Store, name: string): Channel {
  return new Channel(store, channelOf(name), {
    message: (message) => heard.change(JSON.parse(message.toString("utf8"))),
    begun: heard.resumed,
    resumed: heard.resumed,
  });
}

/** The route on which pages hear what is announced for an example. */
export const eventsRoute = (example: string, summary: string): Route =>
  route({
    method: "GET",
    url: `/api/examples/${example}/events`,
    group: "Examples",
    summary,
    answers: "A stream of events.",
    media: "text/event-stream",
    run: (context, input) => followEvents(context, input, example),
  });

async function followEvents({ store }: Context, input: Input<unknown, unknown, unknown>, name: string): Promise<void> {
  let stream: EventStream | undefined;
  const heard = {
    change: (event: unknown) => stream?.send("change", event),
    resumed: () => stream?.send("resumed", {}),
  };
  const channel = channelTo(heard, store, name);
  await untraced(() => channel.open());
  // Only now: a page whose stream has begun misses nothing that is announced from then on.
  stream = openStream(input);
  stream.send("resumed", {});
  stream.onClose(() => void channel.close());
}

/**
 * Adds what is announced for an example to a stream that is there already, and goes on without a store: `resumed` tells that the
 * store is heard from now on. Both name the example, since one stream may carry several.
 */
export function addEvents({ store }: Context, stream: EventStream, name: string): void {
  const heard = {
    change: (event: unknown) => stream.send("change", { example: name, event }),
    resumed: () => stream.send("resumed", { example: name }),
  };
  const channel = channelTo(heard, store, name);
  untraced(() => channel.openEventually(RETRY_MS));
  stream.onClose(() => void channel.close());
}
