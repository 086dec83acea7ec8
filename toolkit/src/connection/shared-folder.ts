/**
 * One folder, many processes: `open("./data")` in a second process joins the first.
 *
 * **Who owns the folder** is settled by its lock (`cinnabar.lock`), which only a living thread can hold. The owner has the engine in
 * its process and listens on a unix socket, `cinnabar.shared/socket` in the folder, whose parent only this user may enter. Beside
 * it `owner.json` says where the socket is and which protocol is spoken there: a path of more than about 100 bytes is too long for
 * a socket, which is then in the temporary folder. Guests speak RESP over the toolkit's own wire, as with any server.
 *
 * **When the owner ends** or is killed, every connection of a guest is over. To connect again a guest dials the socket; where nobody
 * listens, it tries to lock the folder. One of them gets the lock, loads the files, listens, and talks to its own engine over a
 * stream in the process; the others find its socket. What certainly did not run, and what is safe to repeat, is sent again;
 * everything else rejects with `maybeExecuted`. Subscriptions are made anew.
 *
 * **Nothing acknowledged is lost** by this, whatever `appendfsync` says: while a guest is connected, the owner hands every write to
 * the operating system before any reply leaves, those in its own process included. A process that is killed takes nothing with it
 * that the system has. What a machine that loses power takes with it is for `appendfsync` to say, as ever.
 *
 * **An owner that hangs** (SIGSTOP, a debugger, a long computation) keeps the folder: it may go on at any moment, and two engines
 * would destroy the files. Calls of guests run into their time limits meanwhile, and `open` says who it is that does not answer.
 *
 * A guest that is idle does not keep its process alive, as an engine does not.
 */
import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { Duplex } from "node:stream";
import { Engine } from "@cinnabar/engine";
import { type Clock, sleep, systemClock } from "../base/clock.ts";
import { ClosedError, ConnectionError, codeOf, errorOf, OpenError } from "../base/errors.ts";
import type { DialOptions } from "./dial.ts";
import type { OpenOptions } from "./open.ts";
import type { Driver } from "./port.ts";
import { connected } from "./socket.ts";
import { formatUrl, openTarget, type Target } from "./url.ts";

/** What owner and guests agree on. A change that an older process would not understand counts it up. */
const PROTOCOL = 1;
const FOLDER = "cinnabar.shared";
const TEMPORARY = "cinnabar-shared-";
/** What the system takes as the path of a socket, in bytes. */
const LONGEST_PATH = process.platform === "linux" ? 107 : 103;
/** Between two looks for an owner who is loading, or closing. */
const LOOK_AGAIN_MS = 20;
/** What a connection to a socket fails with that nobody listens on, or whose owner has just ended. */
const GONE = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOTSOCK"]);

/** owner.json */
interface Owner {
  readonly protocol: number;
  readonly pid: number;
  /** Null: the owner could not listen, for this reason. */
  readonly socket: string | null;
  readonly reason?: string;
  /** A digest of the owner's configuration. */
  readonly config: string;
}

/** What the engine throws when somebody else has the folder. */
interface Locked extends Error {
  readonly pid: number;
  readonly isShared: boolean;
}

const isLocked = (error: unknown): error is Locked => error instanceof Error && error.name === "DirectoryLocked";

/** Whether somebody has the folder who lets others join. */
export const isJoinable = (error: unknown): boolean => isLocked(error) && error.isShared;

export class SharedFolder {
  readonly #dir: string;
  readonly #options: OpenOptions;
  readonly #clock: Clock;
  readonly #config: string;
  #engine: Engine | null = null;
  #taking: Promise<Locked | null> | null = null;
  /** A folder in the temporary one that is this owner's. */
  #temporary: string | null = null;
  #closed = false;

  constructor(dir: string, options: OpenOptions) {
    this.#dir = resolve(dir);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const settings = Object.entries(options.config ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
    this.#config = createHash("sha256").update(JSON.stringify(settings)).digest("base64url");
  }

  // ---------------------------------------------------------------------------------------------- the owner

