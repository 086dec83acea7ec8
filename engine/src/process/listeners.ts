/**
 * The addresses that the server listens on: those of `bind`, `port` and `tls-port` at the start, others when CONFIG SET says so.
 *
 * A change opens the new addresses first and leaves the old ones last, so that somebody is listening all the time and a port
 * that is taken changes nothing. Only where an old address stands in the way of a new one on the same port (127.0.0.1 and *)
 * it is closed before, and opened again if the change fails.
 */

import type { ListenAddresses, Move } from "../core/ports.ts";
import type { EmbeddedEngine } from "../embed/embedded.ts";
import { codeOf, messageOf } from "../lib/caught.ts";
import type { Address } from "../net/server.ts";

/** A bind address as Node takes it; a leading dash means that it may be missing on this machine. */
function bindAddress(word: string): { host: string; optional: boolean } {
  const optional = word.startsWith("-");
  const address = optional ? word.slice(1) : word;
  return { host: address === "*" ? "0.0.0.0" : address === "::*" ? "::" : address, optional };
}

/** Why an address cannot be listened on. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

export class Listeners {
  readonly #engine: EmbeddedEngine;
  /** What is open, by address and port. */
  readonly #open = new Map<string, Address>();
  /** The change before, which must be over before the next begins. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(engine: EmbeddedEngine) {
    this.#engine = engine;
  }

  /** Listens on all addresses that are configured; throws a ListenError. */
  async start(): Promise<readonly (Address & { readonly tls: boolean })[]> {
    const { port, bind, "tls-port": tlsPort } = this.#engine.core.config.values;
    await this.#listenAll(keysOf({ port, tlsPort, bind }));
    return [...this.#open].map(([key, address]) => ({ ...address, tls: isTls(key) }));
  }

  /** Opens what is new; null if it cannot. Changes run one after the other. */
  move(wanted: ListenAddresses): Promise<Move | null> {
    const moving = this.#last.then(() => this.#move(wanted));
    this.#last = moving.then((move) => move?.over);
    return moving;
  }

  async #move(addresses: ListenAddresses): Promise<(Move & { over: Promise<void> }) | null> {
    const wanted = keysOf(addresses);
    const leaving = [...this.#open.keys()].filter((key) => !wanted.includes(key));
    const coming = wanted.filter((key) => !this.#open.has(key));
    const inTheWay = leaving.filter((key) => coming.some((other) => portOf(other) === portOf(key)));
    for (const key of inTheWay) this.#close(key);
    const back = async (opened: readonly string[]) => {
      for (const key of opened) this.#close(key);
      await this.#listenAll(inTheWay).catch((error: Error) => this.#engine.core.log("warning", error.message));
    };
    let opened: readonly string[];
    try {
      opened = await this.#listenAll(coming);
    } catch (error) {
      this.#engine.core.log("warning", messageOf(error));
      await back([]);
      return null;
    }
    let settle!: () => void;
    const over = new Promise<void>((resolve) => {
      settle = resolve;
    });
    return {
      over,
      commit: () => {
        for (const key of leaving) this.#close(key);
        this.#engine.core.listeningPort = addresses.port;
        this.#engine.core.tlsListeningPort = addresses.tlsPort;
        settle();
      },
      cancel: () => void back(opened).then(settle),
    };
  }

  /** All of them or none; answers which have been opened. */
  async #listenAll(keys: readonly string[]): Promise<readonly string[]> {
    const opened: string[] = [];
    try {
      for (const key of keys) if (await this.#listen(key)) opened.push(key);
    } catch (error) {
      for (const key of opened) this.#close(key);
      throw error;
    }
    return opened;
  }

  /** False for an address that this machine need not have and does not have. */
  async #listen(key: string): Promise<boolean> {
    const { host, optional } = bindAddress(hostOf(key));
    const port = portOf(key);
    const backlog = this.#engine.core.config.values["tcp-backlog"];
    try {
      this.#open.set(key, await this.#engine.listen({ host, port, backlog, ...(isTls(key) ? { tls: true } : {}) }));
      return true;
    } catch (error) {
      const code = codeOf(error);
      if (optional && (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT")) return false;
      if (code === "EADDRINUSE") {
        this.#engine.core.log(
          "warning",
          `Could not create server TCP listening socket ${host}:${port}: bind: Address already in use`,
        );
      }
      const flag = isTls(key) ? "--tls-port" : "--port";
      const reason = code === "EADDRINUSE" ? `the port is taken, choose another with ${flag}` : messageOf(error);
      const kind = isTls(key) ? "TLS" : "tcp";
      throw new ListenError(`Failed listening on port ${port} (${kind}) of ${host}: ${reason}`);
    }
  }

  #close(key: string): void {
    const address = this.#open.get(key);
    if (address === undefined) return;
    this.#open.delete(key);
    this.#engine.stopListening(address);
  }
}

/** What names an address here: its word in `bind`, the port, and what it takes. Port 0 means none. */
const keysOf = ({ port, tlsPort, bind }: ListenAddresses): string[] =>
  [...new Set(bind)].flatMap((word) => [
    ...(port === 0 ? [] : [`${word} ${port} tcp`]),
    ...(tlsPort === 0 ? [] : [`${word} ${tlsPort} tls`]),
  ]);
const hostOf = (key: string): string => key.split(" ")[0]!;
const portOf = (key: string): number => Number(key.split(" ")[1]);
const isTls = (key: string): boolean => key.endsWith(" tls");
