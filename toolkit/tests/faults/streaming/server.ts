/** A server of the stream that a test kills: says "ready" when it listens; SIGTERM closes it as a good one would. */
import { createServer } from "node:http";
import { StreamEndpoint } from "../../../src/components/streaming/http.ts";
import { StatusStream } from "../../../src/components/streaming/index.ts";
import { open } from "../../../src/connection/open.ts";

export interface ServerOrder {
  readonly url: string;
  readonly port: number;
  readonly recentEvents: number;
}

const { url, port, recentEvents } = JSON.parse(process.argv[2]!) as ServerOrder;
const store = await open(url);
const stream = new StatusStream(store, "public", { recentEvents, pollMs: 100 });
const endpoint = new StreamEndpoint(stream, {
  firehose: true,
  heartbeatEveryMs: 50,
  limits: {
    connectsPerMinutePerAddress: null,
    connectsPerMinutePerUser: null,
    connectionsPerAddress: null,
    connectionsPerUser: null,
  },
});
const server = createServer(endpoint.handler);
server.listen(port, "127.0.0.1", () => console.log("ready"));
process.once("SIGTERM", async () => {
  await endpoint.close({ timeoutMs: 2_000, spreadMs: 50 });
  server.closeAllConnections();
  server.close();
  await store.close();
});
