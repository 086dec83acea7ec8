/**
 * Full resynchronisation: everything, as of one moment, to replicas that wait for it.
 *
 * The snapshot walk (persist/snapshot.ts) writes straight to their sockets; no file is made. Replicas that come while one is
 * being taken wait for the next; those that come before it begins share it, which is what repl-diskless-sync-delay is for.
 * The walk goes no faster than the slowest of them reads (`SocketSink`), so that what is queued stays a few megabytes however
 * large the data; what is written meanwhile waits (replica.ts), bounded by the output limit. One that takes
 * nothing for repl-timeout is dropped, so that it cannot hold up the others.
 *
 * The end of such a stream is told by a mark of forty random bytes, since nobody knows the length before. A peer that has
 * not said that it understands that (`capa eof`: Redis before 2.8.18, some tools) must be told the length first. For those,
 * and only then, the snapshot goes to a file in `dir`, which is removed once it is open: a buffer in memory would have the
 * size of the data, and taking the snapshot twice, once to count, would have to yield the same bytes.
 *
 * There is one walk at a time in an engine: a save or a rewrite is waited for.
 */

import { errorOf, messageOf } from "../lib/caught.ts";
import { auxFields, type SaveOptions, writerFor } from "../persist/rdb/file.ts";
import { type Snapshot, type SnapshotSink, walk } from "../persist/snapshot.ts";
import { SnapshotFile } from "../persist/snapshot-file.ts";
import { Buffer } from "../platform/bytes.ts";
import { openForReading, type ReadHandle, rmSync } from "../platform/files.ts";
import { join } from "../platform/paths.ts";
import { ownPid } from "../platform/process.ts";
import type { ReplicationHost } from "./host.ts";
import { randomHex } from "./ids.ts";
import type { Replication } from "./index.ts";
import type { Replica } from "./replica.ts";

/** What is read of a file at a time, and queued for a replica at most. */
const PIECE = 256 * 1024;
const MOST_QUEUED = 1024 * 1024;

/** Replicas that read one snapshot, at the pace of the slowest. */
class SocketSink implements SnapshotSink {
  readonly #replicas: Set<Replica>;
  #waiter: { resolve: () => void; reject: (error: Error) => void } | null = null;

  constructor(replicas: Set<Replica>) {
    this.#replicas = replicas;
    for (const { client } of replicas) client.transport.onDrain = () => this.#look();
  }

