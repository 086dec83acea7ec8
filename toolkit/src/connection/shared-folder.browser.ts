/**
 * One folder of the origin's private file system, many tabs: `open("./data")` in a second tab's worker joins the first.
 *
 * **Who owns the folder** is settled by a Web Lock, which the browser takes from a tab that ends, however it ends. The owner has the
 * engine and listens on a BroadcastChannel, the lobby. A guest makes up a name for a channel of two and says it there; the owner
 * serves RESP on it, the guest speaks it by the toolkit's own wire, as with any server.
 *
 * **When the owner's tab ends**, the next in the line for the lock becomes the owner: it loads the files, says in the lobby that it is
 * there, and talks to its own engine. All guests give up their connections and make new ones. What certainly did not run, and what is
 * safe to repeat, is sent again; everything else rejects with `maybeExecuted`.
 *
 * **When a guest's tab ends**, the owner learns it by the lock that each guest has of its own, and ends its connections.
 *
 * **Nothing acknowledged is lost** by the end of a tab, whatever `appendfsync` says: while there are guests, the owner writes every
 * change to its file before any reply leaves.
 *
 * On a page a folder cannot be opened, but one that a worker has can be joined.
 */

import type { Duplex } from "node:stream";
import { Engine } from "@cinnabar/engine/browser";
import { type Clock, sleep, systemClock } from "../base/clock.ts";
import { ClosedError, ConnectionError, codeOf, errorOf } from "../base/errors.ts";
import { type DialOptions, dialWire, type Settings } from "./dial.ts";
import type { OpenOptions } from "./open.ts";
import type { Driver } from "./port.ts";
import { RemoteDriver } from "./remote.ts";
import { TabStream } from "./tab-stream.browser.ts";

const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;
const DEFAULT_COMMAND_TIMEOUT_MS = 10_000;
/** Between two knocks at a lobby where nobody is yet. */
const KNOCK_MS = 20;
/** How long the files of a tab that has ended may stay its own. */
const LET_GO_MS = 2_000;

/** What is said in a lobby. */
type Word = { readonly is: "knock"; readonly channel: string; readonly guest: string } | { readonly is: "owner" };

/** Somebody else has the folder, and lets others join. */
class Taken extends Error {}

export const isJoinable = (error: unknown): boolean => error instanceof Taken;

/** Whether a folder can be opened here. */
const canOwn = (): boolean =>
  typeof FileSystemFileHandle !== "undefined" && "createSyncAccessHandle" in FileSystemFileHandle.prototype;

export class SharedFolder {
  readonly #dir: string;
  readonly #options: OpenOptions;
  readonly #clock: Clock;
  readonly #lock: string;
  readonly #lobby: BroadcastChannel;
  /** Names this guest: it has a lock of this name as long as it lives. */
  readonly #guest: string;
  /** The end of this store: gives up the place in the line, and the guest's lock. */
  readonly #ending = new AbortController();
  #inLine = false;
  /** Why this guest could not become the owner when it was its turn. */
  #failure: Error | null = null;
  #engine: Engine | null = null;
  #letGo: (() => void) | null = null;
  /** The names of the channels that are served. */
  readonly #served = new Set<string>();
  /** A guest's connections to another tab. */
  readonly #streams = new Set<TabStream>();
  #closed = false;

  constructor(dir: string, options: OpenOptions) {
    this.#dir = dir;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#lock = `cinnabar ${dir.replace(/^(?:\.?\/)+/, "")}`;
    this.#lobby = new BroadcastChannel(this.#lock);
    this.#guest = `${this.#lock} ${crypto.randomUUID()}`;
  }

  // ---------------------------------------------------------------------------------------------- the owner

  /** Opens the folder here and serves it to others. Throws what `isJoinable` knows if another tab has it. */
  async own(): Promise<Engine> {
    try {
      if (!(await this.#lockNow())) throw new Taken(`another tab has the store in "${this.#dir}"`);
      return await this.#open();
    } catch (error) {
      this.#letGo?.();
      if (!isJoinable(error)) this.#lobby.close();
      throw error;
    }
  }

  #lockNow(): Promise<boolean> {
    return new Promise((resolve, reject) => {
      navigator.locks
        .request(this.#lock, { ifAvailable: true }, (lock) => {
          resolve(lock !== null);
          return lock === null ? undefined : this.#held();
        })
        .catch(reject);
    });
  }

