/** The way to another server, for replication and MIGRATE: a socket; or a stream, where that server is a store of this process. */
import type { Duplex } from "../platform/streams.ts";

/** The parts of a socket that replication and MIGRATE use. */
export interface Wire extends Duplex {
  setKeepAlive(on?: boolean, initialDelayMs?: number): unknown;
  ref(): unknown;
  unref(): unknown;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** What a way is for: a replica's link to its primary, or MIGRATE. */
export type Purpose = "replication" | "migration";

/** A stream to a store of this process that is at this address, about to connect or to fail; null where none is. */
export type Dial = (host: string, port: number, purpose: Purpose) => Wire | null;
