/** Makes streams of bytes to a server: TCP, TLS and unix sockets. */
import { connect as connectTcp, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { ConnectionError } from "../base/errors.ts";
import type { Dialer, Endpoint } from "./dial.ts";

/** The kernel asks an idle peer for a sign of life after so long. */
const KEEP_ALIVE_MS = 30_000;

/** `family`: 4, 6, or 0 for either, as in `net.connect`. */
export function socketDialer({ family }: { readonly family?: number | undefined } = {}): Dialer {
  return (endpoint, { timeoutMs, tls }) => {
    if (endpoint === null) throw new ConnectionError("no address is known", { maybeExecuted: false });
    return connected(socketTo(endpoint, tls, family), tls === undefined ? "connect" : "secureConnect", timeoutMs);
  };
}

function socketTo(endpoint: Endpoint, tls: object | undefined, family: number | undefined): Socket {
  const to = "path" in endpoint ? { path: endpoint.path } : { host: endpoint.host, port: endpoint.port };
  const common = { ...to, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS, noDelay: true };
  const options = family === undefined ? common : { ...common, family };
  if (tls === undefined) return connectTcp(options);
  // Servers behind a proxy are told apart by the name that is asked for.
  const servername = "host" in endpoint && isIP(endpoint.host) === 0 ? { servername: endpoint.host } : {};
  return connectTls({ ...options, ...servername, ...tls });
}

/** Rejects with what the system said; a socket that is late is closed. */
export function connected<S extends Socket>(socket: S, event: string, timeoutMs: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(Object.assign(new Error("connect ETIMEDOUT"), { code: "ETIMEDOUT" })),
      timeoutMs,
    );
    const closed = (): void => fail(new Error("the connection was closed before it was made"));
    socket.once("error", fail);
    socket.once("close", closed);
    socket.once(event, () => {
      clearTimeout(timer);
      socket.off("error", fail);
      socket.off("close", closed);
      resolve(socket);
    });
  });
}
