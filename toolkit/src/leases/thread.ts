/**
 * The near side of the thread that renews leases (worker.ts is the far side). One for each store, started with the first
 * lease, stopped when it has had none for a while or with the store. It never keeps the process alive.
 *
 * The two share a board (board.ts), at which the thread looks by itself: every LOOK_MS, and more often while there are leases
 * so short that this would be too late. Only for the first of those, it is woken by a message. `looking` tells how often it
 * looks at the moment. The near side writes a lease, then reads `looking`; the far side raises `looking`, then looks once more:
 * so one of the two notices the other.
 *
 * A thread takes a while to start. Until it has said that it is connected, this loop renews too; renewing twice does no harm.
 * A thread that fails is not missed: this loop takes over, with a warning.
 */
import { Worker } from "node:worker_threads";
import { Bag, type BagPlace } from "../base/bag.ts";
import type { Timer } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { fromSource } from "../base/from-source.ts";
import type { WorkerAddress } from "../connection/port.ts";
import type { Store } from "../connection/store.ts";
import { Board, SLOTS } from "./board.ts";
import type { LoopRenewer } from "./loop.ts";
import type { KeptLease, Renewer } from "./renewal.ts";
import { WORKER_SOURCE } from "./worker-source.ts";

/** How often the thread looks at the board when nothing urges it. */
export const LOOK_MS = 1_000;
/** How many times it should have looked before the first renewal of a lease is due at a third. */
export const LOOKS_PER_LEASE = 6;

/** What is sent to the thread. */
export type ToThread =
  | { readonly kind: "board"; readonly memory: SharedArrayBuffer }
  | { readonly kind: "script"; readonly sha: string; readonly source: string }
  /** What is too long for a slot, which has only the id then. */
  | { readonly kind: "text"; readonly id: number; readonly text: string }
  /** There is a short lease. */
  | { readonly kind: "look" }
  | { readonly kind: "stop" };

/** What comes from it. */
export type FromThread = { readonly kind: "ready" } | { readonly kind: "lost"; readonly ids: readonly number[] };

/** What stands in a slot: a lease, or only its number where its text is too long and comes as a message. */
export type InSlot = SlotText | readonly [id: number];

/** Bytes are base64 in an object, as JSON has none. */
export type SlotText = readonly [
  id: number,
  sha: string,
  leaseMs: number,
  keys: readonly string[],
  args: readonly (string | number | { readonly base64: string })[],
];

export interface ThreadData {
  readonly address: WorkerAddress;
  /** One number: how often the thread looks, in milliseconds. */
  readonly looking: SharedArrayBuffer;
}

const IDLE_MS = 10_000;

/** What this side knows of a lease that the thread renews. */
export interface ThreadEntry {
  readonly id: number;
  readonly far: Far;
  readonly slot: Slot;
  readonly place: BagPlace<KeptLease>;
}

/** A place on a board. */
interface Slot {
  readonly board: Board;
  readonly at: number;
}

/** A thread and what it knows. */
interface Far {
  readonly worker: Worker;
  readonly looking: Int32Array;
  /** First in, first out, so that a slot rests as long as possible. */
  readonly free: Slot[];
  readonly scripts: Set<string>;
  ready: boolean;
}

export class ThreadRenewer implements Renewer {
  readonly #store: Store;
  readonly #address: WorkerAddress;
  readonly #loop: LoopRenewer;
  #far: Far | null = null;
  #failed = false;
  #closed = false;
  #nextId = 0;
  readonly #leases = new Bag<KeptLease>();
  #idle: Timer | null = null;

  constructor(store: Store, address: WorkerAddress, loop: LoopRenewer) {
    this.#store = store;
    this.#address = address;
    this.#loop = loop;
  }