  /** Opens the folder in this process and serves it to others. Throws what the engine throws, if somebody else has it, too. */
  async own(): Promise<Engine> {
    const { config } = this.#options;
    const engine = await Engine.open({ dir: this.#dir, shared: true, ...(config === undefined ? {} : { config }) });
    try {
      await this.#serve(engine);
    } catch (error) {
      await engine.close();
      throw error;
    }
    return engine;
  }

  async #serve(engine: Engine): Promise<void> {
    this.#prepare();
    const owner = { protocol: PROTOCOL, pid: process.pid, config: this.#config };
    try {
      this.#announce({ ...owner, socket: await this.#listen(engine) });
    } catch (error) {
      const reason = errorOf(error).message;
      process.emitWarning(`other processes cannot join the store in ${this.#dir}: ${reason}`, {
        type: "CinnabarWarning",
        code: "CINNABAR_NOT_SHARED",
      });
      this.#announce({ ...owner, socket: null, reason });
    }
  }

  /** A place that only this user may enter; what an owner left behind who was killed is removed. */
  #prepare(): void {
    const folder = join(this.#dir, FOLDER);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    const left = this.#owner()?.socket;
    if (typeof left !== "string" || !isTemporary(left)) return;
    rmSync(dirname(left), { recursive: true, force: true });
  }

  async #listen(engine: Engine): Promise<string> {
    const path = join(this.#dir, FOLDER, "socket");
    if (Buffer.byteLength(path) <= LONGEST_PATH) {
      try {
        await engine.listen({ path, mode: 0o600, peers: true });
        return path;
      } catch {
        // A file system that has no sockets, most likely.
      }
    }
    this.#temporary = mkdtempSync(join(tmpdir(), TEMPORARY));
    const elsewhere = join(this.#temporary, "socket");
    await engine.listen({ path: elsewhere, mode: 0o600, peers: true });
    return elsewhere;
  }

  #announce(owner: Owner): void {
    const path = join(this.#dir, FOLDER, "owner.json");
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
    renameSync(draft, path);
  }

  /** Before the engine is closed: no process may learn of a socket that is about to go. */
  leave(): void {
    rmSync(join(this.#dir, FOLDER, "owner.json"), { force: true });
    if (this.#temporary !== null) rmSync(this.#temporary, { recursive: true, force: true });
    this.#temporary = null;
  }

  // ---------------------------------------------------------------------------------------------- the guest

  /** Joins the owner, or becomes it if that has ended meanwhile. */
  async join(): Promise<Driver> {
    const password = this.#options.config?.requirepass;
    const target: Target = {
      kind: "single",
      tls: false,
      db: 0,
      endpoints: [{ path: this.#dir }],
      ...(password === undefined || password === "" ? {} : { password }),
    };
    const path = join(this.#dir, FOLDER, "socket");
    const isFixed = Buffer.byteLength(path) <= LONGEST_PATH;
    try {
      const driver = await openTarget(target, this.#options, {
        dial: (_endpoint, limits) => this.#dial(limits),
        address: isFixed ? { url: formatUrl({ ...target, endpoints: [{ path }] }), options: {} } : null,
        rests: true,
        onClosed: () => this.#close(),
      });
      this.#compareConfigs();
      return driver;
    } catch (error) {
      await this.#close();
      if (!(error instanceof ConnectionError)) throw error;
      const who = this.#owner();
      throw new OpenError(
        "LOCKED",
        `"${this.#dir}" cannot be opened: ${who === null ? "the process" : `process ${who.pid}`} that has it does not answer (${error.message}). Is it stopped, or busy?`,
        { cause: error },
      );
    }
  }

  /** A connection to the engine, wherever it is. Waits while an owner is loading or closing. */
  async #dial({ timeoutMs }: DialOptions): Promise<Duplex> {
    const until = this.#clock.monotonicMs() + timeoutMs;
    for (;;) {
      if (this.#closed) throw new ClosedError();
      if (this.#engine !== null) return this.#engine.stream();
      const stream = await this.#connect(Math.max(1, until - this.#clock.monotonicMs()));
      if (stream !== null) return stream;
      const locked = await this.#takeOver();
      if (locked === null) continue;
      if (!locked.isShared) throw unshared(this.#dir, locked);
      if (this.#clock.monotonicMs() >= until) {
        throw new ConnectionError(`process ${locked.pid} has the folder, and no socket yet`, { maybeExecuted: false });
      }
      await sleep(this.#clock, LOOK_AGAIN_MS * (0.5 + this.#clock.random()));
    }
  }

  /** Null: nobody listens. */
  async #connect(timeoutMs: number): Promise<Duplex | null> {
    const owner = this.#owner();
    if (owner === null) return null;
    if (owner.protocol !== PROTOCOL) {
      throw new OpenError(
        "LOCKED",
        `"${this.#dir}" cannot be opened: process ${owner.pid} shares it by protocol ${owner.protocol}, and this process knows ${PROTOCOL}. Use one version of cinnabar in both.`,
      );
    }
    if (owner.socket === null) return null;
    try {
      return await connected(connect(owner.socket), "connect", timeoutMs);
    } catch (error) {
      const code = codeOf(error);
      if (code !== undefined && GONE.has(code)) return null;
      throw error;
    }
  }

  /** Becomes the owner: null. Or answers who is. */
  #takeOver(): Promise<Locked | null> {
    this.#taking ??= this.#tryToOwn().finally(() => {
      this.#taking = null;
    });
    return this.#taking;
  }

  async #tryToOwn(): Promise<Locked | null> {
    let engine: Engine;
    try {
      engine = await this.own();
    } catch (error) {
      if (isLocked(error)) return error;
      throw error;
    }
    this.#engine = engine;
    if (this.#closed) await this.#closeEngine();
    return null;
  }

  async #close(): Promise<void> {
    this.#closed = true;
    await this.#taking?.catch(() => {});
    await this.#closeEngine();
  }

  async #closeEngine(): Promise<void> {
    const engine = this.#engine;
    if (engine === null) return;
    this.#engine = null;
    this.leave();
    await engine.close();
  }

  #owner(): Owner | null {
    try {
      return JSON.parse(readFileSync(join(this.#dir, FOLDER, "owner.json"), "utf8"));
    } catch (error) {
      if (codeOf(error) !== "EACCES") return null;
      const message = `"${this.#dir}" cannot be opened: another user has it, and shares it with processes of that user alone.`;
      throw new OpenError("NO_PERMISSION", message, { cause: error });
    }
  }

  #compareConfigs(): void {
    const owner = this.#owner();
    if (this.#options.config === undefined || owner === null || owner.config === this.#config) return;
    process.emitWarning(
      `the config given for ${this.#dir} is not the one that process ${owner.pid} has it open with, which counts until that process ends`,
      { type: "CinnabarWarning", code: "CINNABAR_SHARED_CONFIG" },
    );
  }
}

function unshared(dir: string, locked: Locked): OpenError {
  return new OpenError("LOCKED", `"${dir}" cannot be opened: ${locked.message}`, { cause: locked });
}

/** Whether a socket is in a folder that an owner of this user has made. */
function isTemporary(path: string): boolean {
  if (!basename(dirname(path)).startsWith(TEMPORARY)) return false;
  try {
    const folder = lstatSync(dirname(path));
    return folder.isDirectory() && folder.uid === process.getuid?.();
  } catch {
    return false;
  }
}
