/** A server that is wrong on purpose, for the harness's own tests: a real one behind a hand that changes what passes. */
import { connect, createServer, type Socket } from "node:net";
import { startRedis } from "./redis-server.ts";
import { type Target, tcpTarget } from "./target.ts";

export interface Tampering {
  /** Changes what the client asks. */
  readonly request?: (bytes: string) => string;
  /** Changes what the server answers, given what was asked last. */
  readonly reply?: (bytes: string, request: string) => string;
}

export async function wrongTarget({
  request = (bytes) => bytes,
  reply = (bytes) => bytes,
}: Tampering): Promise<Target> {
  const server = await startRedis();
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect({ host: "127.0.0.1", port: server.port, noDelay: true });
    let asked = "";
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
    }
    client.setNoDelay(true);
    client.on("data", (chunk: Buffer) => {
      asked = chunk.latin1Slice();
      upstream.write(request(asked), "latin1");
    });
    client.on("end", () => upstream.end());
    upstream.on("data", (chunk: Buffer) => void client.write(reply(chunk.latin1Slice(), asked), "latin1"));
    upstream.on("end", () => client.end());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return tcpTarget("wrong", port, async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => proxy.close(resolve));
    await server.stop();
  });
}
