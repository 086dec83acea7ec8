/**
 * What a request has sent to the store, and how long each round trip took: shown beside every example.
 *
 * The store tells of each round trip as it begins, in the context of the code that caused it. An AsyncLocalStorage carries the trace
 * of the HTTP request there, so that requests which run at the same time keep theirs apart, and what nobody asked for (live
 * figures, background work) is in none. Words are shortened when they are noted: a trace holds no large value, and its own
 * size is bounded.
 *
 * A trace leaves the console, so what looks like a secret is masked: the values of fields and arguments that are called
 * password, token and the like, session tokens by their shape, and whatever a handler has named with `secret`.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { isUtf8 } from "node:buffer";
import type { Item, RoundTrip, ScriptCall, Store, Word } from "cinnabar";
import { messageOf } from "./values.ts";

export interface TracedWord {
  readonly text: string;
  /** What a script calls it. */
  readonly name?: string;
}

export interface TracedCommand {
  /** Of the command or the script. */
  readonly name: string;
  readonly script: boolean;
  readonly words: readonly TracedWord[];
  /** Words that are not shown. */
  readonly more: number;
}

export interface TracedTrip {
  readonly kind: RoundTrip["kind"];
  /** Since the request began. */
  readonly startMicros: number;
  /** Null for one that was not waited for. */
  readonly micros: number | null;
  readonly error: string | null;
  readonly commands: readonly TracedCommand[];
  /** Commands that are not shown. */
  readonly more: number;
}

export interface Trace {
  /** Of the whole request. */
  readonly micros: number;
  /** While at least one round trip was under way. */
  readonly storeMicros: number;
  readonly trips: readonly TracedTrip[];
  /** Round trips that are not shown. */
  readonly more: number;
}

const MOST_TRIPS = 60;
const MOST_COMMANDS = 20;
const MOST_WORDS = 16;
const MOST_CHARACTERS = 100;

const MASK = "••••••";
const SECRET_NAME = /^(?:d:)?(?:pass(?:word|wd|phrase)?|pwd|secret|token|auth|authorization|api-?_?key|cookie)$/i;
const SECRET_SHAPE = /^[\w-]{12}\.[\w-]{22}$|^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;
const SECRET_IN_JSON = /("(?:password|passwd|secret|token|apiKey|api_key)"\s*:\s*)"(?:\\.|[^"\\])*"?/gi;

const running = new AsyncLocalStorage<Tracing>();

/** Begins to note the round trips of a store. Answers what ends it. */
export function traceStore(store: Store): () => void {
  return store.on("roundTrip", (trip) =>
    trip.items.every(isAnnouncement) ? undefined : running.getStore()?.begin(trip),
  );
}

/** That a component notes a name in the lists of the store is not the request's doing: it happens once an hour, beside the work. */
const isAnnouncement = (item: RoundTrip["items"][number]): boolean =>
  !("script" in item) && String(item[1]).startsWith("cinnabar:names:");

/** Does something whose round trips are nobody's: what it starts goes on after the request. */
export const untraced = <T>(run: () => T): T => running.exit(run);

/** Keeps a value out of the trace of the request that is being handled. */
export function secret(value: string): void {
  running.getStore()?.secrets.add(value);
}

/** Runs a handler and notes what it sends. */
export async function traced<T>(run: () => Promise<T> | T): Promise<{ answer: T; trace: Trace }> {
  const tracing = new Tracing();
  try {
    const answer = await running.run(tracing, async () => run());
    return { answer, trace: tracing.end() };
  } catch (error) {
    if (error instanceof Error) failures.set(error, tracing.end());
    throw error;
  }
}

const failures = new WeakMap<Error, Trace>();

/** What was sent before a handler failed. */
export const traceOf = (error: Error): Trace | undefined => failures.get(error);

/** A round trip that may not be over. */
type Noting = { -readonly [field in keyof TracedTrip]: TracedTrip[field] };

