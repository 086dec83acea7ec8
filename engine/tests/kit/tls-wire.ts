/** A connection with TLS for tests, which speaks RESP as those without do. */
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { Wire } from "../conformance/wire.ts";

/** Settles when the handshake is over; rejects with what TLS says. */
export function openTls(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, ...options });
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

export async function openTlsWire(port: number, options: ConnectionOptions): Promise<Wire> {
  const socket = await openTls(port, options);
  return new Wire(socket, `127.0.0.1:${socket.localPort}`);
}

/** What a client gets that connects and sends PING: the answer, or the code or text of the error that ends it. */
export function pingOver(port: number, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, ...options });
    socket.once("secureConnect", () => socket.write("PING\r\n"));
    socket.once("data", (data: Buffer) => {
      socket.destroy();
      resolve(data.toString().trim());
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.once("close", () => resolve("closed"));
  });
}
