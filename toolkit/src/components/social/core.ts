/** What all parts of a social network share: the stores, the keys, the settings, the queue and the journal. */
import { aStore, word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { InputError, ServerError } from "../../base/errors.ts";
import { type Checks, defineOptions, having, prefix, text, whole } from "../../base/options.ts";
import { asReply } from "../../base/replies.ts";
import type { Script } from "../../base/script.ts";
import type { Answer, Reply } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import { Queue } from "../queues/index.ts";
import { MAX_SHARDS } from "../queues/keys.ts";
import type { StatusEvent, StatusSink } from "../streaming/events.ts";
import { JOURNALS, SocialKeys } from "./keys.ts";
import { due, note } from "./scripts/journal.ts";

/** Where each part lives; one store may be several of them. */
export interface SocialParts {
  /** Users and logins. */
  readonly users: Store;
  /** Statuses and profiles. */
  readonly statuses: Store;
  /** Who follows, blocks and mutes whom; lists and their members. */
  readonly follows: Store;
  /** Home timelines and those of lists. */
  readonly timelines: Store;
  /** The queue of the fan-out, and the journal. */
  readonly queue: Store;
}

/** Settings of a `Social`. All processes give the same ones. */
export interface SocialOptions {
  /** How all keys begin (default `"social"`). */
  readonly prefix?: string;
  /**
   * What an author posts is delivered to timelines below so many followers and lists, and merged in at reading from there on.
   * 10 000 by default.
   */
  readonly pushBelow?: number;
  /** Statuses in a timeline; what is older is read from the profiles. 1 000 by default. */
  readonly timelineSize?: number;
  /** Timelines delivered to in one pass. 1 000 by default. */
  readonly passSize?: number;
  /** A timeline that nobody has read for so long is dropped, and built anew when somebody does. Two weeks by default. */
  readonly idleMs?: number;
  /** Whom one user may follow, and members of a list. 5 000 by default. */
  readonly maxFollowing?: number;
  /** Statuses of one user; the oldest go. 100 000 by default. */
  readonly maxStatuses?: number;
  /** The longest text, in bytes. 2 000 by default. */
  readonly maxTextBytes?: number;
  /** How long a request's own id is remembered. A day by default. */
  readonly keepIdsMs?: number;
  /** How long after a call has begun somebody else finishes it, if its process died. 30 s by default. */
  readonly leaseMs?: number;
  /** Slots over which the queue is spread; the same number in every process. 1 by default. */
  readonly queueShards?: number;
  /** Gets every status and every deletion, at least once, in the order of each author. None by default. */
  readonly stream?: StatusSink;
}

/** A place among followers or lists: behind this version, and of that version behind this name. */
export type Place = readonly [version: string, member: string];

/** Work in the queue. Each can be done again, and each ends by adding what remains. */
export type Job =
  | ({ readonly k: "deliver"; readonly id: string; readonly of?: string } & Passing)
  | ({ readonly k: "clean"; readonly id: string; readonly of?: string } & Passing)
  | ({ readonly k: "switch"; readonly author: string; readonly to: "pull" | "push" } & Passing)
  | { readonly k: "publish"; readonly event: StatusEvent }
  | { readonly k: "build"; readonly subject: string }
  | { readonly k: "retire"; readonly user: string }
  | Entry;

/** How far a pass over an author's audience is: first followers, then lists. */
export interface Passing {
  readonly set?: "listed";
  readonly after?: Place | undefined;
  /** Up to this version. */
  readonly until?: string;
}

/** A call under way, as the journal has it; what is to be looked after if it is not finished. */
export type Entry =
  | { readonly k: "link"; readonly subject: string; readonly user: string; readonly t: string }
  | { readonly k: "block"; readonly user: string; readonly other: string; readonly t: string }
  | { readonly k: "post"; readonly author: string; readonly request: string; readonly t: string }
  | { readonly k: "delete"; readonly id: string; readonly of?: string; readonly t: string }
  | { readonly k: "removal"; readonly user: string; readonly t: string }
  | { readonly k: "unlist"; readonly list: string; readonly t: string };

type WithoutToken<E> = E extends Entry ? Omit<E, "t"> : never;

export type Settings = Required<Omit<SocialOptions, "stream" | "prefix" | "queueShards">> & {
  /** A timeline grows by so many before it is cut back. */
  readonly slack: number;
};

export interface Core extends SocialParts {
  readonly keys: SocialKeys;
  readonly settings: Settings;
  readonly jobs: Queue<Job, void>;
  readonly journal: Journal;
  readonly sink: StatusSink | undefined;
}

const DAY_MS = 86_400_000;
/** Jobs are tried for about a day before they are dead letters, which can be replayed. */
const ATTEMPTS = 3_000;

const OPTIONS = defineOptions<SocialOptions>("Social", {
  prefix,
  pushBelow: whole(0),
  timelineSize: whole(1, 100_000),
  passSize: whole(1, 10_000),
  idleMs: whole(1_000),
  maxFollowing: whole(1, 100_000),
  maxStatuses: whole(1),
  maxTextBytes: whole(1, 1_000_000),
  keepIdsMs: whole(60_000),
  leaseMs: whole(10),
  queueShards: whole(1, MAX_SHARDS),
  stream: having("a stream of statuses", "publish"),
});

/** Of pages of statuses. */
export const paging: Checks<{ readonly limit?: number; readonly cursor?: string }> = {
  limit: whole(1, 1_000),
  cursor: text,
};

function isStore(given: Store | SocialParts): given is Store {
  return typeof given !== "object" || given === null || !("users" in given && "queue" in given);
}

export function makeCore(given: Store | SocialParts, options: SocialOptions): Core {
  OPTIONS.check(options);
  const parts = isStore(given)
    ? { users: given, statuses: given, follows: given, timelines: given, queue: given }
    : { ...given };
  for (const name of ["users", "statuses", "follows", "timelines", "queue"] as const) {
    if (parts[name] === undefined && !isStore(given)) throw new InputError(`a store for ${name} is missing`);
    aStore(`Social (${name})`, parts[name]);
  }
  const { prefix = "social" } = options;
  const keys = new SocialKeys(word("prefix", prefix, 100));
  const settings = settingsOf(options);
  const jobs = new Queue<Job, void>(parts.queue, "fan-out", {
    prefix: keys.queuePrefix,
    shards: options.queueShards ?? 1,
    defaults: {
      keep: false,
      attempts: ATTEMPTS,
      backoff: { type: "exponential", delayMs: 50, maxMs: 30_000, jitter: 0.5 },
    },
  });
  const journal = new Journal(parts.queue, keys, settings.leaseMs);
  return { ...parts, keys, settings, jobs, journal, sink: options.stream };
}

function settingsOf(options: SocialOptions): Settings {
  const timelineSize = options.timelineSize ?? 1_000;
  return {
    pushBelow: options.pushBelow ?? 10_000,
    timelineSize,
    slack: Math.floor(timelineSize / 16),
    passSize: options.passSize ?? 1_000,
    idleMs: options.idleMs ?? 14 * DAY_MS,
    maxFollowing: options.maxFollowing ?? 5_000,
    maxStatuses: options.maxStatuses ?? 100_000,
    maxTextBytes: options.maxTextBytes ?? 2_000,
    keepIdsMs: options.keepIdsMs ?? DAY_MS,
    leaseMs: options.leaseMs ?? 30_000,
  };
}

/** The answers of a pipeline, if none is an error. */
export function sound(answers: readonly Answer[]): Reply[] {
  return answers.map(asReply);
}

/** Runs over all, so many at a time. */
export async function each<T>(items: readonly T[], atOnce: number, body: (item: T) => Promise<unknown>): Promise<void> {
  const rest = items.values();
  const lane = async (): Promise<void> => {
    for (const item of rest) await body(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, lane));
}

export function chunked<T>(items: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}

/** Calls under way. Removing a note is never waited for: one that stays is looked into, and found finished. */
export class Journal {
  readonly #store: Store;
  readonly #keys: SocialKeys;
  readonly #leaseMs: number;

  constructor(store: Store, keys: SocialKeys, leaseMs: number) {
    this.#store = store;
    this.#keys = keys;
    this.#leaseMs = leaseMs;
  }

  make<E extends WithoutToken<Entry>>(entry: E): E & { readonly t: string } {
    return { ...entry, t: randomToken().slice(0, 10) };
  }

  #noted(entry: Entry) {
    return { journal: this.#keyOf(entry), entry: JSON.stringify(entry), delayMs: this.#leaseMs };
  }

  async open(entry: Entry): Promise<void> {
    await this.#store.run(note, this.#noted(entry));
  }

  /**
   * Writes the note, and then runs the script: in one round trip where one connection keeps the order, since a note that is
   * there too early costs nothing, and one that is missing may cost the end of the call.
   */
  async before<P, T>(entry: Entry, store: Store, script: Script<P, T>, params: P): Promise<T> {
    if (store !== this.#store || store.topology === "cluster") {
      await this.open(entry);
      return store.run(script, params);
    }
    const [noted, answer] = await store.pipeline([note.with(this.#noted(entry)), script.with(params)]);
    if (noted instanceof ServerError) throw noted;
    if (answer instanceof ServerError) throw answer;
    return answer;
  }

  close(entry: Entry): void {
    if (this.#store.closed) return;
    this.#store.send(["ZREM", this.#keyOf(entry), JSON.stringify(entry)], { repeatable: true }).catch(() => {});
  }

  /** Entries that were not closed in time, of one of the slots. */
  async due(shard: number, limit: number): Promise<Entry[]> {
    const journal = this.#keys.journal(shard);
    const found = await this.#store.run(due, { journal, limit, delayMs: this.#leaseMs });
    return found.map((entry): Entry => JSON.parse(entry));
  }

  async size(): Promise<number> {
    const items = Array.from({ length: JOURNALS }, (_, shard) => ["ZCARD", this.#keys.journal(shard)]);
    return sound(await this.#store.pipeline(items)).reduce<number>((sum, count) => sum + Number(count), 0);
  }

  /** By the token, so that one busy user does not make one busy slot. */
  #keyOf(entry: Entry): string {
    return this.#keys.journal((entry.t.charCodeAt(0) + entry.t.charCodeAt(1)) % JOURNALS);
  }
}
