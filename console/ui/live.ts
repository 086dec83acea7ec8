/**
 * The one stream of a page: live points, and from them whether all is well (the console answers, and reaches its store), and the
 * events of the example that is shown. A browser has six connections to one host for all its windows together, so a page takes one
 * for this, and none while nobody sees it. A lost stream is tried again each second, for as long as it takes; views load again when
 * it is back.
 */
import type { LiveState, Point } from "../src/live.ts";
import { get } from "./api.ts";
import { queries } from "./load.ts";
import { useOutside, Watchers } from "./outside.ts";

export type Health =
  | { readonly is: "connecting" }
  | { readonly is: "well" }
  | { readonly is: "console lost" }
  | { readonly is: "store lost"; readonly reason: string };

const RETRY_MS = 1_000;
/** Points of the finest precision that the page keeps by itself. */
const KEEP = 600;

let health: Health = { is: "connecting" };
let points: Point[] = [];
/** How often everything came back: what views depend on to load again. */
let recoveries = 0;
let source: EventSource | undefined;
let followed: Followed | undefined;
const watchers = new Watchers();

function become(next: Health): void {
  const wasLost = health.is === "console lost" || health.is === "store lost";
  if (wasLost && next.is === "well") {
    recoveries++;
    void queries.invalidateQueries();
    void loadHistory();
  }
  health = next;
  watchers.tell();
}

async function loadHistory(): Promise<void> {
  try {
    points = (await get<{ points: Point[] }>("/api/live/history", { seconds: 1 })).points.slice(-KEEP);
    watchers.tell();
  } catch {
    // The stream tells what is wrong.
  }
}

/** What a page hears of an example besides: `change` with an event, null when some may have been missed. */
export interface Followed {
  readonly example: string;
  heard(event: unknown): void;
}

/** Adds an example's events to the stream; answers what leaves them out again. */
export function follow(wanted: Followed): () => void {
  followed = wanted;
  begin();
  return () => {
    if (followed !== wanted) return;
    followed = undefined;
    begin();
  };
}

/** Begins; answers what ends it. A view may have begun the stream already, with its example. */
export function startLive(): () => void {
  const looked = () => {
    if (document.hidden) return end();
    if (source === undefined) begin();
    void loadHistory();
  };
  document.addEventListener("visibilitychange", looked);
  looked();
  return () => {
    document.removeEventListener("visibilitychange", looked);
    end();
  };
}

function end(): void {
  source?.close();
  source = undefined;
}

function begin(): void {
  end();
  if (document.hidden) return;
  const stream = new EventSource(followed === undefined ? "/api/live" : `/api/live?example=${followed.example}`);
  source = stream;
  stream.addEventListener("state", (event) => {
    const state = JSON.parse(event.data) as LiveState;
    become(state.state === "ready" ? { is: "well" } : { is: "store lost", reason: state.reason });
  });
  stream.addEventListener("point", (event) => {
    points = [...points.slice(1 - KEEP), JSON.parse(event.data) as Point];
    watchers.tell();
  });
  stream.addEventListener("change", (event) => followed?.heard(JSON.parse(event.data)));
  stream.addEventListener("resumed", () => followed?.heard(null));
  stream.onerror = () => {
    become({ is: "console lost" });
    // Browsers give up for good on some errors; we do not.
    if (stream.readyState !== EventSource.CLOSED) return;
    setTimeout(() => {
      if (source === stream) begin();
    }, RETRY_MS);
  };
}

export const useHealth = (): Health => useOutside(() => health, watchers.subscribe);
export const usePoints = (): readonly Point[] => useOutside(() => points, watchers.subscribe);
export const useRecoveries = (): number => useOutside(() => recoveries, watchers.subscribe);
