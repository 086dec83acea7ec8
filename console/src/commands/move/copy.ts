/**
 * A move by copy: every key is read (DUMP) and written (RESTORE), while the server tells which keys change meanwhile (CLIENT
 * TRACKING in broadcast mode, which needs no setting and no rights beyond reading); those are copied again. It works from and to
 * anything: folders, Clusters, other databases, servers that refuse REPLICAOF.
 */
import type { Link } from "../link/link.ts";
import { itemsIn, type Reply, textIn } from "../link/reply.ts";
import { keysOf, noErrors, type WholeStore } from "../link/stores.ts";
import { looksEqual, readValuesOf, writeValues } from "../link/values.ts";
import type { Progress } from "../progress.ts";
import { type DbMap, databases, type Suspects, surplus } from "./compare.ts";

const BATCH = 500;

export class Copier {
  readonly #from: WholeStore;
  readonly #to: WholeStore;
  readonly #toDb: DbMap;
  readonly #progress: Progress;
  #listeners: Link[] = [];
  /** Names of keys, latin1; the server does not say in which database. */
  #changed = new Set<string>();
  /** Changes may have been missed, or everything was deleted: all keys must be looked at again. */
  #isBlind = false;
  copied = 0;

  constructor(from: WholeStore, to: WholeStore, toDb: DbMap, progress: Progress) {
    this.#from = from;
    this.#to = to;
    this.#toDb = toDb;
    this.#progress = progress;
  }

  get pending(): number {
    return this.#changed.size;
  }

  /** Changes are noted from now on. */
  async listen(): Promise<void> {
    this.stop();
    this.#listeners = await this.#from.listeners();
    for (const link of this.#listeners) {
      link.onPush = (reply) => this.#note(reply);
      link.onClose(() => {
        this.#isBlind = true;
      });
      await link.call("CLIENT", "TRACKING", "ON", "BCAST");
    }
  }

  #note(reply: Reply): void {
    const [kind, keys] = itemsIn(reply);
    if (textIn(kind) !== "invalidate") return;
    if (keys === undefined || !("items" in keys)) this.#isBlind = true;
    else for (const key of keys.items) if ("bytes" in key) this.#changed.add(key.bytes.toString("latin1"));
  }

  /** Copies every key; those that are already there as they are stay. */
  async copyAll(isResumed: boolean): Promise<void> {
    const total = await this.#from.count();
    let done = 0;
    await this.#copyFunctions();
    for (const part of await this.#from.parts()) {
      for await (const keys of keysOf(part, undefined, BATCH)) {
        await this.#copy(part.db, keys, isResumed);
        done += keys.length;
        this.#progress.show("Copying", done, total);
      }
    }
    if (isResumed) await this.#deleteSurplus();
  }

  async #copy(db: number, keys: readonly Buffer[], isResumed: boolean): Promise<void> {
    const toDb = this.#toDb(db);
    let values = await readValuesOf(this.#from, db, keys);
    if (isResumed) {
      const there = await readValuesOf(this.#to, toDb, keys);
      values = values.filter((value, at) => !looksEqual(value, there[at]!));
    }
    this.copied += values.length;
    await writeValues(this.#to, toDb, values);
  }

  /** Functions, where both sides know them (Redis 7). */
  async #copyFunctions(): Promise<void> {
    const [source] = await this.#from.primaries();
    const dumped = await source!.send(["FUNCTION", "DUMP"]);
    if (!("bytes" in dumped) || dumped.type === "error") return;
    for (const primary of await this.#to.primaries()) {
      noErrors([await primary.send(["FUNCTION", "RESTORE", dumped.bytes, "REPLACE"])]);
    }
  }

  async #deleteSurplus(): Promise<void> {
    for (const [db, names] of await surplus(this.#from, this.#to, this.#toDb)) {
      const keys = [...names].map((name) => Buffer.from(name, "latin1"));
      for (let at = 0; at < keys.length; at += BATCH) {
        const commands = keys.slice(at, at + BATCH).map((key) => ({ key, words: ["DEL", key] }));
        noErrors(await this.#to.run(this.#toDb(db), commands));
      }
    }
  }

  /** Copies what has changed since; answers how many that were. */
  async catchUp(): Promise<number> {
    // What was changed before this is answered has been told before it.
    for (const link of this.#listeners) if (!link.isClosed) await link.call("PING");
    if (this.#isBlind) {
      this.#isBlind = false;
      await this.listen();
      await this.copyAll(true);
    }
    const names = [...this.#changed];
    this.#changed = new Set();
    const dbs = await databases(this.#from, this.#to, this.#toDb);
    for (let at = 0; at < names.length; at += BATCH) {
      const keys = names.slice(at, at + BATCH).map((name) => Buffer.from(name, "latin1"));
      for (const db of dbs) await this.#copy(db, keys, false);
    }
    return names.length;
  }

  /** Copies what a comparison has found to differ. */
  async repair(suspects: Suspects): Promise<void> {
    for (const [db, names] of suspects) {
      const keys = [...names].map((name) => Buffer.from(name, "latin1"));
      for (let at = 0; at < keys.length; at += BATCH) await this.#copy(db, keys.slice(at, at + BATCH), false);
    }
  }

  stop(): void {
    for (const link of this.#listeners.splice(0)) {
      link.onPush = null;
      link.close();
    }
    this.#isBlind = false;
  }
}
