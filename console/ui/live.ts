/**
 * The stream of live points, shared by the whole page, and from it whether all is well: the console answers, and reaches its
 * store. A lost stream is tried again each second, for as long as it takes; views load again when it is back.
 */
import type { LiveState, Point } from "../src/live.ts";
import { get } from "./api.ts";
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
const watchers = new Watchers();

function become(next: Health): void {
  const wasLost = health.is === "console lost" || health.is === "store lost";
  if (wasLost && next.is === "well") {
    recoveries++;
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

export function startLive(): void {
  source?.close();
  const stream = new EventSource("/api/live");
  source = stream;
  stream.addEventListener("state", (event) => {
    const state = JSON.parse(event.data) as LiveState;
    become(state.state === "ready" ? { is: "well" } : { is: "store lost", reason: state.reason });
  });
  stream.addEventListener("point", (event) => {
    points = [...points.slice(1 - KEEP), JSON.parse(event.data) as Point];
    watchers.tell();
  });
  stream.onerror = () => {
    become({ is: "console lost" });
    // Browsers give up for good on some errors; we do not.
    if (stream.readyState !== EventSource.CLOSED) return;
    setTimeout(() => {
      if (source === stream) startLive();
    }, RETRY_MS);
  };
  void loadHistory();
}

export const useHealth = (): Health => useOutside(() => health, watchers.subscribe);
export const usePoints = (): readonly Point[] => useOutside(() => points, watchers.subscribe);
export const useRecoveries = (): number => useOutside(() => recoveries, watchers.subscribe);
