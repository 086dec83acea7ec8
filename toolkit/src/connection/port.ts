/**
 * What an adapter gives: the smallest surface on which `Store` (store.ts) builds everything else. An adapter moves words and
 * answers and knows its own library and topology; it knows no retry, no scripts, no components.
 *
 * Answers have one shape whatever the protocol and the library: RESP2's. Strings are text (UTF-8) or Buffers as the request
 * asks, integers are numbers (text where they do not fit 2^53), maps are flat arrays, sets are arrays, doubles are text,
 * booleans are 0 and 1. Errors are `ServerError`; what never got an answer is a `ConnectionError`, which says whether the
 * server may have run it.
 */
import type { ServerError } from "../base/errors.ts";
import type { ClientCacheStats } from "./client-cache.ts";

/** A word of a command. Text is sent as UTF-8. */
export type Word = string | number | bigint | Uint8Array;

/** What a server answers: strings are text or Buffers, integers are numbers, maps are flat arrays. */
export type Reply = string | number | null | Buffer | Reply[];

/** A reply or the error in its place. */
export type Answer = Reply | ServerError;

export interface Request {
  readonly words: readonly Word[];
  /** A key that the command touches: decides the node in a Cluster. Without one, any node will do. */
  readonly key: string | undefined;
  /** Strings of the reply as Buffers. */
  readonly buffers: boolean;
  /** It changes nothing, although its name does not say so: a script. */
  readonly readOnly?: boolean;
  /** Who may answer a read; as the store was opened, if it is not said. */
  readonly reads?: ReadPolicy | undefined;
  /**
   * How long the caller waits for it; then it is rejected with the code DEADLINE, and what was not written never will be. For
   * `post`: nothing is tried again for such a request, and one that finds no connection is refused at once.
   */
  readonly timeoutMs?: number | undefined;
  /** For calls with a deadline: what the caller and the driver tell each other about this attempt. */
  readonly attempt?: Attempt | undefined;
}

export interface Attempt {
  /** The caller has given it up: what is not written yet must not be. */
  isAbandoned: boolean;
  /** The driver has written it, or part of it. */
  isWritten: boolean;
}

/** Who may answer reads, and how old an answer may be. */
export type ReadPolicy =
  | {
      /** Who answers: the primary, or replicas that are fresh enough. */
      readonly from: "primary";
    }
  | {
      /** Who answers: the primary, or replicas that are fresh enough. */
      readonly from: "replicas";
      /** At most so old; a second by default. Where no replica is known to be that fresh, the primary answers. */
      readonly maxLagMs?: number;
      /** No older than this position of the primary, which `store.position()` gave, in whatever process. */
      readonly after?: string;
      /** No older than the last write through this store. */
      readonly readYourWrites?: boolean;
    };

/** What a store leads to: the engine in this process, one server, a primary that Sentinel names, or a Cluster. */
export type Topology = "embedded" | "single" | "sentinel" | "cluster";

/** How a connection is: `lost` is followed by `ready` when it is back, or by `closed`. */
export type ConnectionState = "connecting" | "ready" | "lost" | "closed";

/** A connection that belongs to one user: for WATCH, and for commands that block. */
export interface Session {
  send(request: Request): Promise<Reply>;
  sendMany(requests: readonly Request[]): Promise<Answer[]>;
  /** Ends it at once, whatever is under way; what waits is rejected with a ConnectionError. Safe to call twice. */
  destroy(): void;
}

export interface SessionOptions {
  /** For commands that wait on the server: no deadline of ours applies, the user of the session has one. */
  readonly blocking?: boolean;
}

export interface SubscriberEvents {
  /** `channel` is the one subscribed to. */
  message(channel: string, message: Buffer): void;
  /** The connection was lost and all channels are subscribed again: messages between may be missing. */
  resumed(): void;
}

/** One connection that carries all subscriptions of a store, and re-subscribes by itself after a reconnect. */
export interface Subscriber {
  subscribe(channel: string): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  destroy(): void;
}

export interface Driver {
  readonly topology: Topology;
  send(request: Request): Promise<Reply>;
  /** `send` without a promise of its own, where a driver has it. Answers when the request was taken (monotonic). */
  post?(request: Request, resolve: (reply: Reply) => void, reject: (error: Error) => void): number;
  /** The reply to a read, where a driver keeps replies and has this one. */
  peek?(request: Request): Reply | undefined;
  cacheStats?(): ClientCacheStats;
  /** In order for each key; requests to one node leave together. Rejects only if the connection failed. */
  sendMany(requests: readonly Request[]): Promise<Answer[]>;
  /** MULTI … EXEC; all keys in one slot. Rejects with the ServerError when a command could not be queued: none has run. */
  transact(requests: readonly Request[]): Promise<Answer[]>;
  /** A connection of its own to the node that has the key (or to the primary). */
  session(key: string | undefined, options?: SessionOptions): Promise<Session>;
  subscriber(events: SubscriberEvents): Promise<Subscriber>;
  /**
   * A connection of its own on which the store speaks unasked from now on (MONITOR, PSUBSCRIBE), where no `address` leads to it.
   * Answers what ends it.
   */
  feed?(words: readonly Word[], listener: (message: readonly unknown[]) => void): Promise<() => void>;
  /** Sends one request to every primary: for sweeps and for what has no key. */
  sendToAll(request: Request): Promise<Answer[]>;
  onState(listener: (state: ConnectionState) => void): () => void;
  /** The name of the server that a request with this key goes to now; where there is only one, no name is needed. */
  serverOf?(key: string | undefined): string;
  /** The names of all servers that requests go to now, as `serverOf` has them. */
  servers?(): readonly string[];
  /** Asks a server for a sign of life; rejects if none comes. A driver that has it keeps `Request.attempt`. */
  probe?(server: string): Promise<unknown>;
  /** How a worker thread of this process can reach the same server; null where it cannot (embedded, a client of the user's). */
  readonly address: WorkerAddress | null;
  close(): Promise<void>;
}

/** Plain data that may cross to another thread. */
export interface WorkerAddress {
  /** The URL for `open`, with the password in it. */
  readonly url: string;
  /** What `open` needs besides the URL. */
  readonly options: {
    readonly tls?: TlsOptions;
    readonly connectTimeoutMs?: number;
    readonly commandTimeoutMs?: number;
  };
}

/** A certificate or a key in PEM, as text or as bytes. */
export type PemText = string | Uint8Array;

/** How to trust a server and to be trusted by it: as in `tls.connect`, in PEM. For all servers alike: sentinels, nodes, replicas. */
export interface TlsOptions {
  /** The authorities that sign the servers' certificates; those that Node knows by default. */
  readonly ca?: PemText | readonly PemText[];
  /** A certificate of our own, for servers that ask for one. None by default. */
  readonly cert?: PemText;
  /** The private key of that certificate. None by default. */
  readonly key?: PemText;
  /** For a key that is encrypted. None by default. */
  readonly passphrase?: string;
  /** The name that servers must have in their certificates, for nodes that are known by address. By default the one in the URL. */
  readonly servername?: string;
  /** The oldest version of TLS that is spoken. Node's own by default, which is TLSv1.2. */
  readonly minVersion?: "TLSv1.2" | "TLSv1.3";
  /** The ciphers that are allowed, in OpenSSL's words. Node's list by default. */
  readonly ciphers?: string;
  /** Whether servers without a valid certificate are refused (default true). False takes any certificate, which keeps nobody out. */
  readonly rejectUnauthorized?: boolean;
}
