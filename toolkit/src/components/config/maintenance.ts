/**
 * Is this service under maintenance? Asked at every request, looked up at most once a second: callers in between share the last
 * answer, and callers that ask while it is looked up share that. When the store cannot be reached the last answer stays.
 */
import { aStore, word } from "../../base/checks.ts";
import { defineOptions, prefix, text, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { maintenanceKey } from "./keys.ts";

export interface MaintenanceOptions {
  /** How long an answer is good for. */
  readonly freshMs?: number;
  readonly prefix?: string;
}

export interface BeginOptions {
  readonly reason?: string;
  readonly by?: string;
  /** It ends by itself after that, should nobody end it. */
  readonly ttlMs?: number;
}

export interface MaintenanceInfo {
  readonly on: boolean;
  readonly reason: string;
  readonly by: string;
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

  async isOn(): Promise<boolean> {
    return (await this.inspect()).on;
  }

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
      this.#status =
        stored === null ? OFF : { on: true, ...(JSON.parse(String(stored)) as Omit<MaintenanceInfo, "on">) };
    } catch {
      // Whether or not it is reachable, a service must not go up and down with the store.
    }
    this.#checkedAt = this.#store.clock.monotonicMs();
    return this.#status;
  }

  /** With `ttlMs`, it ends by itself, should nobody end it. */
  async begin(options: BeginOptions = {}): Promise<void> {
    BEGIN_OPTIONS.check(options);
    const { reason = "", by = "", ttlMs } = options;
    for (const [what, text] of Object.entries({ reason, by })) if (text !== "") word(what, text);
    const lifetime = ttlMs === undefined ? [] : ["PX", ttlMs];
    await this.#store.send(["SET", this.#key, JSON.stringify({ reason, by }), ...lifetime], { repeatable: true });
    this.#status = { on: true, reason, by };
    this.#checkedAt = this.#store.clock.monotonicMs();
  }

  async end(): Promise<void> {
    await this.#store.send(["DEL", this.#key], { repeatable: true });
    this.#status = OFF;
    this.#checkedAt = this.#store.clock.monotonicMs();
  }
}
