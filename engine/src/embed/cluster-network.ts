/**
 * The network between the nodes of an `EngineCluster`: streams inside the process that replication and MIGRATE use in the place
 * of sockets. So a test can cut it into parts, and have replicas lag, and nothing depends on ports.
 */

import type { Dial, Purpose, Wire } from "../core/dial.ts";
import { type LocalStream, refusedStream } from "../net/local-stream.ts";
import { soon } from "../platform/timers.ts";
import type { EmbeddedEngine } from "./embedded.ts";

/** A node as the network sees it. */
export interface NetworkNode {
  readonly host: string;
  readonly port: number;
  /** Null while it does not run. */
  readonly running: EmbeddedEngine | null;
}

interface Open {
  readonly from: NetworkNode;
  readonly to: NetworkNode;
  readonly stream: LocalStream;
}

export class ClusterNetwork {
  readonly #nodes: readonly NetworkNode[];
  readonly #open = new Set<Open>();
  /** Which part of the network a node is in; all in one unless it is cut. */
  #partOf = new Map<NetworkNode, number>();
  /** How long what a primary sends to its replicas is on its way. */
  replicaLagMs: number;

  constructor(nodes: readonly NetworkNode[], replicaLagMs: number) {
    this.#nodes = nodes;
    this.replicaLagMs = replicaLagMs;
  }

  /** The way that a node has to the others. */
  dialFrom(from: NetworkNode): Dial {
    return (host, port, purpose) => {
      const to = this.#nodes.find((node) => node.host === host && node.port === port);
      return to === undefined ? null : this.#connect(from, to, purpose);
    };
  }

  #connect(from: NetworkNode, to: NetworkNode, purpose: Purpose): Wire {
    if (to.running === null || !this.#reaches(from, to)) return refusedStream(to.host, to.port);
    const stream = to.running.stream({
      address: `${from.host}:${from.port}`,
      lagMs: () => (purpose === "replication" ? this.replicaLagMs : 0),
    });
    const open: Open = { from, to, stream };
    this.#open.add(open);
    stream.once("close", () => this.#open.delete(open));
    // As a socket does: after the caller has had time to listen.
    soon(() => {
      if (!stream.destroyed) stream.emit("connect");
    });
    return stream;
  }

  #reaches(a: NetworkNode, b: NetworkNode): boolean {
    return (this.#partOf.get(a) ?? 0) === (this.#partOf.get(b) ?? 0);
  }

  /** Cuts the network: nodes reach those of their own part only. */
  cut(parts: readonly (readonly NetworkNode[])[]): void {
    this.#partOf = new Map(parts.flatMap((part, i) => part.map((node) => [node, i] as const)));
    for (const { from, to, stream } of [...this.#open]) if (!this.#reaches(from, to)) stream.destroy();
  }

  heal(): void {
    this.#partOf.clear();
  }

  /** A node is gone, and its connections with it. */
  drop(node: NetworkNode): void {
    for (const { from, to, stream } of [...this.#open]) if (from === node || to === node) stream.destroy();
  }
}
