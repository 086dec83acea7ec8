/**
 * Configuration that many processes share: typed, versioned, pushed when it changes.
 *
 * A process always has a value to work with: the defaults, then what is stored, then every later change. A value that does not
 * pass `validate` never becomes current; the last good one stays, and `status` says why. A change is told by a message with its
 * version, which is only a hint (waiting/hint.ts): what holds is what is read.
 */

import { aStore, oneOf, word } from "../../base/checks.ts";
import { randomToken, sleep } from "../../base/clock.ts";
import { encodeWithin, json } from "../../base/codec.ts";
import { ConflictError, ConnectionError, InputError, messageOf } from "../../base/errors.ts";
import { NameIndex } from "../../base/names.ts";
import { anything, callback, defineOptions, prefix, required, schema, text, whole } from "../../base/options.ts";
import { asListOf, asRecord, asText, asTextOrNull, asTexts, asTuple } from "../../base/replies.ts";
import { type StandardSchema, validated } from "../../base/schema.ts";
import type { Store } from "../../connection/store.ts";
import { Hint } from "../../waiting/hint.ts";
import { type ConfigKeys, configKeys } from "./keys.ts";
import { readSnapshot, writeSnapshot } from "./last-known-good.ts";
import { type ChangeOutcome, change } from "./scripts.ts";

export { type ConnectionSpec, Connections, type ConnectionsOptions } from "./connections.ts";
export { type BeginOptions, Maintenance, type MaintenanceInfo, type MaintenanceOptions } from "./maintenance.ts";
export type { ChangeOutcome } from "./scripts.ts";

/** Settings of a `Config`: its defaults, and either `validate` or `schema`. */
export interface ConfigOptions<T> {
  /** What holds while nothing is stored. */
  readonly defaults: T;
  /**
   * Gives the value with its type, or throws. Whatever is stored, and whatever is to be, passes through it. None by default: then
   * `schema` is needed.
   */
  readonly validate?: (value: unknown) => T;
  /**
   * In place of `validate`: a schema (Standard Schema: zod, valibot, arktype …). What it makes of a value is stored, so it must
   * accept that again. None by default: then `validate` is needed.
   */
  readonly schema?: StandardSchema<unknown, T>;
  /** Where to keep the last good value for a start without the store. None by default. */
  readonly file?: string;
  /** How often the version is looked at, in case a message was lost (default 5 000, at least 1 000). */
  readonly pollMs?: number;
  /** How many changes the audit trail keeps. 100 by default. */
  readonly keepCount?: number;
  /** The most that a value may take as JSON (default 1 MiB); `set` refuses a larger one. */
  readonly maxBytes?: number;
  /** How all keys begin (default `"config"`). */
  readonly prefix?: string;
  /**
   * Called when a change listener throws, the file cannot be written, or a stored value is refused. None by default.
   */
  readonly onError?: (error: unknown) => void;
}

/** A value with its version. */
export interface Current<T> {
  /** The value, as `validate` or `schema` gave it. */
  readonly value: T;
  /** Grows by one with each change; 0 while nothing is stored. */
  readonly version: number;
}

/** How far the current value can be trusted. */
export interface ConfigInfo {
  /**
   * `live`: as stored. `invalid`: what is stored was refused, the last good value is used. `stale`: the store cannot be
   * reached, or this has not been started.
   */
  readonly state: "live" | "invalid" | "stale";
  /** Why the state is not `live`, where that is known. */
  readonly error?: unknown;
}

/** How to change a configuration. */
export interface ChangeOptions {
  /**
   * Only if this is still the version; a mismatch is an answer, not an error. By default it is stored whatever the version is.
   */
  readonly ifVersion?: number;
  /** Who changes it, for the audit trail; empty by default. */
  readonly by?: string;
  /** Why it is changed, for the audit trail; empty by default. */
  readonly note?: string;
}

