/** Client libraries for Node expect streams of Node's. There are none here; pages have `serve`. */
import { NoSockets } from "../platform/no-sockets.browser.ts";
import type { Duplex } from "../platform/streams.ts";

export type LocalStream = Duplex;
export type StreamOptions = object;

export function openStream(_engine: object, _flusher: object, _options?: StreamOptions): LocalStream {
  throw new NoSockets("stream");
}
