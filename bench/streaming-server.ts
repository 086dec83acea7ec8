/**
 * A server of the stream in a process of its own, for bench/streaming.ts: publishes and tells its memory when it is asked.
 * Arguments: the store's URL, or "" for the embedded one.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { open } from "cinnabar";
import { StatusStream } from "cinnabar/streaming";
import { StreamEndpoint } from "cinnabar/streaming/http";

export type ServerQuestion =
  | { readonly ask: "publish"; readonly ids: readonly string[]; readonly texts: readonly string[] }
  | { readonly ask: "memory" }
  | { readonly ask: "close" };

export interface ServerAnswer {
  readonly port?: number;
  readonly rssBytes?: number;
  readonly connections?: number;
  /** Processor time that publishing and sending took, as far as it was over by then. */
  readonly cpuMs?: number;
}

const [url = ""] = process.argv.slice(2);
const store = await (url === "" ? open() : open(url));
const stream = new StatusStream(store, "bench");
const endpoint = new StreamEndpoint(stream, {
  limits: {
    connectsPerMinutePerAddress: null,
    connectsPerMinutePerUser: null,
    connectionsPerAddress: null,
    connectionsPerUser: null,
  },
});
const server = createServer(endpoint.handler);
await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", 2_048, resolve));

const say = (answer: ServerAnswer): void => void process.send!(answer);

/** The text carries when it was published, by the clock that all processes of a machine share. */
const publish = (id: string, text: string): Promise<void> =>
  stream.publish({
    kind: "status",
    id,
    userId: "1",
    login: "bench",
    text: `${text} t=${(performance.timeOrigin + performance.now()).toFixed(3)};`,
    atMs: Date.now(),
  });

process.on("message", async (question: ServerQuestion) => {
  if (question.ask === "publish") {
    const before = process.cpuUsage();
    await Promise.all(question.ids.map((id, at) => publish(id, question.texts[at]!)));
    const { user, system } = process.cpuUsage(before);
    say({ cpuMs: (user + system) / 1_000 });
  } else if (question.ask === "memory") {
    (globalThis as { gc?: () => void }).gc?.();
    say({ rssBytes: process.memoryUsage().rss, connections: endpoint.connections });
  } else {
    await endpoint.close({ timeoutMs: 2_000 });
    server.closeAllConnections();
    server.close();
    await store.close();
    process.disconnect();
  }
});
say({ port: (server.address() as AddressInfo).port });
