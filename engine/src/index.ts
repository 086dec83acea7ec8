/** Everything that an embedder may import. */
export { type Clock, ManualClock, systemClock } from "./core/clock.ts";
export type { Part as EnginePart } from "./core/parts.ts";
export { EmbeddedEngine as Engine, type OpenOptions } from "./embed/embedded.ts";
export {
  EngineCluster,
  type EngineClusterNode,
  type EngineClusterOptions,
  type FailoverOptions,
  type SlotSelection,
} from "./embed/engine-cluster.ts";
export type { EngineImage } from "./embed/image.ts";
export { type Connector, type ConnectorConstructor, clusterConnectorFor, connectorFor } from "./embed/ioredis.ts";
export {
  CommandError,
  LocalClient,
  type LocalClientOptions,
  type PushListener,
  type ReplyValue,
} from "./embed/local-client.ts";
export type { MoveSlotsOptions } from "./embed/slot-mover.ts";
export type { Input } from "./embed/words.ts";
export { infoMetrics, type ScrapedNode } from "./lib/info-metrics.ts";
export type { Address, ListenOptions, ServeOptions } from "./net/server.ts";
export type {
  FollowOptions,
  ReplicaStatus,
  ReplicationStatus,
  WaitForReplicasOptions,
} from "./replication/embedding.ts";
export type { ReplicationEvent } from "./replication/index.ts";
export { type ListenTlsOptions, type Pem, TlsError } from "./tls/settings.ts";
