/**
 * Lets an unchanged ioredis, and what is built on it, run on an engine in the same process: no server, no socket.
 *
 *   import Redis from "ioredis";
 *   const redis = new Redis({ Connector: connectorFor(engine) });
 *
 * ioredis makes a connector for every connection it opens, so duplicates (`redis.duplicate()`) and reconnects work alike.
 */

import type { LocalStream } from "../net/local-stream.ts";
import type { EmbeddedEngine } from "./embedded.ts";

/** The shape that ioredis expects of a connector, versions 5 and 6. */
export interface Connector {
  connect(): Promise<LocalStream>;
  check(): boolean;
  disconnect(): void;
}

/**
 * What ioredis's option `Connector` takes. Its own type has private members, which no class of ours can have: only `any` fits, in a
 * program that is type-checked.
 */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type ConnectorConstructor = new (options?: unknown) => any;

export function connectorFor(engine: EmbeddedEngine): ConnectorConstructor {
  return class EngineConnector implements Connector {
    firstError?: Error;
    #stream: LocalStream | null = null;

    async connect(): Promise<LocalStream> {
      this.#stream = engine.stream();
      return this.#stream;
    }

    check(): boolean {
      return true;
    }

    disconnect(): void {
      this.#stream?.end();
      this.#stream = null;
    }
  };
}
