/**
 * FAILOVER: primary and replica change places, and nothing is lost.
 *
 *   none ── FAILOVER ──► waiting ── a replica has everything ──► in progress ── it has taken over ──► none
 *                           └── time is over: given up, or with FORCE done anyway ──┘
 *
 * Writes are put off (CLIENT PAUSE) from the beginning, so that a replica can come to have everything. Then this server
 * turns to follow it, with a PSYNC that says so: the other becomes the primary in the very step that accepts it, and writes
 * that were put off go on here, to be refused as on any replica.
 */
import type { FailoverRequest } from "../core/ports.ts";
import type { ReplicationHost } from "./host.ts";
import type { Replication } from "./index.ts";
import type { Replica } from "./replica.ts";

type FailoverHost = Pick<ReplicationHost, "clock" | "log" | "pause">;

export class Failover {
  state: "none" | "waiting" | "in progress" = "none";
  readonly #store: FailoverHost;
  readonly #replication: Replication;
  #request: FailoverRequest | null = null;
  #until = Number.POSITIVE_INFINITY;

  constructor(store: FailoverHost, replication: Replication) {
    this.#store = store;
    this.#replication = replication;
  }

  /** INFO's word for it. */
  get stateName(): string {
    if (this.state === "none") return "no-failover";
    return this.state === "waiting" ? "waiting-for-sync" : "failover-in-progress";
  }

  begin(request: FailoverRequest): void {
    const { clock, pause, log } = this.#store;
    const { target } = request;
    log("notice", `FAILOVER requested to ${target === undefined ? "any replica" : `${target.host}:${target.port}`}.`);
    this.#request = request;
    this.state = "waiting";
    this.#until = request.timeoutMs === 0 ? Number.POSITIVE_INFINITY : clock.monotonic() + request.timeoutMs;
    pause.begin(Number.POSITIVE_INFINITY, "write");
  }

  /** Looks whether it can go on: with every acknowledgement and ten times a second. */
  check(): void {
    const request = this.#request;
    if (this.state !== "waiting" || request === null) return;
    const { clock, log } = this.#store;
    const { target, force } = request;
    if (clock.monotonic() >= this.#until) {
      if (force && target !== undefined) {
        log("notice", `Failover to ${target.host}:${target.port} time out exceeded, failing over.`);
        this.#turn(target);
      } else this.abort("Replica never caught up before timeout");
      return;
    }
    const { feed, replicas } = this.#replication;
    const ready = (replica: Replica) => replica.state === "online" && replica.ackOffset === feed.offset;
    const found = target === undefined ? [...replicas].find(ready) : this.#replication.findReplica(target);
    if (found === undefined || !ready(found)) return;
    const { host, port } = found;
    log("notice", `Failover target ${host}:${port} is synced, failing over.`);
    this.#turn(target ?? { host, port });
  }

  #turn({ host, port }: { host: string; port: number }): void {
    this.state = "in progress";
    this.#replication.follow(host, port);
  }

  /** The other has taken over. */
  complete(): void {
    if (this.state === "in progress") this.#clear();
  }

  abort(reason: string): void {
    if (this.state === "none") return;
    const target = this.#request?.target;
    const whom = target === undefined ? "any replica" : `${target.host}:${target.port}`;
    this.#store.log("notice", `FAILOVER to ${whom} aborted: ${reason}`);
    const turned = this.state === "in progress";
    this.#clear();
    if (turned) this.#replication.promote();
  }

  #clear(): void {
    this.state = "none";
    this.#request = null;
    this.#store.pause.end();
  }
}
