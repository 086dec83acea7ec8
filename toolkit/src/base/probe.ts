/**
 * Where components tell what they do, for telemetry (../opentelemetry). A store has at most one probe, and none by default: then a
 * component compares with null and does nothing else.
 *
 * Round trips are told by the store's event `roundTrip`. A probe hears of what stands above them: jobs added and run, leases waited for
 * and held, values of caches found and made.
 */

/** What travels with a job, so that its consumer continues the trace: the headers of a propagator. */
export type Carrier = Readonly<Record<string, string>>;

export interface AddOperation {
  readonly kind: "add";
  readonly queue: string;
  readonly jobs: number;
}

export interface ProcessOperation {
  readonly kind: "process";
  readonly queue: string;
  readonly id: string;
  readonly name: string | null;
  readonly attempt: number;
  readonly stalls: number;
  /** From when it was added until this attempt began, by the server's clock. */
  readonly waitedMs: number;
  readonly carrier: Carrier | undefined;
}

/** `acquire` lasts as long as the caller waits, `hold` until the lease is given back or lost. */
export interface LeaseOperation {
  readonly kind: "acquire" | "hold";
  /** "lock", "semaphore", "election", "quorum-lock". */
  readonly what: string;
  readonly prefix: string;
  readonly name: string;
}

/** `get` asks the store for a value, `load` makes it. */
export interface CacheOperation {
  readonly kind: "get" | "load";
  readonly cache: string;
  readonly key: string;
}

export type Operation = AddOperation | ProcessOperation | LeaseOperation | CacheOperation;

export interface Outcome {
  readonly outcome: string;
  readonly error?: unknown;
  /** Of the job that was added. */
  readonly id?: string;
  /** How many of the jobs were added: others stood in their place. */
  readonly added?: number;
}

/** One operation under way. None of its methods throws. */
export interface Observation {
  readonly carrier: Carrier | undefined;
  /** Runs the body in the context of the operation. */
  run<T>(body: () => T): T;
  /** Only the first call counts. */
  end(outcome: Outcome): void;
}

export type CacheCount = "hits" | "staleHits" | "misses" | "loads" | "failures";

export interface Probe {
  begin(operation: Operation): Observation;
  /** Something was found in a cache, or not. */
  counted(cache: string, what: CacheCount): void;
}

/** Runs the body as an operation, and tells how it ended. */
export async function observed<T>(
  observation: Observation,
  body: () => Promise<T>,
  outcomeOf: (value: T) => Outcome,
): Promise<T> {
  try {
    const value = await observation.run(body);
    observation.end(outcomeOf(value));
    return value;
  } catch (error) {
    observation.end({ outcome: "failed", error });
    throw error;
  }
}
