/**
 * Sockets: listening, accepting, and the limits that concern connections as such.
 *
 * Loopback unless told otherwise. A server that is reachable from other machines and has no password answers them with an
 * error only (protected mode), as Redis does.
 *
 * With TLS a connection becomes a client when its handshake is over (tls-acceptor.ts). Until then it counts for maxclients, so
 * that clients who never finish one cannot take the descriptors of the process.
 */
import { chmodSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Engine } from "../core/engine.ts";
import type { ReplyError } from "../core/errors.ts";
import { MAX_CLIENTS_REACHED, PROTECTED_MODE } from "../core/rare-errors.ts";
import { type Port, PortStream } from "../platform/port-stream.ts";
import type { Duplex } from "../platform/streams.ts";
import { fromOptions, type ListenTlsOptions, type ServerTls } from "../tls/settings.ts";
import { Connection } from "./connection.ts";
import { Flusher } from "./flusher.ts";
import { TlsAcceptor } from "./tls-acceptor.ts";

/** Where and how an engine listens. */
export interface ListenOptions {
  /** The port to listen on (default 6379); 0 takes any free one. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** A unix socket instead of a port. None by default. */
  readonly path?: string;
  /** Permissions of the unix socket: `0o700`. By default those that the process's umask leaves. */
  readonly mode?: number;
  /** How many connections may wait to be accepted (default 511). */
  readonly backlog?: number;
  /** Takes TLS only, with this certificate; true: as the tls-* directives of the configuration say. None by default. */
  readonly tls?: ListenTlsOptions | true;
  /**
   * For processes that share the data of this one and go on with its files when it ends. Neither the socket nor its connections keep the
   * process alive; and while one of them is connected, no reply of the store leaves, not even in process, before the system has the write
   * that it acknowledges. False by default.
   */
  readonly peers?: boolean;
}

/** How a channel is served. */
export interface ServeOptions {
  /** For one that shares the data and goes on with its files when this ends, as with `listen` (default false). */
  readonly peers?: boolean;
}

/** Where an engine listens. */
export interface Address {
  /** The address; "" for a unix socket. */
  readonly host: string;
  /** The port; 0 for a unix socket. */
  readonly port: number;
  /** The path of the unix socket; null for a port. */
  readonly path: string | null;
}

const HOUSEKEEPING_MS = 1000;

export class NetServer {
  readonly #engine: Engine;
  readonly #flusher: Flusher;
  readonly #servers = new Map<Server, string | null>();
  readonly #connections = new Set<Connection>();
  readonly #acceptors = new Map<Server, TlsAcceptor>();
  #housekeeping: NodeJS.Timeout | null = null;
  #ports = 0;
  /** Connections of processes that share the data. */
  #peers = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#flusher = new Flusher((then) => engine.persistence.commit(then));
    engine.onBusy = () => {
      // Replies to what ran before the script go out too.
      if (engine.persistence.flush(true)) for (const connection of this.#connections) connection.serveWhileBusy();
      return this.#connections.size;
    };
  }

  get flusher(): Flusher {
    return this.#flusher;
  }

