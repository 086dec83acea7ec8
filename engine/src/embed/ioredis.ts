/**
 * Lets an unchanged ioredis, and what is built on it, run on an engine in the same process: no server, no socket.
 *
 *   import Redis from "ioredis";
 *   const redis = new Redis({ Connector: connectorFor(engine) });
 *
 * ioredis makes a connector for every connection it opens, so duplicates (`redis.duplicate()`) and reconnects work alike.
 *
 *   const redis = new Redis.Cluster(cluster.addresses, { redisOptions: { Connector: clusterConnectorFor(cluster) } });
 */

import { type LocalStream, refusedStream } from "../net/local-stream.ts";
import type { EmbeddedEngine } from "./embedded.ts";
import type { EngineCluster } from "./engine-cluster.ts";

/** The shape that ioredis expects of a connector, versions 5 and 6. */
export interface Connector {
  /** Opens the stream that ioredis takes for a socket. */
  connect(): Promise<LocalStream>;
  /** Whether ioredis may reconnect after an error: always true. */
  check(): boolean;
  /** Ends the stream. */
  disconnect(): void;
}

/**
 * What ioredis's option `Connector` takes. Its own type has private members, which no class of ours can have: only `any` fits, in a
 * program that is type-checked.
 */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type ConnectorConstructor = new (options?: unknown) => any;

/**
 * For ioredis's option `Connector`: every connection that it opens leads to this engine.
 * @example
 * import { Redis } from "ioredis";
 * const engine = await Engine.open();
 * const redis = new Redis({ Connector: connectorFor(engine) });
 * await redis.set("greeting", "hello"); // → "OK"
 * redis.disconnect();
 */
export function connectorFor(engine: Pick<EmbeddedEngine, "stream">): ConnectorConstructor {
  return connectorTo(() => engine.stream());
}

/**
 * For the nodes of a Cluster in this process: each connection goes to the node at its address.
 * @example
 * import { Cluster } from "ioredis";
 * const cluster = await EngineCluster.open({ listen: false });
 * const redis = new Cluster(cluster.addresses, { redisOptions: { Connector: clusterConnectorFor(cluster) } });
 * await redis.set("greeting", "hello"); // → "OK"
 * redis.disconnect();
 */
export function clusterConnectorFor({ nodes }: Pick<EngineCluster, "nodes">): ConnectorConstructor {
  return connectorTo((options) => {
    const { host = "", port = 0 } = options as { host?: string; port?: number };
    const node = nodes.find((each) => each.host === host && each.port === port);
    return node?.running?.stream() ?? refusedStream(host, port);
  });
}

function connectorTo(open: (options: unknown) => LocalStream): ConnectorConstructor {
  return class EngineConnector implements Connector {
    firstError?: Error;
    #stream: LocalStream | null = null;
    readonly #options: unknown;

    constructor(options?: unknown) {
      this.#options = options;
    }

    async connect(): Promise<LocalStream> {
      this.#stream = open(this.#options);
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