  write(chunk: Buffer): void {
    if (this.#replicas.size === 0) throw new Error("no replica is left that wants it");
    for (const replica of this.#replicas) replica.send(chunk);
  }

  get pendingBytes(): number {
    let most = 0;
    for (const { client } of this.#replicas) most = Math.max(most, client.transport.outputBytes);
    return most;
  }

  drained(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      this.#look();
    });
  }

  #look(): void {
    const waiter = this.#waiter;
    if (waiter === null || (this.#replicas.size > 0 && this.pendingBytes > MOST_QUEUED)) return;
    this.#waiter = null;
    if (this.#replicas.size > 0) waiter.resolve();
    else waiter.reject(new Error("no replica is left that wants it"));
  }

  /** One of them is gone. */
  forget(replica: Replica): void {
    replica.client.transport.onDrain = null;
    this.#replicas.delete(replica);
    this.#look();
  }

  close(): void {
    for (const { client } of this.#replicas) client.transport.onDrain = null;
  }
}

interface Round {
  readonly replicas: Set<Replica>;
  readonly snapshot: Snapshot;
  readonly sink: SocketSink | null;
}

let files = 0;

export class FullSync {
  readonly #store: ReplicationHost;
  readonly #replication: Replication;
  #round: Round | null = null;

  constructor(store: ReplicationHost, replication: Replication) {
    this.#store = store;
    this.#replication = replication;
  }

  /** Begins a snapshot if somebody waits for one, long enough, and nothing else is being taken. */
  consider(): void {
    const { persistence, snapshot, loading, clock, config } = this.#store;
    if (persistence.busy || snapshot !== null || loading) return;
    const waiting = [...this.#replication.replicas].filter(({ state }) => state === "waiting");
    const first = waiting[0];
    if (first === undefined) return;
    // What they want must be the same: one snapshot is taken for all of them.
    const alike = waiting.filter(
      (replica) => replica.wantsData === first.wantsData && replica.wantsFunctions === first.wantsFunctions,
    );
    if (alike.every(({ capaEof }) => capaEof) && config.values["repl-diskless-sync"]) {
      const delayMs = config.values["repl-diskless-sync-delay"] * 1000;
      const enough = config.values["repl-diskless-sync-max-replicas"];
      const longest = Math.max(...alike.map(({ waitingSince }) => clock.monotonic() - waitingSince));
      if (longest < delayMs && (enough === 0 || alike.length < enough)) return;
    }
    this.#begin(new Set(alike), first);
  }

  /** Begins a snapshot for replicas that want what the first of them wants. */
  #begin(replicas: Set<Replica>, { wantsData, wantsFunctions }: Replica): void {
    const { feed, id } = this.#replication;
    const position = this.#replication.position();
    const options: SaveOptions = position === undefined ? {} : { replication: position };
    // What is under way belongs to replicas that are online; the new ones start behind it.
    feed.flush();
    feed.forgetDb();
    for (const replica of replicas) {
      replica.hold();
      if (!replica.old) replica.line(`+FULLRESYNC ${id} ${feed.offset}\r\n`);
    }

    const withFunctions = wantsFunctions ? { ...options, functions: this.#store.functions.sources() } : options;
    const marked = [...replicas].every(({ capaEof }) => capaEof);
    const kind = marked ? "replicas sockets" : "disk";
    this.#store.log("notice", `Starting BGSAVE for SYNC with target: ${kind}`);
    this.#store.log("notice", `Background ${marked ? "RDB transfer" : "saving"} started by pid ${ownPid}`);
    if (!wantsData) this.#sendWithoutKeys(replicas, withFunctions);
    else if (marked) this.#toSockets(replicas, withFunctions);
    else this.#toFile(replicas, withFunctions);
  }

  /** A snapshot of functions only is small: sent at once. */
  #sendWithoutKeys(replicas: Set<Replica>, options: SaveOptions): void {
    const chunks: Buffer[] = [];
    const writer = writerFor(this.#store, (chunk) => chunks.push(chunk));
    writer.begin(auxFields(this.#store, options));
    writer.functions(options.functions ?? []);
    const length = writer.end();
    for (const replica of replicas) {
      replica.line(`$${length}\r\n`);
      for (const chunk of chunks) replica.send(chunk);
      this.#complete(replica, false);
    }
  }

  #toSockets(replicas: Set<Replica>, options: SaveOptions): void {
    const store = this.#store;
    const mark = randomHex(store.clock);
    const sink = new SocketSink(replicas);
    for (const replica of replicas) replica.line(`$EOF:${mark}\r\n`);
    const snapshot = walk(store, sink, options);
    this.#round = { replicas, snapshot, sink };
    store.persistence.begin("sync", snapshot, async () => {
      try {
        const bytes = await snapshot.done;
        store.log(
          "warning",
          `Diskless rdb transfer, done reading from pipe, ${replicas.size} replicas still up (${bytes} bytes).`,
        );
        store.log("notice", "Background RDB transfer terminated with success");
        sink.close();
        for (const replica of replicas) {
          replica.line(mark);
          this.#complete(replica, true);
        }
      } catch (error) {
        sink.close();
        this.#failed(replicas, errorOf(error));
      }
      this.#round = null;
    });
  }

  #toFile(replicas: Set<Replica>, options: SaveOptions): void {
    const store = this.#store;
    const path = join(store.config.values.dir, `temp-repl-${ownPid}-${files++}.rdb`);
    let file: SnapshotFile;
    try {
      file = new SnapshotFile(`${path}.part`, store.config.values["rdb-save-incremental-fsync"]);
    } catch (error) {
      this.#failed(replicas, errorOf(error));
      return;
    }
    const snapshot = walk(store, file, options);
    this.#round = { replicas, snapshot, sink: null };
    store.persistence.begin("sync", snapshot, async () => {
      try {
        const length = await snapshot.done;
        await file.commit(path);
        const sending = await Promise.all(
          [...replicas].map(async (r) => ({ replica: r, handle: await openForReading(path) })),
        );
        for (const { replica, handle } of sending) void this.#sendFile(replica, handle, length);
      } catch (error) {
        file.abandon();
        this.#failed(replicas, errorOf(error));
      }
      rmSync(path, { force: true });
      this.#round = null;
    });
  }

  async #sendFile(replica: Replica, handle: ReadHandle, length: number): Promise<void> {
    const { client } = replica;
    try {
      if (client.closed) return;
      replica.state = "file";
      replica.line(`$${length}\r\n`);
      for (let sent = 0; sent < length && !client.closed; ) {
        const piece = Buffer.allocUnsafeSlow(Math.min(PIECE, length - sent));
        const { bytesRead } = await handle.read(piece, 0, piece.length, sent);
        if (bytesRead === 0) throw new Error("the file is shorter than it was");
        if (client.closed) return;
        replica.send(piece.subarray(0, bytesRead));
        sent += bytesRead;
        if (client.transport.outputBytes > MOST_QUEUED) await taken(replica);
      }
      if (!client.closed) this.#complete(replica, false);
    } catch (error) {
      replica.drop(`its snapshot cannot be sent: ${messageOf(error)}`);
    } finally {
      await handle.close();
    }
  }

  /** All of the snapshot is on its way to a replica. */
  #complete(replica: Replica, marked: boolean): void {
    const { client } = replica;
    if (client.closed) return;
    if (replica.rdbOnly) {
      this.#store.log("notice", `RDB transfer completed, ${replica.name} wanted nothing else`);
      client.transport.close(true);
      return;
    }
    replica.state = "online";
    client.lastActiveAt = this.#store.clock.now();
    replica.awaitsAck = marked;
    if (!marked) replica.release();
    this.#store.log("notice", `Synchronization with replica ${replica.name} succeeded`);
    this.#replication.replicaChanged(replica);
  }

  #failed(replicas: ReadonlySet<Replica>, error: Error): void {
    if (replicas.size > 0) this.#store.log("warning", `SYNC failed. BGSAVE child returned an error: ${error.message}`);
    for (const replica of [...replicas]) replica.drop("its snapshot could not be taken");
  }

  /** A replica is gone. */
  forget(replica: Replica): void {
    const round = this.#round;
    if (round === null || !round.replicas.has(replica)) return;
    if (round.sink !== null) round.sink.forget(replica);
    else round.replicas.delete(replica);
    if (round.replicas.size > 0) return;
    if (round.sink !== null) {
      this.#store.log("warning", "Diskless rdb transfer, last replica dropped, killing fork child.");
    }
    round.snapshot.abort("no replica is left that wants it");
  }

  /** Once a second: replicas that wait hear that we are alive, and replicas that take nothing are dropped. */
  cron(): void {
    const timeoutMs = this.#store.config.values["repl-timeout"] * 1000;
    for (const replica of [...this.#replication.replicas]) {
      const { state } = replica;
      const silent = state === "waiting" || (state === "snapshot" && this.#round?.sink === null);
      if (silent) replica.line("\n");
      else if ((state === "snapshot" || state === "file") && replica.stalledMs() > timeoutMs) {
        this.#store.log("warning", `Disconnecting timedout replica (full sync): ${replica.name}`);
        replica.drop("it does not take the snapshot that it is sent");
      }
    }
  }
}

/** Settles when a replica has taken what was queued for it, or is gone. */
function taken({ client }: Replica): Promise<void> {
  return new Promise((resolve) => {
    client.transport.onDrain = () => {
      client.transport.onDrain = null;
      resolve();
    };
  });
}
