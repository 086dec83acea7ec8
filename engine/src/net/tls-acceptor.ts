/**
 * From a TCP connection to a TLS one: the handshake, its limits, and what is said when it fails.
 *
 * The first byte decides. A client that begins without TLS gets an error in plain words, since the alert of a TLS library is
 * noise to it. A handshake has so long in all, whatever trickles in meanwhile: Node's own limit starts again with every byte.
 *
 * The certificates of clients are judged here, after the handshake, so that a client that is refused can be told why. Two
 * conditions, not one: for a resumed TLS 1.3 session Node reports success even if there never was a certificate.
 *
 * New settings make a new `tls.Server`. Tickets of the old one are void with it, so a certificate that is not trusted any
 * more cannot come back by resuming a session.
 */
import type { Socket } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import type { ReplyError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import { CLIENT_CERTIFICATE_MISSING, clientCertificateRefused, TLS_REQUIRED } from "../core/rare-errors.ts";
import { messageOf } from "../lib/caught.ts";
import type { ServerTls } from "../tls/settings.ts";

/** How long a client may take from connecting to the end of the handshake. */
const HANDSHAKE_MS = 10_000;
/** How long a client that is refused may take to read why. */
const FAREWELL_MS = 1000;
/** The first byte of TLS: a record of the handshake. */
const HANDSHAKE_RECORD = 0x16;

export interface AcceptorOptions {
  /** Asked for each connection: another object means other settings. */
  readonly settings: () => ServerTls;
  readonly log: Log;
  /** Given each connection that is ready for use. */
  readonly secured: (socket: TLSSocket) => void;
  readonly handshakeMs?: number;
}

interface Handshake {
  readonly raw: Socket;
  readonly timer: NodeJS.Timeout;
  /** Why it failed, once that is known; for the log. */
  failure: string | null;
}

export class TlsAcceptor {
  readonly #options: AcceptorOptions;
  /** By both ends' addresses, which are all that Node tells of a connection that has become a secure one. */
  readonly #handshakes = new Map<string, Handshake>();
  #server: Server | null = null;
  #settings: ServerTls | null = null;

  constructor(options: AcceptorOptions) {
    this.#options = options;
  }

  /** Connections that are not clients yet. */
  get pending(): number {
    return this.#handshakes.size;
  }

  accept(raw: Socket): void {
    const ends = endsOf(raw);
    const peer = peerOf(raw);
    const limitMs = this.#options.handshakeMs ?? HANDSHAKE_MS;
    const timer = setTimeout(() => {
      handshake.failure ??= `no handshake within ${limitMs} ms`;
      raw.destroy();
    }, limitMs);
    const handshake: Handshake = { raw, timer, failure: null };
    this.#handshakes.set(ends, handshake);
    raw.on("error", () => raw.destroy());
    raw.once("close", () => {
      if (this.#forget(ends, raw)) this.#tell(peer, handshake);
    });
    const left = () => raw.destroy();
    raw.once("end", left);
    raw.once("data", (first: Buffer) => {
      raw.pause();
      raw.off("end", left);
      if (first[0] === HANDSHAKE_RECORD) this.#begin(handshake, first);
      else {
        handshake.failure = "it does not use TLS";
        refuse(raw, TLS_REQUIRED);
      }
    });
  }

  #begin(handshake: Handshake, first: Buffer): void {
    const { raw } = handshake;
    raw.unshift(first);
    // A peer that ends its side in the middle of a handshake will not finish it.
    raw.allowHalfOpen = false;
    try {
      this.#current().emit("connection", raw);
    } catch (error) {
      // No settings yet: a port that CONFIG SET has opened, and is about to close again.
      handshake.failure = messageOf(error);
      raw.destroy();
    }
  }

  /** Ends the connections that are not clients yet. */
  close(): void {
    for (const [ends, { raw }] of this.#handshakes) {
      this.#forget(ends, raw);
      raw.destroy();
    }
  }

  /** False if it was forgotten before: it has become a client. */
  #forget(ends: string, raw: Socket): boolean {
    const handshake = this.#handshakes.get(ends);
    if (handshake?.raw !== raw) return false;
    clearTimeout(handshake.timer);
    return this.#handshakes.delete(ends);
  }

  /** Programs that look whether a port is open come and go: not every one is worth a warning. */
  #tell(peer: string, { failure }: Handshake): void {
    const reason = failure ?? "it left before the handshake was over";
    this.#options.log(
      failure === null ? "verbose" : "warning",
      `Error accepting a client connection: ${reason} (addr=${peer})`,
    );
  }

  #current(): Server {
    const settings = this.#options.settings();
    if (this.#server !== null && settings === this.#settings) return this.#server;
    const { parts, clientCertificates } = settings;
    const server = createServer({ ...parts, requestCert: clientCertificates !== "no", rejectUnauthorized: false });
    server.on("tlsClientError", (error, socket) => {
      const handshake = this.#handshakes.get(endsOf(socket));
      if (handshake !== undefined) handshake.failure ??= reasonOf(error);
      socket.destroy();
    });
    server.on("secureConnection", (socket) => this.#secured(socket, settings));
    this.#server = server;
    this.#settings = settings;
    return server;
  }

  #secured(socket: TLSSocket, settings: ServerTls): void {
    const ends = endsOf(socket);
    const handshake = this.#handshakes.get(ends);
    if (handshake !== undefined) this.#forget(ends, handshake.raw);
    const refusal = refusalOf(socket, settings);
    socket.allowHalfOpen = true;
    if (refusal === null) this.#options.secured(socket);
    else {
      this.#options.log("warning", `Error accepting a client connection: ${refusal.text} (addr=${peerOf(socket)})`);
      refuse(socket, refusal);
    }
  }
}

function refusalOf(socket: TLSSocket, { clientCertificates }: ServerTls): ReplyError | null {
  if (clientCertificates === "no") return null;
  if (socket.getPeerX509Certificate() === undefined) {
    return clientCertificates === "optional" ? null : CLIENT_CERTIFICATE_MISSING;
  }
  return socket.authorized ? null : clientCertificateRefused(String(socket.authorizationError));
}

/** Says why, and goes: the peer has a moment to read it, because a reset would take the words with it. */
function refuse(socket: Socket, error: ReplyError): void {
  socket.on("error", () => socket.destroy());
  socket.on("end", () => socket.destroy());
  socket.resume();
  socket.end(`-${error.text}\r\n`);
  setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
}

const peerOf = (socket: Socket): string => `${socket.remoteAddress ?? "?"}:${socket.remotePort ?? 0}`;
const endsOf = (socket: Socket): string => `${peerOf(socket)} ${socket.localAddress}:${socket.localPort}`;

/** OpenSSL's reason without where in its sources it was found. */
function reasonOf(error: Error): string {
  const { reason } = error as { readonly reason?: unknown };
  return typeof reason === "string" ? reason : messageOf(error).trim();
}
