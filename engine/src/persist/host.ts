/**
 * What keeping data in files needs of the store around it. Each part takes what it uses of this, so that it can be seen, and
 * tested, without the rest.
 */
import type { Config } from "../config/config.ts";
import type { AccessStamps } from "../core/access-stamps.ts";
import type { Clock } from "../core/clock.ts";
import type { Db } from "../core/db.ts";
import type { Effect, Effects } from "../core/effects.ts";
import type { Log } from "../core/log.ts";
import type { Limits } from "../types/collection.ts";
import type { LoadReport } from "./rdb/file.ts";
import type { Snapshot } from "./snapshot.ts";

/** A command of a file that cannot be run. */
export interface ReplayFailure {
  readonly kind: "unknown" | "memory";
  readonly name: string;
  readonly reason: string;
}

/** Runs the commands of a file, for a client that nobody hears. */
export interface Replayer {
  /** Whether there was a MULTI without its EXEC. */
  readonly insideMulti: boolean;
  /** By how much the data has grown; the heap guard starts counting again. */
  grownBytes: number;
  /** Runs a command, or keeps it until EXEC; what is wrong if it cannot be run. */
  run(argv: string[]): ReplayFailure | undefined;
}

export interface PersistHost {
  readonly clock: Clock;
  /** Milliseconds since 1970, fixed while a command runs. */
  readonly now: number;
  readonly startedAt: number;
  readonly config: Config;
  readonly limits: Limits;
  readonly log: Log;
  readonly databases: readonly Db[];
  readonly effects: Effects;
  readonly stamps: AccessStamps;
  readonly stats: { readonly commands: number };
  readonly eviction: { readonly usedBytes: number };
  readonly heapGuard: { checkLoad(loadedBytes: number, totalBytes: number): void };
  /** The client whose command is running. */
  readonly current: { readonly inTransaction: boolean } | null;
  /** Checksums of files are not looked at. */
  readonly skipsChecksums: boolean;
  /** Data is being read from files. */
  loading: boolean;
  /** The snapshot that is being taken, which sees keys before they change. */
  snapshot: Snapshot | null;
  readonly functions: {
    sources(): string[];
    loadSource(source: string): string;
    restore(sources: readonly string[], policy: "flush" | "append" | "replace"): void;
    flush(): void;
  };
  readonly replication: {
    readonly isReplica: boolean;
    /** Where the stream stands, for the file; undefined where there is none. */
    position(): { streamDb: number; id: string; offset: number } | undefined;
    /** Goes on with the history that a file was a part of. */
    restore(report: LoadReport, expired: readonly Effect[]): void;
    /** What is due to replicas goes out: the last snapshot is about to be taken. */
    settle(): void;
    /** Nothing is sent any more: the last snapshot is there. */
    rest(): void;
  };
  replayer(): Replayer;
}