  get state(): "none" | "starting" | "running" {
    if (this.#far === null) return "none";
    return this.#far.ready ? "running" : "starting";
  }

  add(lease: KeptLease): void {
    if (this.#closed) return;
    if (this.#far?.ready !== true) this.#loop.add(lease);
    if (this.#failed) return;
    const far = this.#far ?? this.#start();
    const { leaseMs } = lease.task;
    const { script, keys, args } = lease.task.call();
    if (!far.scripts.has(script.sha)) {
      far.scripts.add(script.sha);
      post(far, { kind: "script", sha: script.sha, source: script.source });
    }
    const id = this.#nextId++;
    const text: SlotText = [id, script.sha, leaseMs, keys, args.map(plain)];
    const slot = this.#write(far, id, JSON.stringify(text), lease.validForMs());
    lease.thread = { id, far, slot, place: this.#leases.add(lease) };
    if (leaseMs < Atomics.load(far.looking, 0) * LOOKS_PER_LEASE) post(far, { kind: "look" });
  }

  #write(far: Far, id: number, text: string, validForMs: number): Slot {
    const slot = far.free.shift() ?? this.#addBoard(far);
    if (!slot.board.write(slot.at, text, validForMs, id)) {
      post(far, { kind: "text", id, text });
      slot.board.write(slot.at, JSON.stringify([id]), validForMs, id);
    }
    return slot;
  }

  /** The first slot of a new board; the others are free. */
  #addBoard(far: Far): Slot {
    const board = new Board();
    for (let at = 1; at < SLOTS; at++) far.free.push({ board, at });
    post(far, { kind: "board", memory: board.memory });
    return { board, at: 0 };
  }

  remove(lease: KeptLease): void {
    this.#loop.remove(lease);
    const entry = lease.thread;
    if (entry === null) return;
    lease.thread = null;
    this.#leases.remove(entry.place);
    entry.slot.board.clear(entry.slot.at);
    entry.far.free.push(entry.slot);
    if (this.#leases.size === 0) this.#restLater();
  }

  /** What the thread could not renew in time is lost. */
  rescue(): boolean {
    return false;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#idle?.cancel();
    for (const lease of this.#leases.items()) lease.lose("the store was closed");
    await this.#stop();
  }

  #start(): Far {
    const looking = new Int32Array(new SharedArrayBuffer(4));
    Atomics.store(looking, 0, LOOK_MS);
    const worker = startWorker(this.#address, looking.buffer);
    worker.unref();
    const far: Far = { worker, looking, free: [], scripts: new Set(), ready: false };
    worker.on("message", (message: FromThread) => this.#receive(far, message));
    worker.on("error", (error) => this.#fail(far, error));
    worker.on("exit", () => this.#fail(far, new Error("it has ended")));
    this.#far = far;
    return far;
  }

  #receive(far: Far, message: FromThread): void {
    if (this.#far !== far) return;
    if (message.kind === "ready") {
      far.ready = true;
      for (const lease of this.#leases.items()) this.#loop.remove(lease);
      return;
    }
    const lost = new Set(message.ids);
    for (const lease of this.#leases.items()) {
      if (lease.thread !== null && lost.has(lease.thread.id)) lease.lose("the server knows the lease no longer");
    }
  }

  #fail(far: Far, error: unknown): void {
    if (this.#far !== far || this.#closed) return;
    this.#failed = true;
    const why = messageOf(error);
    process.emitWarning(`the thread that renews leases has failed, the event loop does it instead: ${why}`, {
      type: "CinnabarWarning",
    });
    for (const lease of this.#forget()) this.#loop.add(lease);
  }

  /** Answers what the thread had. */
  #forget(): readonly KeptLease[] {
    const leases = this.#leases.items();
    this.#far = null;
    this.#leases.clear();
    for (const lease of leases) lease.thread = null;
    return leases;
  }

  /** Ends the thread when there was no lease for a while; one timer for all, since leases come and go quickly. */
  #restLater(): void {
    const last = this.#nextId;
    this.#idle ??= this.#store.clock.after(IDLE_MS, () => {
      this.#idle = null;
      if (this.#leases.size > 0) return;
      if (this.#nextId === last) void this.#stop();
      else this.#restLater();
    });
  }

  async #stop(): Promise<void> {
    const far = this.#far;
    if (far === null) return;
    this.#forget();
    const { worker } = far;
    post(far, { kind: "stop" });
    await new Promise<void>((resolve) => {
      const impatient = this.#store.clock.after(1_000, () => void worker.terminate(), { keepAlive: true });
      worker.ref();
      worker.once("exit", () => {
        impatient.cancel();
        resolve();
      });
    });
  }
}

function post(far: Far, message: ToThread): void {
  far.worker.postMessage(message);
}

function plain(word: string | number | bigint | Uint8Array): SlotText[4][number] {
  if (word instanceof Uint8Array) return { base64: Buffer.from(word).toString("base64") };
  return typeof word === "bigint" ? String(word) : word;
}

/** From its text where there is one, which works in a bundle too; otherwise from the file beside this one. */
function startWorker(address: WorkerAddress, looking: SharedArrayBuffer): Worker {
  // Some bundlers leave nothing of it.
  const here: string | undefined = import.meta.url;
  if (WORKER_SOURCE !== null || here === undefined) {
    const data: ThreadData = { address, looking };
    return new Worker(WORKER_SOURCE ?? NO_SOURCE, { eval: true, workerData: data });
  }
  if (!here.endsWith(".ts")) {
    const file = new URL("./worker.js", here);
    return new Worker(file, { workerData: { address, looking } satisfies ThreadData });
  }
  const file = new URL("./worker.ts", here).href;
  return new Worker(fromSource(file), { eval: true, workerData: { address, looking } satisfies ThreadData });
}

/** The thread fails, and the loop of this process takes over. */
const NO_SOURCE = `throw new Error("cinnabar was bundled from an incomplete build: leases are renewed by the main thread")`;
