/** What replication needs of the store around it. Each part takes what it uses of this. */

import type { Client } from "../core/client.ts";
import type { Db } from "../core/db.ts";
import type { Dial } from "../core/dial.ts";
import type { ReplyError } from "../core/errors.ts";
import type { Pause } from "../core/pause.ts";
import type { Subscriber } from "../core/pubsub.ts";
import type { Reply } from "../core/reply.ts";
import type { Transport } from "../core/transport.ts";
import type { PersistHost } from "../persist/host.ts";
import type { Persistence } from "../persist/persistence.ts";
import type { TcpNetConnectOpts } from "../platform/streams.ts";
import type { Dialed } from "../tls/contexts.ts";

/** What of it keeping files needs as well. */
type Shared = Pick<
  PersistHost,
  | "clock"
  | "config"
  | "databases"
  | "effects"
  | "eviction"
  | "limits"
  | "loading"
  | "log"
  | "now"
  | "skipsChecksums"
  | "snapshot"
  | "stamps"
>;

export interface ReplicationHost extends Shared {
  readonly stats: {
    readonly commands: number;
    replInput: number;
    replOutput: number;
    fullSyncs: number;
    partialSyncs: number;
    refusedPartialSyncs: number;
    unexpectedErrors: number;
    outputLimitDisconnections: number;
  };
  readonly persistence: Persistence;
  readonly pause: Pause;
  readonly heapGuard: {
    readonly heapLimit: number;
    availableBytes(): number;
    fits(): boolean;
    checkLoad(loadedBytes: number, totalBytes: number): void;
  };
  readonly blocking: { releaseAll(error: ReplyError): void };
  readonly pubsub: { unsubscribeAll(client: Subscriber): void };
  readonly tracking: { readonly active: boolean; databaseCleared(): void };
  readonly functions: {
    sources(): string[];
    restore(sources: readonly string[], policy: "flush" | "append" | "replace"): void;
  };
  /** What keys and values take, about. */
  readonly dataBytes: number;
  readonly dial: Dial | null;
  /** The first port that was listened on; 0 if there is none. */
  readonly listeningPort: number;
  /** The same of those with TLS. */
  readonly tlsListeningPort: number;
  /** Connects to another server, with TLS or without. */
  readonly tls: { dial(to: TcpNetConnectOpts, secure: boolean): Dialed };
  /** An empty database that nobody sees: for a snapshot that is loaded beside the data. */
  makeDatabase(index: number): Db;
  addClient(transport: Transport): Client;
  removeClient(client: Client): void;
  execute(client: Client, argv: readonly string[]): Reply;
  renewClock(): void;
}
