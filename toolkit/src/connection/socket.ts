/**
 * Makes streams of bytes to a server: TCP, TLS and unix sockets.
 *
 * All of them read into one buffer, and lend it to a caller that asks for that: a buffer for each read would be most of what the memory
 * of a busy client is. A runtime that does not know of this emits `data` as usual.
 */
import { connect as connectTcp, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { ConnectionError } from "../base/errors.ts";
import type { Dialer, Endpoint } from "./dial.ts";

/** The kernel asks an idle peer for a sign of life after so long. */
const KEEP_ALIVE_MS = 30_000;

/** What a stream has that lends its bytes. The listener must not keep what it is given. */
export const LEND = Symbol("lend");

export interface Lending {
  [LEND](listener: (bytes: Buffer) => void): void;
}

/** What one read may bring. */
const READ_BYTES = 256 << 10;
/** One for all: a read is over before the next one begins, on whatever socket. Its pages are taken when they are used. */
const SHARED = Buffer.allocUnsafeSlow(READ_BYTES);

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
  const reading = new Reading();
  const options = { ...common, ...(family === undefined ? {} : { family }), onread: reading };
  // Servers behind a proxy are told apart by the name that is asked for.
  const servername = "host" in endpoint && isIP(endpoint.host) === 0 ? { servername: endpoint.host } : {};
  const socket = tls === undefined ? connectTcp(options) : connectTls({ ...options, ...servername, ...tls });
  return Object.assign(socket, { [LEND]: reading.lend });
}

/** What `net.connect` takes as `onread`. */
class Reading {
  readonly buffer = SHARED;
  /** What came before somebody listened: a server may refuse a connection at once. */
  #early: Buffer[] = [];
  #listener: ((bytes: Buffer) => void) | null = null;

  readonly callback = (length: number, buffer: Uint8Array): boolean => {
    const bytes = Buffer.from(buffer.buffer, buffer.byteOffset, length);
    if (this.#listener === null) this.#early.push(Buffer.from(bytes));
    else this.#listener(bytes);
    return true;
  };

  readonly lend = (listener: (bytes: Buffer) => void): void => {
    this.#listener = listener;
    for (const bytes of this.#early.splice(0)) listener(bytes);
  };
}

/** Rejects with what the system said; a socket that is late is closed. */
export function connected<S extends Socket>(socket: S, event: string, timeoutMs: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(() => {
      // A server that waits for commands takes the first words of TLS for the beginning of one.
      const isSilent = event === "secureConnect" && !socket.connecting;
      const text = isSilent
        ? "nothing came in answer to TLS; does the server use it on this port?"
        : "connect ETIMEDOUT";
      fail(Object.assign(new Error(text), { code: "ETIMEDOUT" }));
    }, timeoutMs);
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