/** An entry of the audit trail. */
export interface Change<T> {
  /** The version that it made. */
  readonly version: number;
  /** When it was made, by the server's clock. */
  readonly at: Date;
  /** Who made it; empty if that was not said. */
  readonly by: string;
  /** Why it was made; empty if that was not said. */
  readonly note: string;
  /** Null when the value of that time does not pass today's `validate`. */
  readonly value: T | null;
}

const DEFAULT_CHECK_MS = 5_000;
const LEAST_CHECK_MS = 1_000;
/** Each attempt that fails is one that somebody else has made: with so many, all of a crowd come through. */
const MAX_UPDATE_ATTEMPTS = 200;
const LONGEST_PAUSE_MS = 20;

const OPTIONS = defineOptions<ConfigOptions<unknown>>("Config", {
  defaults: required(anything),
  validate: callback,
  schema,
  file: text,
  pollMs: whole(LEAST_CHECK_MS),
  keepCount: whole(1, 100_000),
  maxBytes: whole(2),
  prefix,
  onError: callback,
});

const SET_OPTIONS = defineOptions<ChangeOptions>("Config.set", {
  ifVersion: whole(0),
  by: text,
  note: text,
});

const UPDATE_OPTIONS = defineOptions<Omit<ChangeOptions, "ifVersion">>("Config.update", {
  by: text,
  note: text,
});

const HISTORY_OPTIONS = defineOptions<{ readonly limit?: number }>("Config.history", {
  limit: whole(1, 1_000),
});

/** An entry of the audit log. */
const asChange = asRecord("version", "at", "by", "note", "value");

/**
 * Settings that many processes share: typed, versioned, and pushed to every process that has started it.
 *
 * @example
 * const settings = new Config<{ n: number }>(db, "shop", { defaults: { n: 1 }, validate: (value) => value as { n: number } });
 * await settings.start();
 * settings.on("change", ({ value }) => console.log("changed to", value.n));
 * await settings.set({ n: 50 }, { by: "ann" }); // → { status: "changed", version: 1 }
 * settings.inspect(); // → { state: "live" }
 * await settings.stop();
 * @example
 * const settings = new Config<{ n: number }>(db, "shop", { defaults: { n: 1 }, validate: (value) => value as { n: number } });
 * await settings.update(({ n }) => ({ n: n + 1 }), { by: "bob" }); // → { value: { n: 2 }, version: 1 }
 * await settings.set({ n: 9 }, { ifVersion: 0 }); // → { status: "conflict", version: 1 }
 * await settings.history({ limit: 1 }); // → [{ version: 1, at: …, by: "bob", note: "", value: { n: 2 } }]
 * await settings.refresh();
 * settings.current; // → { value: { n: 2 }, version: 1 }
 */
export class Config<T> {
  /** The configuration's name, as given. */
  readonly name: string;
  readonly #store: Store;
  readonly #options: ConfigOptions<T>;
  readonly #validate: (value: unknown) => T;
  readonly #keys: ConfigKeys;
  readonly #names: NameIndex;
  readonly #hint: Hint;
  readonly #keepCount: number;
  readonly #maxBytes: number;
  readonly #listeners = new Set<(current: Current<T>, before: Current<T>) => void>();
  #current: Current<T>;
  #state: ConfigInfo = { state: "stale" };
  #seen = -1;
  #started: Promise<void> | null = null;
  #removeFromStore = (): void => {};
  /** The last update that this process has asked for. */
  #updating: Promise<unknown> = Promise.resolve();