  /** Settles when the lock is to be let go of. */
  #held(): Promise<void> {
    return new Promise((resolve) => {
      this.#letGo = resolve;
    });
  }

  async #open(): Promise<Engine> {
    const { config } = this.#options;
    const until = this.#clock.monotonicMs() + LET_GO_MS;
    for (;;) {
      try {
        const engine = await Engine.open({ dir: this.#dir, ...(config === undefined ? {} : { config }) });
        this.#engine = engine;
        this.#lobby.onmessage = ({ data }: MessageEvent<Word>) => {
          if (data.is === "knock") this.#welcome(engine, data.channel, data.guest);
        };
        this.#say({ is: "owner" });
        return engine;
      } catch (error) {
        // The files of a tab that was closed are let go of a moment after its lock.
        if (codeOf(error) !== "EBUSY" || this.#clock.monotonicMs() >= until) throw error;
        await sleep(this.#clock, KNOCK_MS);
      }
    }
  }

  #say(word: Word): void {
    // A store that was closed while it took over has left the lobby, and is about to let go of the files.
    if (!this.#closed) this.#lobby.postMessage(word);
  }

  /** Serves a guest until one of the two ends. A guest that has heard nothing knocks again by the same name. */
  #welcome(engine: Engine, name: string, guest: string): void {
    if (this.#closed || this.#served.has(name)) return;
    this.#served.add(name);
    const channel = new BroadcastChannel(name);
    const over = new AbortController();
    let hear: (event: { readonly data: unknown }) => void = () => {};
    const end = (): void => {
      over.abort();
      this.#served.delete(name);
      channel.close();
    };
    channel.onmessage = (event) => {
      hear(event);
      if (event.data === null) end();
    };
    channel.postMessage("welcome");
    engine.serve(
      {
        addEventListener(_type, listener) {
          hear = listener;
        },
        postMessage(message) {
          // The engine says its last a turn after it has heard the guest's. A channel that is closed throws, which would keep what the
          // engine has for other guests from leaving.
          if (!over.signal.aborted) channel.postMessage(message);
        },
        start: () => {},
        close: end,
      },
      { peers: true },
    );
    // Granted when the guest is gone, who may have had no time to say so.
    navigator.locks
      .request(guest, { mode: "shared", signal: over.signal }, () => {
        hear({ data: null });
        end();
      })
      .catch(() => {});
  }

  /** Before the engine is closed: nobody is let in any more. Others can have the folder when the files are closed. */
  leave(): void {
    this.#closed = true;
    this.#ending.abort();
    this.#lobby.close();
    const letGo = (): void => this.#letGo?.();
    this.#engine?.close().then(letGo, letGo);
  }

  // ---------------------------------------------------------------------------------------------- the guest

  /** Joins the owner, or becomes it if that has ended meanwhile. */
  async join(): Promise<Driver> {
    const { config, clientName, connectTimeoutMs, commandTimeoutMs } = this.#options;
    const password = config?.requirepass;
    const settings: Settings = {
      dial: (_endpoint, limits) => this.#dial(limits),
      clock: this.#clock,
      tls: undefined,
      db: 0,
      clientName,
      connectTimeoutMs: connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
      commandTimeoutMs: commandTimeoutMs ?? DEFAULT_COMMAND_TIMEOUT_MS,
      ...(password === undefined || password === "" ? {} : { password }),
    };
    this.#lobby.onmessage = ({ data }: MessageEvent<Word>) => {
      if (data.is !== "owner") return;
      this.#drop();
      this.#standInLine();
    };
    await this.#live();
    this.#standInLine();
    try {
      return await RemoteDriver.open({
        topology: "single",
        settings,
        dial: () => dialWire({ path: this.#dir }, settings),
        address: null,
        onClosed: async () => this.#leaveAsGuest(),
      });
    } catch (error) {
      await this.#leaveAsGuest();
      throw error;
    }
  }

  /** Has a lock as long as this store is open here. An owner who asked for it too soon would take this guest for gone. */
  #live(): Promise<void> {
    const { signal } = this.#ending;
    return new Promise((resolve, reject) => {
      navigator.locks
        .request(this.#guest, () => {
          resolve();
          return new Promise<void>((end) => signal.addEventListener("abort", () => end()));
        })
        .catch(reject);
    });
  }

  /** Waits for the owner's end, and takes its place. */
  #standInLine(): void {
    if (this.#inLine) return;
    this.#inLine = true;
    navigator.locks
      .request(this.#lock, { signal: this.#ending.signal }, async () => {
        if (this.#closed) return;
        this.#drop();
        // A page leaves it to workers. When it hears of one in the lobby, it stands in line again, to learn when that has gone.
        if (!canOwn()) return;
        const held = this.#held();
        try {
          await this.#open();
        } catch (error) {
          // Another one may be able to. This guest is in line no more; what it is asked fails until somebody is the owner.
          this.#failure = errorOf(error);
          return;
        }
        if (this.#closed) this.leave();
        await held;
      })
      .catch(() => {})
      .finally(() => {
        this.#inLine = false;
      });
  }

  /** The tab at the other end has gone, or another is the owner now. */
  #drop(): void {
    for (const stream of [...this.#streams]) stream.destroy(new Error("the tab that had the store has gone"));
    this.#streams.clear();
  }

  /** A connection to the engine, wherever it is. Waits while an owner is loading or closing. */
  async #dial({ timeoutMs }: DialOptions): Promise<Duplex> {
    if (this.#closed) throw new ClosedError();
    if (this.#engine !== null) {
      const { port1, port2 } = new MessageChannel();
      this.#engine.serve(port1);
      return new TabStream(port2);
    }
    const name = `${this.#guest} ${crypto.randomUUID()}`;
    const channel = new BroadcastChannel(name);
    const until = this.#clock.monotonicMs() + timeoutMs;
    let isWelcome = false;
    const welcome = new Promise<void>((resolve) => {
      channel.onmessage = ({ data }) => {
        if (data !== "welcome") return;
        isWelcome = true;
        resolve();
      };
    });
    while (!isWelcome) {
      if (this.#closed || this.#engine !== null || this.#clock.monotonicMs() >= until) {
        // An owner that hears of it late ends what it has begun.
        channel.postMessage(null);
        channel.close();
        if (this.#engine !== null) return this.#dial({ timeoutMs, tls: undefined });
        if (this.#closed) throw new ClosedError();
        const why = this.#failure === null ? "does not answer" : `has gone, and ${this.#failure.message}`;
        throw new ConnectionError(`the tab that has the store in "${this.#dir}" ${why}`, { maybeExecuted: false });
      }
      this.#say({ is: "knock", channel: name, guest: this.#guest });
      await Promise.race([welcome, sleep(this.#clock, KNOCK_MS)]);
    }
    const stream = new TabStream(channel);
    this.#streams.add(stream);
    stream.on("close", () => this.#streams.delete(stream));
    return stream;
  }

  async #leaveAsGuest(): Promise<void> {
    if (this.#engine !== null) this.leave();
    else {
      this.#closed = true;
      this.#ending.abort();
      this.#lobby.close();
    }
    await this.#engine?.close();
  }
}
