/** Everything that an embedder may import. */
export { type Clock, ManualClock, systemClock } from "./clock.ts";
export { EmbeddedEngine as Engine, type OpenOptions } from "./embedded.ts";
export { type Connector, connectorFor } from "./ioredis.ts";
export {
  CommandError,
  LocalClient,
  type LocalClientOptions,
  type PushListener,
  type ReplyValue,
} from "./local-client.ts";
export type { Address, ListenOptions } from "./net/server.ts";
export type {
  FollowOptions,
  ReplicaStatus,
  ReplicationStatus,
  WaitForReplicasOptions,
} from "./replication/embedding.ts";
export type { ReplicationEvent } from "./replication/index.ts";
export type { Input } from "./words.ts";
