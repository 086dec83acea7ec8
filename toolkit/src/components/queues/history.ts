/** What happened to one job, attempt by attempt; and what went wrong in a queue of late. */
import { choice, defineOptions, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { beganAt } from "./figures.ts";
import type { QueueKeys } from "./keys.ts";
import { type JobError, parseEnding, parseState, textFrom } from "./record.ts";
import { REPORTS } from "./scripts/core.ts";
import { readHistory, readReports } from "./scripts/read.ts";

/** One attempt. */
export interface Attempt {
  /** 1 for the first; begins again when a finished job is retried by hand. */
  readonly attempt: number;
  /** `stalled`: its worker was lost. `active`: it is under way. */
  readonly status: "done" | "failed" | "stalled" | "active";
  /** Null where nobody knows: of a stalled attempt, and of one under way that its worker has not reported yet. */
  readonly startedAt: Date | null;
  /** When it ended; null while it is under way. */
  readonly endedAt: Date | null;
  /** The name of the worker. */
  readonly worker: string;
  /** With its stack. Of failed ones. */
  readonly error: JobError | null;
}

/** As it stands in the store. */
interface Line {
  readonly k: "done" | "failed" | "stalled";
  readonly n: number;
  readonly e: number;
  readonly ms?: number;
  readonly w: string;
  readonly x?: JobError;
}

/** Its attempts, the oldest first: as many of the failed and stalled ones as are kept, and the last one. Null if there is no such job. */
export async function historyOf(store: Store, keys: QueueKeys, id: string): Promise<Attempt[] | null> {
  const found = await store.run(readHistory, { ...keys, id });
  if (found === null) return null;
  const [lines, ending, befallen, state, worker, figures] = found;
  const attempts = lines === "" ? [] : lines.split("\n").map((line) => attemptOf(JSON.parse(line)));
  if (state === "active") {
    attempts.push({
      attempt: parseState(befallen).made + 1,
      status: "active",
      startedAt: beganAt(figures, id),
      endedAt: null,
      worker: worker.slice(worker.indexOf(";") + 1),
      error: null,
    });
  }
  if (state !== "done" && state !== "dead") return attempts;
  const { finishedMs, made, tookMs, worker: last, payload } = parseEnding(ending);
  // A job that was cancelled before it ran has an end and no attempt.
  if (last === null) return attempts;
  const error: JobError | null = state === "dead" ? JSON.parse(textFrom(payload)) : null;
  const isStalled = error?.name === "Stalled";
  attempts.push({
    attempt: isStalled ? made + 1 : made,
    status: state === "done" ? "done" : isStalled ? "stalled" : "failed",
    startedAt: isStalled ? null : new Date(finishedMs - tookMs),
    endedAt: new Date(finishedMs),
    worker: last,
    error,
  });
  return attempts;
}

function attemptOf({ k, n, e, ms, w, x }: Line): Attempt {
  return {
    attempt: n,
    status: k,
    startedAt: ms === undefined ? null : new Date(e - ms),
    endedAt: new Date(e),
    worker: w,
    error: x ?? null,
  };
}

/** Something that went wrong with a job. */
export type Incident = { readonly id: string; readonly at: Date; readonly worker: string } & (
  | { readonly kind: "stalled" /** How often by then. */; readonly stalls: number }
  | { readonly kind: "slow" /** How long it had been running. */; readonly runningMs: number }
);

/** Which incidents are read. */
export interface IncidentsOptions {
  /** Only of this kind. Both kinds by default. */
  readonly kind?: "stalled" | "slow";
  /** 100 by default. */
  readonly limit?: number;
}

const INCIDENTS_OPTIONS = defineOptions<IncidentsOptions>("Queue.incidents", {
  kind: choice("stalled", "slow"),
  limit: whole(1, 1_000),
});

interface Report {
  readonly n: number;
  readonly id: string;
  readonly at: number;
  readonly w: string;
  readonly s?: number;
  readonly ms?: number;
}

/** What went wrong of late, the newest first; 100 of each kind are kept in a shard. */
export async function incidentsOf(
  store: Store,
  shards: readonly { readonly keys: QueueKeys }[],
  options: IncidentsOptions,
): Promise<Incident[]> {
  INCIDENTS_OPTIONS.check(options);
  const { kind, limit = REPORTS } = options;
  const kinds = kind === undefined ? (["stalled", "slow"] as const) : [kind];
  const found = await Promise.all(shards.flatMap(({ keys }) => kinds.map((each) => reportsOf(store, keys, each))));
  return found
    .flat()
    .sort((a, b) => b.at.getTime() - a.at.getTime())
    .slice(0, limit);
}

async function reportsOf(store: Store, keys: QueueKeys, kind: "stalled" | "slow"): Promise<Incident[]> {
  const short = kind === "stalled" ? "s" : "l";
  const texts = await store.run(readReports, { data: keys.data, kind: short, most: REPORTS });
  const reports = texts.map((text): Report => JSON.parse(text)).sort((a, b) => b.n - a.n);
  return reports.map(({ id, at, w, s = 0, ms = 0 }) => {
    const about = { id, at: new Date(at), worker: w };
    return kind === "stalled" ? { kind, ...about, stalls: s } : { kind, ...about, runningMs: ms };
  });
}
