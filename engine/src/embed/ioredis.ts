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

export function connectorFor(engine: EmbeddedEngine): new (options?: unknown) => Connector {
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