class Tracing {
  readonly secrets = new Set<string>();
  readonly #begin = performance.now();
  readonly #trips: Noting[] = [];
  #more = 0;
  #over = false;
  #underWay = 0;
  #busySince = 0;
  #busyMs = 0;

  begin({ kind, items }: RoundTrip): ((error?: unknown) => void) | undefined {
    if (this.#over) return undefined;
    if (this.#trips.length === MOST_TRIPS) {
      this.#more++;
      return this.#timed(performance.now());
    }
    const commands = items.slice(0, MOST_COMMANDS).map((item) => this.#command(item));
    const begin = performance.now();
    const trip: Noting = {
      kind,
      startMicros: micros(begin - this.#begin),
      micros: null,
      error: null,
      commands,
      more: Math.max(0, items.length - MOST_COMMANDS),
    };
    this.#trips.push(trip);
    const over = this.#timed(begin);
    return (error) => {
      if (this.#over) return;
      trip.micros = micros(over());
      if (error !== undefined) trip.error = shortened(messageOf(error));
    };
  }

  /** Counts a round trip as under way, until what it answers is called, which tells how long that was. */
  #timed(begin: number): () => number {
    if (this.#underWay++ === 0) this.#busySince = begin;
    return () => {
      const now = performance.now();
      if (--this.#underWay === 0) this.#busyMs += now - this.#busySince;
      return now - begin;
    };
  }

  end(): Trace {
    this.#over = true;
    const now = performance.now();
    if (this.#underWay > 0) this.#busyMs += now - this.#busySince;
    return {
      micros: micros(now - this.#begin),
      storeMicros: micros(this.#busyMs),
      trips: this.#trips,
      more: this.#more,
    };
  }

  #command(item: Item): TracedCommand {
    return "script" in item ? this.#script(item) : this.#plain(item);
  }

  #plain(words: readonly Word[]): TracedCommand {
    const name = String(words[0]).toUpperCase();
    const shown = words.slice(1, MOST_WORDS + 1).map((word, nth) => {
      const isSecret = name === "AUTH" || SECRET_NAME.test(textOf(words[nth]!));
      return { text: isSecret ? MASK : this.#shown(word) };
    });
    return { name, script: false, words: shown, more: Math.max(0, words.length - 1 - MOST_WORDS) };
  }

  #script({ script, keys, args }: ScriptCall): TracedCommand {
    const all = keys.length + args.length;
    const shown = Array.from({ length: Math.min(all, MOST_WORDS) }, (_, nth): TracedWord => {
      if (nth < keys.length) return { name: script.nameOf("key", nth), text: this.#shown(keys[nth]!) };
      const at = nth - keys.length;
      const name = script.nameOf("arg", at);
      const isSecret = SECRET_NAME.test(name) || (at > 0 && SECRET_NAME.test(textOf(args[at - 1]!)));
      return { name, text: isSecret ? MASK : this.#shown(args[at]!) };
    });
    return { name: script.name, script: true, words: shown, more: all - shown.length };
  }

  #shown(word: Word): string {
    let text = textOf(word);
    if (SECRET_SHAPE.test(text)) return MASK;
    for (const value of this.secrets) text = text.replaceAll(value, MASK);
    return shortened(text.replace(SECRET_IN_JSON, `$1"${MASK}"`));
  }
}

const micros = (ms: number): number => Math.round(ms * 1_000);

/** The word as text; of long ones and of bytes only as much as is shown. */
function textOf(word: Word): string {
  if (!(word instanceof Uint8Array)) return String(word);
  if (isUtf8(word)) return Buffer.from(word.buffer, word.byteOffset, word.byteLength).toString("utf8");
  return `0x${Buffer.from(word.subarray(0, 12)).toString("hex")}… (${word.length} bytes)`;
}

function shortened(text: string): string {
  if (text.length <= MOST_CHARACTERS) return text;
  // Not in the middle of a character that takes two.
  const kept = text.slice(0, MOST_CHARACTERS).replace(/[\ud800-\udbff]$/, "");
  return `${kept}… (${text.length} characters)`;
}
