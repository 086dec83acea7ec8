/** A tunnel that compresses, as `ssh -C` does: what goes in is deflated on one side of a line and inflated on the other. */
import { connect, createServer, type Server, type Socket } from "node:net";
import { constants, createDeflate, createInflate } from "node:zlib";

export class Tunnel {
  readonly port: number;
  readonly #servers: readonly Server[];
  readonly #sockets = new Set<Socket>();
  /** Bytes to the replica: as the primary sent them, and on the line. */
  plainBytes = 0;
  lineBytes = 0;

  private constructor(port: number, servers: readonly Server[]) {
    this.port = port;
    this.#servers = servers;
  }

  static async to(target: number): Promise<Tunnel> {
    const far = createServer();
    const near = createServer();
    const line = await listen(far);
    const tunnel = new Tunnel(await listen(near), [far, near]);
    near.on("connection", (client) => tunnel.#join(client, connect(line, "127.0.0.1"), "compressed behind"));
    far.on("connection", (client) => tunnel.#join(client, connect(target, "127.0.0.1"), "compressed before"));
    return tunnel;
  }

  #join(one: Socket, other: Socket, side: "compressed behind" | "compressed before"): void {
    const [plain, line] = side === "compressed behind" ? [one, other] : [other, one];
    for (const [socket, peer] of [
      [plain, line],
      [line, plain],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => {}).on("close", () => peer.destroy());
    }
    const deflate = createDeflate({ flush: constants.Z_SYNC_FLUSH });
    const inflate = createInflate({ flush: constants.Z_SYNC_FLUSH });
    inflate.on("error", () => line.destroy());
    plain.pipe(deflate).pipe(line);
    line.pipe(inflate).pipe(plain);
    if (side === "compressed behind") return;
    plain.on("data", (data) => {
      this.plainBytes += data.length;
    });
    deflate.on("data", (data: Buffer) => {
      this.lineBytes += data.length;
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address === "string") reject(new Error("the tunnel has no port"));
      else resolve(address.port);
    });
  });
}
