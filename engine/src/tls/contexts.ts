/**
 * The TLS of one store: what its servers show and ask for, and connections to other servers (replication, MIGRATE).
 *
 * As in Redis the files are read when something uses TLS: at the start, and whenever CONFIG SET names one of the directives,
 * also with the value that it has, since a certificate is renewed in place. New settings take effect with the next
 * connection; those that exist stay. Settings that do not work change nothing.
 */
import { connect, type TcpNetConnectOpts } from "node:net";
import { connect as connectTls, type SecureContextOptions } from "node:tls";
import { type Config, ConfigError } from "../config/config.ts";
import { DIRECTIVE_NAMES } from "../config/directives.ts";
import { BadValue } from "../config/kinds.ts";
import type { Wire } from "../core/dial.ts";
import type { Log } from "../core/log.ts";
import { fromDirectives, type ServerTls, TlsError } from "./settings.ts";

/** A connection on its way to another server, and the event that says that it can be used. */
export interface Dialed {
  readonly socket: Wire;
  readonly ready: "connect" | "secureConnect";
}

interface TlsHost {
  readonly config: Config;
  readonly log: Log;
}

export class TlsContexts {
  readonly #host: TlsHost;
  #loaded: ReturnType<typeof fromDirectives> | null = null;

  /** Throws a ConfigError where TLS is asked for and cannot be had. */
  constructor(host: TlsHost) {
    this.#host = host;
    if (this.#isUsed) {
      try {
        this.#load();
      } catch (error) {
        throw error instanceof TlsError ? new ConfigError(`TLS cannot be put into force: ${error.message}`) : error;
      }
    }
    host.config.onChange(
      DIRECTIVE_NAMES.filter((name) => name.startsWith("tls-")),
      () => this.#changed(),
    );
  }

  get #isUsed(): boolean {
    const { values } = this.#host.config;
    return this.#loaded !== null || values["tls-port"] !== 0 || values["tls-replication"] || values["tls-cluster"];
  }

  #load(): ReturnType<typeof fromDirectives> {
    this.#loaded = fromDirectives(this.#host.config.values);
    return this.#loaded;
  }

  #changed(): void {
    if (!this.#isUsed) return;
    try {
      this.#load();
    } catch (error) {
      if (!(error instanceof TlsError)) throw error;
      this.#host.log("warning", error.message);
      throw new BadValue("Unable to update TLS configuration. Check server logs.");
    }
  }

  /** How the directives want connections to be accepted; another object after they have changed. Throws a TlsError. */
  get server(): ServerTls {
    return (this.#loaded ?? this.#load()).server;
  }

  /** What a connection to another server needs, as plain data. Throws a TlsError. */
  get client(): SecureContextOptions {
    return (this.#loaded ?? this.#load()).client;
  }

  /**
   * Connects to another server. As in Redis its certificate must come from our authorities, whatever name is in it: servers
   * know each other by addresses.
   */
  dial(to: TcpNetConnectOpts, secure: boolean): Dialed {
    if (!secure) return { socket: connect(to), ready: "connect" };
    const socket = connectTls({ ...to, ...this.client, checkServerIdentity: () => undefined });
    return { socket, ready: "secureConnect" };
  }
}
