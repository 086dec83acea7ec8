/**
 * A file that a snapshot is written to: under a temporary name, in the background, and given its name when all of it is on
 * disk. At any moment the name stands for a whole file, the old one or the new one.
 */
import type { Buffer } from "../platform/bytes.ts";
import {
  closed,
  closeSync,
  fdatasync,
  opened,
  openSync,
  renameSync,
  rmSync,
  synced,
  write,
} from "../platform/files.ts";
import { dirname } from "../platform/paths.ts";
import type { SnapshotSink } from "./snapshot.ts";

/** What is brought to disk at a time, so that the last sync does not have to bring it all. */
const SYNC_EVERY = 32 * 1024 * 1024;
/** `drained` settles when no more than this is left. */
const FEW_PENDING = 1024 * 1024;

export class SnapshotFile implements SnapshotSink {
  readonly temporary: string;
  readonly #syncsOften: boolean;
  #descriptor: number;
  #queue: Buffer[] = [];
  #pending = 0;
  #busy = false;
  #unsynced = 0;
  #error: Error | null = null;
  #waiters: { below: number; resolve: () => void; reject: (error: Error) => void }[] = [];

  constructor(temporary: string, syncsOften: boolean) {
    this.temporary = temporary;
    this.#syncsOften = syncsOften;
    this.#descriptor = openSync(temporary, "w", 0o644);
  }

  get pendingBytes(): number {
    return this.#pending;
  }

  write(chunk: Buffer): void {
    if (this.#error !== null) throw this.#error;
    this.#queue.push(chunk);
    this.#pending += chunk.length;
    if (!this.#busy) this.#next();
  }

  drained(): Promise<void> {
    return this.#until(FEW_PENDING);
  }

  #until(below: number): Promise<void> {
    if (this.#error !== null) return Promise.reject(this.#error);
    if (this.#pending <= below && !this.#busy) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiters.push({ below, resolve, reject }));
  }

  #next(): void {
    const chunk = this.#queue.shift();
    if (chunk === undefined || this.#descriptor < 0) return;
    this.#busy = true;
    this.#put(chunk, 0);
  }

  #put(chunk: Buffer, from: number): void {
    write(this.#descriptor, chunk, from, chunk.length - from, null, (error, written) => {
      if (error !== null) return this.#settle(error);
      this.#pending -= written;
      this.#unsynced += written;
      if (from + written < chunk.length) return this.#put(chunk, from + written);
      if (!this.#syncsOften || this.#unsynced < SYNC_EVERY) return this.#settle(null);
      this.#unsynced = 0;
      fdatasync(this.#descriptor, (failure) => this.#settle(failure));
    });
  }

  /** A chunk has been written, or could not be. */
  #settle(error: Error | null): void {
    this.#busy = false;
    if (error !== null) {
      this.#error = error;
      this.#queue = [];
      this.#pending = 0;
    }
    if (this.#queue.length > 0) this.#next();
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) {
      if (this.#error !== null) waiter.reject(this.#error);
      else if (this.#pending <= waiter.below && (waiter.below > 0 || !this.#busy)) waiter.resolve();
      else this.#waiters.push(waiter);
    }
  }

  /** Brings everything to disk and gives the file its name, unless `verify`, which is asked right before, throws. */
  async commit(path: string, verify: () => void = () => {}): Promise<void> {
    await this.#until(0);
    await synced(this.#descriptor);
    const descriptor = this.#descriptor;
    this.#descriptor = -1;
    await closed(descriptor);
    verify();
    renameSync(this.temporary, path);
    // A name is on disk when its folder is.
    const folder = await opened(dirname(path), "r");
    await synced(folder).finally(() => closed(folder));
  }

  /** Leaves nothing behind. */
  abandon(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = -1;
    this.#queue = [];
    this.#error ??= new Error("the file was abandoned");
    rmSync(this.temporary, { force: true });
    if (descriptor < 0) return;
    // A write may still be under way in another thread: the descriptor must not be given to somebody else before it ends.
    if (!this.#busy) closeSync(descriptor);
    else this.#waiters.push({ below: 0, resolve: () => closeSync(descriptor), reject: () => closeSync(descriptor) });
  }
}
