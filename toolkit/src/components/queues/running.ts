/**
 * A job that runs, as its handler sees it. There may be a hundred thousand of them a second, so everything that most handlers
 * do not use (the signal, the decoded payload) is made when it is asked for.
 */
import type { Timer } from "../../base/clock.ts";
import type { Codec } from "../../base/codec.ts";
import { InputError, LeaseLostError } from "../../base/errors.ts";
import type { Observation } from "../../base/probe.ts";
import { ValidatingCodec } from "../../base/schema.ts";
import type { Word } from "../../connection/port.ts";
import { type Befallen, type JobError, type ParsedRecord, parseRecord, parseState } from "./record.ts";
import type { Taken } from "./scripts/outcomes.ts";

/** What became of a child, by the time its parent runs. */
export type ChildOutcome =
  | {
      /** How it ended. */
      readonly status: "done";
      /** What its handler gave. */
      readonly result: unknown;
    }
  | {
      /** How it ended. */
      readonly status: "dead";
      /** Why it failed. */
      readonly error: JobError;
    };

/** What a running job needs of its worker. */
export interface Runner {
  readonly tag: string;
  note(job: Running<unknown>, kind: "progress" | "log" | "slow", value: string): Promise<boolean>;
  children(id: string): Promise<Map<string, ChildOutcome>>;
}

/** The job, its data and its place in the attempts. */
export interface RunningJob<T> {
  /** Its id in the queue. */
  readonly id: string;
  /** What it was named when it was added. */
  readonly name: string | null;
  /** What it was added with. */
  readonly data: T;
  /** 1 for the first. Attempts whose worker was lost do not count; those are `stalls`. */
  readonly attempt: number;
  /** How often it is tried, at most. */
  readonly attempts: number;
  /** How often its worker was lost. */
  readonly stalls: number;
  /** When it was added, by the server's clock. */
  readonly createdAt: Date;
  /** When this attempt began, by the server's clock. */
  readonly startedAt: Date;
  /** Larger is sooner; 0 where none was given. */
  readonly priority: number;
  /** Its group; null if it has none. */
  readonly group: string | null;
  /** Why the attempt before this one failed. */
  readonly lastError: JobError | null;
}

/** What a handler may do besides returning a result. */
export interface JobContext {
  /** Aborted when the job is cancelled, takes longer than it may, is handed back, or its lease is lost. */
  readonly signal: AbortSignal;
  /** The worker's claim on the job. */
  readonly lease: {
    /** Grows with every lease in the queue. A store outside that remembers the largest it has seen can refuse a late write. */
    readonly fence: number;
    /** Somebody else has the job, or may have: nothing that this handler gives will be taken. */
    readonly lost: boolean;
  };
  /** Shows how far the job is. False: the lease is lost. */
  progress(value: unknown): Promise<boolean>;
  /** Adds a line to the job's log. False: the lease is lost. */
  log(line: string): Promise<boolean>;
  /**
   * Exactly once: the command runs in the step that ends the job, if the job ends well and the lease is current, and never
   * twice. `keys` are those the command touches; each must carry the queue's tag (`tag`), so that it is in the same slot.
   */
  effect(command: readonly Word[], keys: readonly string[]): void;
  /** `{name}`: what a key must contain to be in the job's slot. */
  readonly tag: string;
  /** What the children of a flow gave, by their names: their ids, or `queue/id` for those of other queues. */
  children(): Promise<Map<string, ChildOutcome>>;
}

export interface Effect {
  readonly words: readonly string[];
  readonly keys: readonly string[];
}

export class Running<T> implements RunningJob<T>, JobContext {
  readonly id: string;
  readonly fence: string;
  /** By the server's clock, and by the monotonic clock of this process. */
  readonly startedMs: number;
  beganMs = 0;
  readonly #runner: Runner;
  readonly #codec: Codec<T, never>;
  readonly #record: ParsedRecord;
  readonly #befallen: Befallen;
  #data: T | undefined;
  #decoded = false;
  #controller: AbortController | null = null;
  #aborted: Error | null = null;
  lost = false;
  /** Its end has been decided; what the handler says afterwards is ignored. */
  over = false;
  cancelled = false;
  /** Somebody was told that it is slow. */
  slow = false;
  timer: Timer | null = null;
  /** Where somebody watches. */
  observation: Observation | null = null;
  effects: Effect[] | null = null;

  constructor(runner: Runner, codec: Codec<T, never>, { id, fence, state, record }: Taken, startedMs: number) {
    this.id = id;
    this.fence = fence;
    this.startedMs = startedMs;
    this.#runner = runner;
    this.#codec = codec;
    this.#record = parseRecord(record);
    this.#befallen = parseState(state);
  }

  get data(): T {
    if (!this.#decoded) {
      this.#data = this.#codec.decode(this.#record.payload);
      this.#decoded = true;
    }
    return this.#data as T;
  }

  /** Throws when the queue's schema refuses the data; who asks for it afterwards gets it as it is stored. */
  checkData(): void {
    const codec = this.#codec;
    if (!(codec instanceof ValidatingCodec)) return;
    const stored = codec.plain.decode(this.#record.payload);
    this.#data = stored as T;
    this.#decoded = true;
    this.#data = codec.check(stored) as T;
  }

  get name(): string | null {
    return this.#record.options.name ?? null;
  }

  get attempt(): number {
    return this.#befallen.made + 1;
  }

  get attempts(): number {
    return this.#record.options.attempts;
  }

  get stalls(): number {
    return this.#befallen.stalls;
  }

  get lastError(): JobError | null {
    return this.#befallen.error;
  }

  get startedAt(): Date {
    return new Date(this.startedMs);
  }

  get createdAt(): Date {
    return new Date(this.#record.createdMs);
  }

  get priority(): number {
    return this.#record.facts.p ?? 0;
  }

  get group(): string | null {
    return this.#record.facts.g ?? null;
  }

  get options(): ParsedRecord["options"] {
    return this.#record.options;
  }

  get tag(): string {
    return this.#runner.tag;
  }

  get lease(): JobContext["lease"] {
    const running = this;
    return {
      fence: Number(this.fence),
      get lost() {
        return running.lost;
      },
    };
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#aborted !== null) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    this.#aborted ??= reason;
    this.#controller?.abort(this.#aborted);
  }

  lose(): void {
    this.lost = true;
    this.abort(new LeaseLostError(`the lease of the job "${this.id}" is lost`));
  }

  // Functions that work when they are taken out of the context, and cost nothing when they are not.

  get progress(): JobContext["progress"] {
    return (value) => {
      const text = JSON.stringify(value);
      if (text === undefined) throw new InputError("progress must have a JSON form");
      return this.#runner.note(this, "progress", text);
    };
  }

  get log(): JobContext["log"] {
    return (line) => this.#runner.note(this, "log", JSON.stringify(String(line)));
  }

  get effect(): JobContext["effect"] {
    return (command, keys) => {
      for (const key of keys) {
        if (key.indexOf("{") === -1 || key.indexOf("{") !== key.indexOf(this.tag)) {
          throw new InputError(`the key "${key}" is not in the queue's slot: its first braces must be ${this.tag}`);
        }
      }
      const words = command.map((word) => {
        if (word instanceof Uint8Array) throw new InputError("the words of an effect are text or numbers");
        return String(word);
      });
      if (words.length === 0) throw new InputError("an effect is a command");
      this.effects ??= [];
      this.effects.push({ words, keys });
    };
  }

  get children(): JobContext["children"] {
    return () => this.#runner.children(this.id);
  }
}