  /** Serves the client at the other end of a channel between threads. */
  serve(port: Port, { peers = false }: ServeOptions = {}): void {
    const stream = new PortStream(port);
    if (peers) this.#handOver((over) => stream.once("close", over));
    const peer = { address: `port:${++this.#ports}`, localAddress: "local:0", fd: -1 };
    const connection = new Connection(this.#engine, stream as unknown as Duplex, this.#flusher, peer);
    this.#connections.add(connection);
    stream.once("close", () => this.#connections.delete(connection));
  }

  listen(options: ListenOptions): Promise<Address> {
    const path = options.path ?? null;
    const acceptor = options.tls === undefined ? null : this.#acceptorFor(options.tls, path);
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      if (options.peers === true) this.#welcome(socket);
      if (acceptor === null) this.#accept(socket);
      else this.#shakeHands(socket, acceptor);
    });
    if (path !== null) rmSync(path, { force: true });
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      const where = path === null ? { host: options.host ?? "127.0.0.1", port: options.port ?? 6379 } : { path };
      // A worker of node:cluster would ask its primary process to listen, and connections would come to any worker.
      const exclusive = options.peers === true;
      server.listen({ ...where, exclusive, backlog: options.backlog ?? 511 }, () => {
        server.off("error", reject);
        // Out of descriptors, say: the new client is turned away, the others stay.
        server.on("error", (error) => this.#engine.log("warning", `Could not accept a connection: ${error.message}`));
        if (path !== null && options.mode !== undefined && options.mode !== 0) chmodSync(path, options.mode);
        if (options.peers === true) server.unref();
        this.#servers.set(server, path);
        if (acceptor !== null) this.#acceptors.set(server, acceptor);
        this.#housekeeping ??= setInterval(() => this.#checkConnections(), HOUSEKEEPING_MS).unref();
        const address = server.address();
        if (address === null || typeof address === "string") resolve({ host: "", port: 0, path });
        else {
          if (acceptor === null) this.#engine.listeningPort ||= address.port;
          else this.#engine.tlsListeningPort ||= address.port;
          resolve({ host: address.address, port: address.port, path: null });
        }
      });
    });
  }

  #welcome(socket: Socket): void {
    socket.unref();
    this.#handOver((over) => socket.once("close", over));
  }

  /** Until the last peer is gone, the system has every write before its reply leaves. */
  #handOver(whenGone: (over: () => void) => void): void {
    const { appender } = this.#engine.persistence.aof;
    if (this.#peers++ === 0) appender.handsOver = true;
    whenGone(() => {
      if (--this.#peers === 0) appender.handsOver = false;
    });
  }

  /** Stops listening on one address. Connections that were made there stay. */
  stopListening({ host, port, path }: Address): void {
    for (const [server, itsPath] of this.#servers) {
      const address = server.address();
      if (address === null || typeof address === "string" ? itsPath !== path : !isSame(address, host, port)) continue;
      this.#servers.delete(server);
      // Handshakes that are under way may be finished.
      if (this.#acceptors.get(server)?.pending === 0) this.#acceptors.delete(server);
      server.close();
      return;
    }
  }

  #acceptorFor(tls: ListenTlsOptions | true, path: string | null): TlsAcceptor {
    if (path !== null) throw new TypeError("tls is for a port, not for a unix socket");
    const engine = this.#engine;
    const given = tls === true ? null : fromOptions(tls);
    const settings = (): ServerTls => given ?? engine.tls.server;
    // An embedder hears now of what is wrong. For a server CONFIG SET looks, once all that it changes is in force.
    if (engine.onListen === null) settings();
    return new TlsAcceptor({
      settings,
      log: (level, message) => engine.log(level, message),
      secured: (socket) => this.#accept(socket, true),
    });
  }

  get #isFull(): boolean {
    let { size } = this.#engine.clients;
    for (const { pending } of this.#acceptors.values()) size += pending;
    return size >= this.#engine.config.values.maxclients;
  }

  #shakeHands(socket: Socket, acceptor: TlsAcceptor): void {
    if (!this.#isFull) {
      acceptor.accept(socket);
      return;
    }
    // As in Redis, without a word: there is no TLS yet to say it in.
    this.#engine.stats.rejectedConnections++;
    socket.destroy();
  }

  #accept(socket: Socket, encrypted = false): void {
    const engine = this.#engine;
    const refusal =
      !encrypted && this.#isFull ? MAX_CLIENTS_REACHED : this.#isProtected(socket) ? PROTECTED_MODE : null;
    if (refusal !== null) {
      refuse(socket, refusal);
      engine.stats.rejectedConnections++;
      return;
    }
    const keepAlive = engine.config.values["tcp-keepalive"];
    if (keepAlive > 0) socket.setKeepAlive(true, keepAlive * 1000);
    const local = isUnix(socket);
    const connection = new Connection(engine, socket, this.#flusher, {
      address: local ? "unix:0" : joinAddress(socket.remoteAddress, socket.remotePort),
      localAddress: local ? "unix:0" : joinAddress(socket.localAddress, socket.localPort),
      fd: descriptorOf(socket),
      encrypted,
    });
    this.#connections.add(connection);
    socket.once("close", () => this.#connections.delete(connection));
  }

  /** Whether a connection comes from elsewhere although nobody has set a password or an address to listen on. */
  #isProtected(socket: Socket): boolean {
    const { values } = this.#engine.config;
    if (!values["protected-mode"] || !this.#engine.acl.defaultUser.noPassword || isUnix(socket)) return false;
    return !isLoopback(socket.remoteAddress ?? "");
  }

  /** Ends idle clients and those over a soft output limit; bounds what all clients hold together. */
  #checkConnections(): void {
    const { values } = this.#engine.config;
    const idleMs = values.timeout * 1000;
    const now = this.#engine.clock.now();
    for (const connection of this.#connections) {
      const { client } = connection;
      if (connection.outputBytes > 0) connection.checkLimits();
      if (idleMs === 0 || client.blocked !== null || client.subscriptions > 0 || client.monitoring) continue;
      if (client.replica?.attached) continue;
      if (now - client.lastActiveAt > idleMs) connection.close(false);
    }
  }

  /** Stops listening, writes what is ready, and ends all connections. */
  async close(): Promise<void> {
    if (this.#housekeeping !== null) clearInterval(this.#housekeeping);
    this.#housekeeping = null;
    this.#flusher.flush();
    const closing = [...this.#servers].map(
      ([server, path]) =>
        new Promise<void>((resolve) => {
          server.close(() => {
            if (path !== null) rmSync(path, { force: true });
            resolve();
          });
        }),
    );
    for (const acceptor of this.#acceptors.values()) acceptor.close();
    for (const connection of this.#connections) connection.close(connection.outputBytes > 0);
    this.#flusher.flush();
    for (const connection of this.#connections) connection.destroySoon();
    await Promise.all(closing);
    this.#servers.clear();
  }
}

const isSame = (address: AddressInfo, host: string, port: number) => address.address === host && address.port === port;

function refuse(socket: Socket, error: ReplyError): void {
  socket.on("error", () => socket.destroy());
  // Nobody need stay to be refused: what the peer does with it is not waited for.
  socket.end(`-${error.text}\r\n`, () => socket.destroy());
  socket.resume();
}

const isUnix = (socket: Socket) => socket.remoteAddress === undefined && socket.localPort === undefined;

function joinAddress(address: string | undefined, port: number | undefined): string {
  const host = address?.startsWith("::ffff:") ? address.slice(7) : (address ?? "?");
  return host.includes(":") ? `[${host}]:${port ?? 0}` : `${host}:${port ?? 0}`;
}

function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.") || address.startsWith("::ffff:127.");
}

/** The socket's descriptor, for CLIENT LIST; Node does not show it everywhere. */
function descriptorOf(socket: Socket): number {
  const handle = (socket as unknown as { _handle?: { fd?: number } })._handle;
  return handle?.fd ?? -1;
}