  constructor(store: Store, name: string, options: ConfigOptions<T>) {
    aStore("Config", store);
    OPTIONS.check(options);
    this.#store = store;
    this.name = name;
    this.#options = options;
    this.#validate = validatorOf(name, options);
    this.#keys = configKeys(options.prefix ?? "config", name);
    this.#names = new NameIndex(store, { kind: "config", prefix: options.prefix ?? "config" });
    this.#hint = new Hint(store, {
      channel: this.#keys.channel,
      pollMs: options.pollMs ?? DEFAULT_CHECK_MS,
      versions: { of: (message) => Number(message.toString("latin1")), seen: () => this.#seen },
      look: () => this.#look(),
    });
    this.#keepCount = options.keepCount ?? 100;
    this.#maxBytes = options.maxBytes ?? 1 << 20;
    this.#current = { value: this.#valid(options.defaults, "the defaults are"), version: 0 };
  }

  /** The value that holds in this process, with its version. */
  get current(): Current<T> {
    return this.#current;
  }

  /** The value that holds in this process: valid at any time, the defaults until something is stored and read. */
  get value(): T {
    return this.#current.value;
  }

  /** How far `value` can be trusted. Known here: nobody is asked. */
  inspect(): ConfigInfo {
    return this.#state;
  }

  // ---------------------------------------------------------------------------------------------- following

  /**
   * Reads what is stored and follows its changes until `stop`. When the store cannot be reached, the file's value is used if
   * there is one; otherwise this rejects.
   */
  start(): Promise<void> {
    this.#started ??= this.#start().catch((error) => {
      this.#started = null;
      throw error;
    });
    return this.#started;
  }

  async #start(): Promise<void> {
    this.#removeFromStore = this.#store.on("close", () => this.stop());
    try {
      await this.#hint.start();
    } catch (error) {
      if (!(error instanceof ConnectionError) || !(await this.#fromFile(error))) {
        await this.stop();
        throw error;
      }
      if (this.#started !== null) this.#hint.follow();
    }
  }

  async #fromFile(error: unknown): Promise<boolean> {
    const { file } = this.#options;
    const snapshot = file === undefined ? null : await readSnapshot(file);
    if (snapshot === null) return false;
    try {
      this.#become({ value: this.#validate(snapshot.value), version: snapshot.version });
    } catch {
      return false;
    }
    this.#state = { state: "stale", error };
    return true;
  }

  /** Looks at the store now. Many callers share one look. */
  refresh(): Promise<void> {
    return this.#hint.looking ?? this.#hint.look();
  }

  async #look(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      this.#state = { state: "stale", error };
      throw error;
    }
  }

  async #read(): Promise<void> {
    const [stored, value] = asTuple(
      asTextOrNull,
      asTextOrNull,
    )(await this.#store.call("HMGET", this.#keys.current, "version", "value"));
    const version = Number(stored ?? 0);
    if (version === this.#seen) {
      // An old error may be over: of the connection it is, of the value it is not.
      if (this.#state.state === "stale") this.#state = { state: "live" };
      return;
    }
    this.#seen = version;
    if (value === null) {
      this.#become({ value: this.#options.defaults, version: 0 });
      this.#state = { state: "live" };
      return;
    }
    let good: T;
    try {
      good = this.#valid(JSON.parse(value), `version ${version} is`);
    } catch (error) {
      this.#state = { state: "invalid", error };
      this.#options.onError?.(error);
      return;
    }
    this.#state = { state: "live" };
    this.#become({ value: good, version });
    await this.#keep();
  }

  #become(next: Current<T>): void {
    const before = this.#current;
    this.#current = next;
    if (before.version === next.version) return;
    for (const listener of [...this.#listeners]) {
      try {
        listener(next, before);
      } catch (error) {
        this.#options.onError?.(error);
      }
    }
  }

  async #keep(): Promise<void> {
    const { file, onError } = this.#options;
    if (file === undefined) return;
    await writeSnapshot(file, this.#current).catch((error) => onError?.(error));
  }

  #valid(value: unknown, what: string): T {
    try {
      return this.#validate(value);
    } catch (error) {
      const why = messageOf(error);
      throw new InputError(`configuration "${this.name}": ${what} not valid: ${why}`, { cause: error });
    }
  }

  /** Calls the listener with each new value, after it has become current. Returns what takes the listener off. */
  on(event: "change", listener: (current: Current<T>, before: Current<T>) => void): () => void {
    oneOf("event", event, ["change"]);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends following; the last value stays. */
  async stop(): Promise<void> {
    this.#started = null;
    this.#removeFromStore();
    await Promise.allSettled([this.#hint.looking, this.#hint.stop()]);
  }

  /** The same as `stop()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  // ---------------------------------------------------------------------------------------------- changing

  /** Stores a value for everybody. It is current here when this resolves. */
  async set(value: T, options: ChangeOptions = {}): Promise<ChangeOutcome> {
    SET_OPTIONS.check(options);
    const { ifVersion, by = "", note = "" } = options;
    for (const [what, text] of Object.entries({ by, note })) if (text !== "") word(what, text);
    const valid = this.#valid(value, "the new value is");
    const outcome = await this.#store.run(change, {
      current: this.#keys.current,
      audit: this.#keys.audit,
      value: encodeWithin(json<T>(), valid, this.#maxBytes, `configuration "${this.name}"`),
      ifVersion: ifVersion ?? "",
      by,
      note,
      token: randomToken(),
      keep: this.#keepCount,
      channel: this.#keys.channel,
    });
    this.#names.announce(this.name);
    // One that is under way may have begun before the change.
    await this.#hint.look().catch(() => {});
    return outcome;
  }

  /** Reads, changes, and stores if nobody was faster; else again. Null from the function gives up. */
  async update(
    make: (value: T) => T | null | Promise<T | null>,
    options: Omit<ChangeOptions, "ifVersion"> = {},
  ): Promise<Current<T> | null> {
    UPDATE_OPTIONS.check(options);
    // Those of this process one after the other: they would only be in each other's way.
    const turn = this.#updating.then(() => this.#update(make, options));
    this.#updating = turn.catch(() => {});
    return turn;
  }

  async #update(
    make: (value: T) => T | null | Promise<T | null>,
    options: Omit<ChangeOptions, "ifVersion">,
  ): Promise<Current<T> | null> {
    const { clock } = this.#store;
    for (let attempt = 0; attempt < MAX_UPDATE_ATTEMPTS; attempt++) {
      if (attempt > 0) await sleep(clock, clock.random() * Math.min(LONGEST_PAUSE_MS, 2 ** attempt));
      await this.refresh();
      if (this.#state.state === "invalid") throw this.#state.error;
      const { value, version } = this.#current;
      const next = await make(value);
      if (next === null) return null;
      const outcome = await this.set(next, { ...options, ifVersion: version });
      if (outcome.status === "changed") return { value: next, version: outcome.version };
    }
    throw new ConflictError(MAX_UPDATE_ATTEMPTS);
  }

  /** The latest changes, newest first. */
  async history(options: { readonly limit?: number } = {}): Promise<Change<T>[]> {
    HISTORY_OPTIONS.check(options);
    const limit = options.limit ?? 20;
    const entries = await this.#store.call("XREVRANGE", this.#keys.audit, "+", "-", "COUNT", limit);
    return asListOf(asTuple(asText, asTexts))(entries).map(([, fields]) => {
      const { version, at, by, note, value } = asChange(fields);
      return { version: Number(version), at: new Date(Number(at)), by, note, value: this.#past(value) };
    });
  }

  #past(stored: string): T | null {
    try {
      return this.#validate(JSON.parse(stored));
    } catch {
      return null;
    }
  }
}

/** By a function or by a schema: what is stored has to be checked in one way. */
function validatorOf<T>(name: string, { validate, schema: given }: ConfigOptions<T>): (value: unknown) => T {
  if (validate !== undefined && given === undefined) return validate;
  if (given !== undefined && validate === undefined) {
    return (value) => validated(given, value, `configuration "${name}"`);
  }
  throw new InputError(
    `Config: ${validate === undefined ? "validate or schema is missing" : "give validate or schema, not both"}`,
  );
}
