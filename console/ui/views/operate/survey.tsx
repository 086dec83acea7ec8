/** Scans of all keys, as the page follows them. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { FolderRow, SurveyProgress } from "../../../src/operate/survey.ts";
import { act, type Failure, get } from "../../api.ts";
import { bytes, counted, duration, number } from "../../format.ts";
import { usePoints } from "../../live.ts";

const POLL_MS = 300;
const OLD_MS = 20_000;
/** Stores of so many keys are scanned without being asked: it takes about a second. */
const SMALL = 50_000;

export interface FilterBody {
  readonly match?: string;
  readonly type?: string;
  readonly ttl?: "any" | "none" | "some";
  readonly minTtlMs?: number;
  readonly maxTtlMs?: number;
  readonly minBytes?: number;
  readonly maxBytes?: number;
}

export interface Surveyed {
  readonly progress: SurveyProgress | null;
  readonly error: Failure | null;
  readonly isRunning: boolean;
  /** Scans anew. */
  again(): void;
  stop(): void;
}

interface SurveyOptions {
  readonly separator?: string;
  /** Not one that is over: what it says is about to be acted upon. */
  readonly isFresh?: boolean;
}

/** Begins a scan and follows it to its end; none where the filter is null. */
export function useSurvey(
  filter: FilterBody | null,
  { separator = ":", isFresh = false }: SurveyOptions = {},
): Surveyed {
  const [progress, setProgress] = useState<SurveyProgress | null>(null);
  const [error, setError] = useState<Failure | null>(null);
  const [turn, setTurn] = useState(0);
  const wanted = filter === null ? null : JSON.stringify({ ...filter, separator });
  const last = useRef<string | null>(null);
  useEffect(() => {
    if (last.current !== wanted) setProgress(null);
    last.current = wanted;
    setError(null);
    if (wanted === null) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const follow = async (read: () => Promise<SurveyProgress>) => {
      try {
        const next = await read();
        if (isOver) return;
        setProgress(next);
        if (next.state !== "running") return;
        timer = setTimeout(() => void follow(() => get(`/api/surveys/${next.id}/progress`)), POLL_MS);
      } catch (failure) {
        if (!isOver) setError(failure as Failure);
      }
    };
    void follow(() =>
      act("POST", "/api/surveys", { ...JSON.parse(wanted), ...((turn > 0 || isFresh) && { fresh: true }) }),
    );
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [wanted, turn]);
  const again = useCallback(() => setTurn((old) => old + 1), []);
  const id = progress?.id;
  const stop = useCallback(() => {
    if (id !== undefined) void act("DELETE", `/api/surveys/${id}`).catch(() => {});
  }, [id]);
  const isRunning = wanted !== null && error === null && (progress === null || progress.state === "running");
  return { progress, error, isRunning, again, stop };
}

/** Whether the store is so small that it is scanned without being asked; undefined while that is not known. */
export function useIsSmall(): { readonly keys: number | undefined; readonly isSmall: boolean } {
  const keys = usePoints().at(-1)?.keys;
  return { keys, isSmall: keys !== undefined && keys <= SMALL };
}

export interface Folders {
  readonly folders: readonly FolderRow[];
  readonly direct: number;
  readonly others: { readonly count: number; readonly bytes: number };
}

/** Folders of a scan, those of each path when it is first needed. */
export function useFolders(survey: SurveyProgress | null, paths: readonly string[]): ReadonlyMap<string, Folders> {
  const [known, setKnown] = useState<ReadonlyMap<string, Folders>>(new Map());
  const isOver = survey !== null && survey.state !== "running";
  const id = isOver ? survey.id : null;
  const asked = useRef(new Set<string>());
  useEffect(() => {
    asked.current = new Set();
    setKnown(new Map());
  }, [id]);
  useEffect(() => {
    if (id === null) return;
    for (const path of paths) {
      if (asked.current.has(path)) continue;
      asked.current.add(path);
      get<Folders>(`/api/surveys/${id}/folders`, { path }).then(
        (found) => setKnown((old) => new Map(old).set(path, found)),
        // A folder that the scan has not kept has only the keys that are loaded.
        () => {},
      );
    }
  }, [id, paths.join("\n")]);
  return known;
}

/** How far a scan is, or what it has found. */
export function ScanBar({ survey, what }: { survey: Surveyed; what: readonly [one: string, many: string] }) {
  const { progress, error, isRunning, again, stop } = survey;
  if (error !== null) {
    return (
      <div className="scan-bar" role="status">
        <span className="bad">{error.message}</span>
        <button type="button" className="small" onClick={again}>
          Try again
        </button>
      </div>
    );
  }
  if (isRunning) {
    return (
      <div className="scan-bar" role="status">
        <progress aria-label="Scan" value={progress?.done ?? 0} max={Math.max(1, progress?.total ?? 1)} />
        <span>{`Scanned ${number(progress?.done ?? 0)} of ${number(progress?.total ?? 0)}`}</span>
        <button type="button" className="small" disabled={progress === null} onClick={stop}>
          Stop scan
        </button>
      </div>
    );
  }
  if (progress === null) return null;
  const { matched, bytes: size, state, done, total, endedAt } = progress;
  const until =
    state === "done"
      ? ""
      : state === "failed"
        ? ` · failed: ${progress.error}`
        : ` · stopped at ${number(done)} of ${number(total)}`;
  return (
    <div className="scan-bar" role="status">
      <span>{`${counted(matched, ...what)}, ${bytes(size)}${until}`}</span>
      {endedAt !== null && Date.now() - endedAt > OLD_MS && <span>{`${duration(Date.now() - endedAt)} ago`}</span>}
      <button type="button" className="small" onClick={again}>
        Scan again
      </button>
    </div>
  );
}
