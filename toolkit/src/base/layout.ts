/**
 * Which version a component's keys have in a store, so that programs of different versions do not spoil each other's data.
 *
 * A component says once what it writes and what it can read (`defineLayout`, in its `keys.ts`). The hash `cinnabar:layouts` has the
 * version of every component that was used in the store. Before a process runs its first script of a component, it asks for that
 * version, in one round trip: one that it cannot read is refused with a `LayoutError`, an older one that it can read is noted as its
 * own from then on. It asks again once a minute while the component is used, without waiting; so a process that goes on while others
 * are upgraded stops within a minute rather than write what they no longer read.
 *
 * A rolling upgrade takes two releases: the first reads the new layout and writes the old one, the second writes the new one.
 * A server that does not let this user read the hash is asked for nothing more: the check is a help, not a right.
 */
import type { Reply } from "../connection/port.ts";
import type { Clock } from "./clock.ts";
import { CinnabarError, ServerError } from "./errors.ts";
import { defineScript, IF_WRITABLE, type Script, type ScriptCall } from "./script.ts";

/** Keys that say what a store is used for; they belong to no component. */
export const HOUSE_KEYS = "cinnabar:";

export const LAYOUTS_KEY = `${HOUSE_KEYS}layouts`;

/** How long a process relies on what it has seen. */
const FRESH_MS = 60_000;

export interface Layout {
  readonly component: string;
  /** What this program writes. */
  readonly version: number;
  /** The oldest and the newest that it can read. */
  readonly oldest: number;
  readonly newest: number;
}

const layouts = new Map<string, Layout>();

/** A component's layout. Its scripts have names that begin with `component.`. */
export function defineLayout(
  component: string,
  { version = 1, oldest = version, newest = version }: Partial<Omit<Layout, "component">> = {},
): Layout {
  const layout = { component, version, oldest, newest };
  layouts.set(component, layout);
  return layout;
}

/** All that were defined by what this process has loaded. */
export function definedLayouts(): ReadonlyMap<string, Layout> {
  return layouts;
}

/** The store's keys are of a version that this program cannot read. */
export class LayoutError extends CinnabarError {
  override readonly name = "LayoutError";

  constructor({ component, oldest, newest }: Layout, stored: string) {
    const readable = oldest === newest ? `version ${newest}` : `versions ${oldest} to ${newest}`;
    super(
      "LAYOUT_VERSION",
      `${component}: the store has version ${stored} of its keys, and this program reads ${readable}; ${remedyFor(component, Number(stored), newest)}`,
    );
  }
}

function remedyFor(component: string, stored: number, newest: number): string {
  if (Number.isNaN(stored)) return `a version is a number: correct the field ${component} of ${LAYOUTS_KEY}`;
  return stored > newest
    ? "use the version of cinnabar that wrote them, or a newer one"
    : "migrate them with an older version first";
}

/** Answers with the version that is stored. A version that can be read and is older becomes the one that is written, unless the store
 * only looks. */
const enter = defineScript({
  name: "layouts.enter",
  keys: ["layouts"],
  args: ["component", "version", "oldest", "isObserver"],
  include: [IF_WRITABLE],
  lua: `
    local stored = redis.call("HGET", layouts, component)
    -- Somebody may have written something else there: then it is nobody's version.
    local number = tonumber(stored or oldest) or math.huge
    local isOlder = not stored or (number < tonumber(version) and number >= tonumber(oldest))
    -- A server that is full is no reason to refuse reading.
    if isOlder and isObserver == "0" then ifWritable("HSET", layouts, component, version) end
    return stored or version
  `,
  reply: String,
  repeatable: true,
});

type AnyScript = Pick<Script<never, unknown>, "name">;

/** Of the call that waits. */
export interface Limits {
  readonly timeoutMs?: number | undefined;
  readonly whenOpen?: "wait" | "fail" | undefined;
}

const NO_LIMITS: Limits = {};

/** What a store needs for it. */
export interface Asking {
  readonly clock: Clock;
  run(call: ScriptCall<string>, limits: Limits): Promise<Reply>;
  /** Whether it only looks: the version is compared, and not noted. */
  isObserver(): boolean;
}

/** What one store has seen of its layouts. */
export class Layouts {
  readonly #asking: Asking;
  /** Scripts of layouts that were seen within the last minute, and those of none: they need not wait. */
  readonly #ready = new Set<object>();
  readonly #fresh = new Set<Layout>();
  /** Those that were readable when they were last looked at. */
  readonly #entered = new Set<Layout>();
  /** Looks under way, by component and limits: a caller with little time does not wait for one that has more. */
  readonly #looks = new Map<string, Promise<void>>();

  constructor(asking: Asking) {
    this.#asking = asking;
  }

  /** Null: go on. Otherwise wait; it rejects when the component's keys cannot be read. */
  enter(script: AnyScript, limits: Limits): Promise<void> | null {
    if (this.#ready.has(script)) return null;
    const layout = layouts.get(script.name.slice(0, script.name.indexOf(".")));
    if (layout !== undefined && !this.#fresh.has(layout)) {
      if (!this.#entered.has(layout)) return this.#look(layout, limits);
      // It was readable. Whether others have changed it meanwhile is found out beside the work.
      this.#rely(layout);
      this.#look(layout, NO_LIMITS).catch(() => {});
    }
    this.#ready.add(script);
    return null;
  }

  #look(layout: Layout, limits: Limits): Promise<void> {
    const key = `${layout.component} ${limits.timeoutMs ?? ""}`;
    let look = this.#looks.get(key);
    if (look === undefined) {
      look = this.#ask(layout, limits).finally(() => this.#looks.delete(key));
      this.#looks.set(key, look);
    }
    return look;
  }

  async #ask(layout: Layout, limits: Limits): Promise<void> {
    const { component, version, oldest, newest } = layout;
    let stored: string;
    try {
      const isObserver = this.#asking.isObserver() ? 1 : 0;
      const call = enter.with({ layouts: LAYOUTS_KEY, component, version, oldest, isObserver });
      stored = String(await this.#asking.run(call, limits));
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      // This user may not read it. Everything else that the server has to say, the component's own script will hear.
      stored = String(version);
    }
    if (!(Number(stored) >= oldest && Number(stored) <= newest)) {
      this.#entered.delete(layout);
      this.#forget(layout);
      throw new LayoutError(layout, stored);
    }
    this.#entered.add(layout);
    this.#rely(layout);
  }

  #rely(layout: Layout): void {
    if (this.#fresh.has(layout)) return;
    this.#fresh.add(layout);
    this.#asking.clock.after(FRESH_MS, () => this.#forget(layout));
  }

  #forget(layout: Layout): void {
    this.#fresh.delete(layout);
    this.#ready.clear();
  }
}
