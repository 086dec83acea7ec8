/**
 * Is this service under maintenance? Asked at every request, looked up at most once a second: callers in between share the last
 * answer, and callers that ask while it is looked up share that. When the store cannot be reached the last answer stays.
 */
import { aStore, word } from "../../base/checks.ts";
import { defineOptions, prefix, text, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { maintenanceKey } from "./keys.ts";

/** Settings of `Maintenance`. */
export interface MaintenanceOptions {
  /** How long an answer is good for. A second by default; 0 asks the store every time. */
  readonly freshMs?: number;
  /** How the key begins (default `"config"`). */
  readonly prefix?: string;
}

/** Why a service goes into maintenance, and for how long. */
export interface BeginOptions {
  /** Why, for people to read; empty by default. */
  readonly reason?: string;
  /** Who said so; empty by default. */
  readonly by?: string;
  /** It ends by itself after that, should nobody end it. By default it lasts until `end()`. */
  readonly ttlMs?: number;
}

/** Whether a service is under maintenance, and why. */
export interface MaintenanceInfo {
  /** True: it is. */
  readonly on: boolean;
  /** Why; empty if it is not, or that was not said. */
  readonly reason: string;
  /** Who said so; empty if it is not, or that was not said. */
  readonly by: string;
}

/** As `begin` has stored it. */
function infoIn(stored: string): MaintenanceInfo {
  const { reason, by }: Pick<MaintenanceInfo, "reason" | "by"> = JSON.parse(stored);
  return { on: true, reason, by };
}

const OFF: MaintenanceInfo = { on: false, reason: "", by: "" };

const OPTIONS = defineOptions<MaintenanceOptions>("Maintenance", {
  freshMs: whole(0),
  prefix,
});

const BEGIN_OPTIONS = defineOptions<BeginOptions>("Maintenance.begin", {
  reason: text,
  by: text,
  ttlMs: whole(1),
});

/**
 * A flag that says whether a service is under maintenance. It is asked at every request and looked up at most once in `freshMs`.
 *
 * @example
 * const maintenance = new Maintenance(db, "shop");
 * await maintenance.begin({ reason: "moving house", ttlMs: 3_600_000 });
 * await maintenance.isOn(); // → true
 * await maintenance.inspect(); // → { on: true, reason: "moving house", by: "" }
 * await maintenance.end();
 */
export class Maintenance {
  readonly #store: Store;
  readonly #key: string;
  readonly #freshMs: number;
  #status: MaintenanceInfo = OFF;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checking: Promise<MaintenanceInfo> | null = null;

  constructor(store: Store, service: string, options: MaintenanceOptions = {}) {
    aStore("Maintenance", store);
    OPTIONS.check(options);
    this.#store = store;
    this.#key = maintenanceKey(options.prefix ?? "config", service);
    this.#freshMs = options.freshMs ?? 1_000;
  }

  /**
   * Whether the service is under maintenance. Never rejects: the last answer holds while the store cannot be reached, "no" before
   * the first.
   */
  async isOn(): Promise<boolean> {
    return (await this.inspect()).on;
  }

  /** The same as `isOn`, with the reason and who gave it. */
  async inspect(): Promise<MaintenanceInfo> {
    if (this.#store.clock.monotonicMs() - this.#checkedAt < this.#freshMs) return this.#status;
    this.#checking ??= this.#check().finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  async #check(): Promise<MaintenanceInfo> {
    try {
      const stored = await this.#store.call("GET", this.#key);
      this.#status = stored === null ? OFF : infoIn(String(stored));
    } catch {
      // Whether or not it is reachable, a service must not go up and down with the store.
    }
    this.#checkedAt = this.#store.clock.monotonicMs();
    return this.#status;
  }

  /** Sets the flag, for `ttlMs` if that is given. Other processes notice within their `freshMs`. */
  async begin(options: BeginOptions = {}): Promise<void> {
    BEGIN_OPTIONS.check(options);
    const { reason = "", by = "", ttlMs } = options;
    for (const [what, text] of Object.entries({ reason, by })) if (text !== "") word(what, text);
    const lifetime = ttlMs === undefined ? [] : ["PX", ttlMs];
    await this.#store.send(["SET", this.#key, JSON.stringify({ reason, by }), ...lifetime], { repeatable: true });
    this.#status = { on: true, reason, by };
    this.#checkedAt = this.#store.clock.monotonicMs();
  }

  /** Takes the flag away. Other processes notice within their `freshMs`. */
  async end(): Promise<void> {
    await this.#store.send(["DEL", this.#key], { repeatable: true });
    this.#status = OFF;
    this.#checkedAt = this.#store.clock.monotonicMs();
  }
}
