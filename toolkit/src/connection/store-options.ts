/** What a store takes and tells: the types of its calls, their options, and the checks of these. */
import type { Clock } from "../base/clock.ts";
import type { ServerError } from "../base/errors.ts";
import {
  anything,
  type Checks,
  callback,
  choice,
  defineOptions,
  duration,
  flag,
  having,
  listOf,
  number,
  orFalse,
  required,
  signal,
  text,
  whole,
  within,
} from "../base/options.ts";
import type { ScriptCall } from "../base/script.ts";
import type { AttemptOptions } from "./attempts.ts";
import type { BreakerOptions, Circuit, WhenOpen } from "./breaker.ts";
import type { Replies } from "./commands.ts";
import type { HealthOptions } from "./health.ts";
import type { Answer, ConnectionState, Reply, Word } from "./port.ts";

/** What is sent to a server and answered at once, for listeners. */
export interface RoundTrip {
  /** Which call of the store sends it. */
  readonly kind: "call" | "script" | "pipeline" | "transaction";
  /** The command's or the script's name. */
  readonly name: string;
  /** How many commands and scripts it has. */
  readonly commands: number;
  /** What is sent: words as they are, which may be secrets; scripts with their keys and arguments. */
  readonly items: readonly Item[];
}

/** Called before each round trip; what it returns is called when that is over. Must not throw. */
export type RoundTripListener = (trip: RoundTrip) => ((error?: unknown) => void) | undefined;

/** Listeners that are there before the first call; `store.on` adds others later. */
export interface Hooks {
  /** Called before each round trip. None by default. */
  readonly roundTrip?: RoundTripListener;
  /** Called with how the connection is, and whenever that changes. None by default. */
  readonly connection?: (state: ConnectionState) => void;
  /** Called when the circuit of a server opens, is tried (half-open) and closes: see breaker.ts. */
  readonly circuit?: (circuit: Circuit) => void;
}

/** How a store calls its servers, whatever they are. */
export interface StoreOptions extends AttemptOptions {
  /** Listeners that are there before the first call. None by default. */
  readonly hooks?: Hooks;
  /** Where timers, back-off and chance come from; the system's by default. */
  readonly clock?: Clock;
  /** How long past its own timeout a blocking command may stay silent before its connection is given up (default 5 000). */
  readonly guardMs?: number;
}

/** How `store.send` sends a command. */
export interface SendOptions {
  /** The key that decides the node in a Cluster. By default the first key among the words. */
  readonly key?: string;
  /** Strings of the reply as Buffers (false by default). */
  readonly buffers?: boolean;
  /** Whether it may be sent again when an answer was lost: by default only what reads. */
  readonly repeatable?: boolean;
  /** How long the call may take in all; by default as the store was opened. */
  readonly timeoutMs?: number | undefined;
  /** What it does while the server's circuit is open: waits, or fails at once. As the store was opened by default. */
  readonly whenOpen?: WhenOpen | undefined;
}

/** How long a script or a pipeline may take. */
export interface RunOptions {
  /** How long the call may take in all; by default as the store was opened. */
  readonly timeoutMs?: number | undefined;
  /** What it does while the server's circuit is open: waits, or fails at once. As the store was opened by default. */
  readonly whenOpen?: WhenOpen | undefined;
}

/** What a transaction watches, and how often it is tried. */
export interface TransactionOptions {
  /** The keys to watch, at least one; in a Cluster all in one slot. */
  readonly watch: readonly string[];
  /** Commands that are sent along with WATCH, in one round trip. The body gets their answers. None by default. */
  readonly reads?: readonly (readonly Word[])[];
  /** How often the body is run before a ConflictError (default 100). */
  readonly attempts?: number;
  /** Ends it before its next attempt; it rejects with the signal's reason. None by default. */
  readonly signal?: AbortSignal;
}

/** What the body of a transaction reads with, while its keys are watched. */
export interface Watched {
  /** Runs a command on the connection that watches; it is not part of the transaction. */
  call(...words: Word[]): Promise<Reply>;
  /** The same with strings of the reply as Buffers. */
  callBuffer(...words: Word[]): Promise<Reply>;
}

/** Decides what a transaction does: commands, or null for nothing. `answers` are those to the `reads`. */
export type TransactionBody = (
  watched: Watched,
  answers: readonly Reply[],
) => Promise<readonly Item[] | null> | readonly Item[] | null;

/** One step of a pipeline or a transaction: the words of a command, or a script with its parameters. */
export type Item = readonly Word[] | ScriptCall;

/** One answer for each item, in its place. */
export type Answers<I extends readonly Item[]> = {
  -readonly [at in keyof I]: I[at] extends ScriptCall<infer T>
    ? T | ServerError
    : I[at] extends readonly [infer N extends keyof Replies, ...unknown[]]
      ? Replies[N] | ServerError
      : Answer;
};

export const DEFAULT_ATTEMPTS = 100;
export const NO_OPTIONS = {};
export const BUFFERS = { buffers: true };

const LONGEST_MS = Number.MAX_SAFE_INTEGER;
const running: Checks<RunOptions> = { timeoutMs: number(0, LONGEST_MS), whenOpen: choice("wait", "fail") };

export const RUN_OPTIONS = defineOptions<RunOptions>("Store.run", running);

export const SEND_OPTIONS = defineOptions<SendOptions>("Store.send", {
  ...running,
  key: text,
  buffers: flag,
  repeatable: flag,
});

export const TRANSACTION_OPTIONS = defineOptions<TransactionOptions>("Store.transaction", {
  watch: required(listOf(text)),
  reads: listOf(listOf(anything, 1)),
  attempts: whole(1),
  signal,
});

export const HEALTH_OPTIONS = defineOptions<HealthOptions>("Store.health", { timeoutMs: duration });

const HOOK_OPTIONS = defineOptions<Hooks>("open.hooks", {
  roundTrip: callback,
  connection: callback,
  circuit: callback,
});

const BREAKER_OPTIONS = defineOptions<BreakerOptions>("open.breaker", {
  failures: whole(1),
  openAfterMs: number(0, LONGEST_MS),
  probeEveryMs: duration,
  whenOpen: choice("wait", "fail"),
});

/** Of a store, whatever it leads to. */
export const storing: Checks<StoreOptions> = {
  hooks: within(HOOK_OPTIONS),
  clock: having("a Clock", "monotonicMs", "wallMs", "random", "after"),
  guardMs: number(0, LONGEST_MS),
  retryMs: number(0, LONGEST_MS),
  timeoutMs: duration,
  breaker: orFalse(BREAKER_OPTIONS),
};

/** Options that were looked at when they were made. */
export const checked = new WeakSet<object>();

/** Options that a component makes once and gives with every call: they are not looked at again. */
export function runOptions(options: RunOptions): RunOptions {
  if (options.timeoutMs === undefined && options.whenOpen === undefined) return NO_OPTIONS;
  return kept({ ...RUN_OPTIONS.check(options) });
}

/** The same for `send`. */
export function sendOptions(options: SendOptions): SendOptions {
  return kept({ ...SEND_OPTIONS.check(options) });
}

function kept<O extends object>(options: O): O {
  checked.add(options);
  return Object.freeze(options);
}
