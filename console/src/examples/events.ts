/**
 * Live updates: what one request announces, all pages that follow the example hear, in this console and in any other on the same
 * store, by publish/subscribe. To a browser they go as server-sent events.
 */
import type { Store } from "cinnabar";
import type { Context, Input } from "../route.ts";
import { untraced } from "./trace.ts";

/** What a page may leave unread before it is let go; it connects again when it is awake. */
const MOST_UNREAD_BYTES = 256 * 1024;
/** A comment so often keeps the connection, and finds out that there is none. */
const ALIVE_MS = 15_000;

export interface EventStream {
  /** Sends an event; `data` as JSON. */
  send(event: string, data: unknown): void;
  /** Called once, when the page has gone. */
  onClose(callback: () => void): void;
}

/** Turns the answer to a request into a stream of events. */
export function openStream({ request, reply }: Input<unknown, unknown, unknown>): EventStream {
  const headers = { ...(reply.getHeaders() as Record<string, string>), "content-type": "text/event-stream" };
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, headers);
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

/**
 * Follows what is announced for an example: `change` with each event, and `resumed` when some may have been missed. With
 * `wanted` only some of them, or another form of them: null is left out.
 */
export async function followEvents(
  { store }: Context,
  input: Input<unknown, unknown, unknown>,
  name: string,
  wanted: (event: unknown) => unknown = (event) => event,
): Promise<void> {
  let stream: EventStream | undefined;
  const subscription = await untraced(() =>
    store.subscribe(
      channelOf(name),
      (message) => {
        const event = wanted(JSON.parse(message.toString("utf8")));
        if (event !== null && event !== undefined) stream?.send("change", event);
      },
      () => stream?.send("resumed", {}),
    ),
  );
  // Only now: a page whose stream has begun misses nothing that is announced from then on.
  stream = openStream(input);
  stream.send("resumed", {});
  stream.onClose(() => void subscription.close().catch(() => {}));
}
