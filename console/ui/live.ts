/**
 * What this page hears of the console: live points, and from them whether all is well (the console answers, and reaches its store),
 * and the events of the example that is shown. All pages of a browser share one stream (hub.ts), and a page that nobody sees hears
 * nothing. A lost stream is tried again each second, for as long as it takes; views load again when it is back.
 */
import type { LiveState, Point } from "../src/live.ts";
import { get } from "./api.ts";
import { endpoint } from "./base.ts";
import { ALIVE_MS, type Heard, Hub, type Wish } from "./hub.ts";
import { queries } from "./load.ts";
import { useOutside, Watchers } from "./outside.ts";

export type Health =
  | { readonly is: "connecting" }
  | { readonly is: "well" }
  | { readonly is: "console lost" }
  | { readonly is: "store lost"; readonly reason: string };

/** Points of the finest precision that the page keeps by itself. */
const KEEP = 600;

let health: Health = { is: "connecting" };
let points: Point[] = [];
/** How often everything came back: what views depend on to load again. */
let recoveries = 0;
let followed: Followed | undefined;
let isStarted = false;
const watchers = new Watchers();

/** Has all views load what they show anew, as much of it as there is. */
export function lookAgain(): void {
  recoveries++;
  void queries.invalidateQueries();
  watchers.tell();
}

function become(next: Health): void {
  const wasLost = health.is === "console lost" || health.is === "store lost";
  if (wasLost && next.is === "well") {
    lookAgain();
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

function heard(message: Heard): void {
  if (message.type === "lost") become({ is: "console lost" });
  else if (message.type === "change") followed?.heard(message.event);
  else if (message.type === "resumed") followed?.heard(null);
  else if (message.name === "state") {
    const state = JSON.parse(message.data) as LiveState;
    become(state.state === "ready" ? { is: "well" } : { is: "store lost", reason: state.reason });
  } else {
    points = [...points.slice(1 - KEEP), JSON.parse(message.data) as Point];
    watchers.tell();
  }
}

let sayToHub: ((wish: Wish) => void) | undefined;

/** The shared worker, or a hub of this page's own where the browser has no such workers. */
function hub(): (wish: Wish) => void {
  if (sayToHub !== undefined) return sayToHub;
  if (typeof SharedWorker === "undefined") {
    const own = new Hub();
    const member = { hear: heard };
    sayToHub = (wish) => own.say(member, wish);
  } else {
    const { port } = new SharedWorker(new URL("./live-worker.ts", import.meta.url), { type: "module" });
    port.onmessage = ({ data }: MessageEvent<Heard>) => heard(data);
    sayToHub = (wish) => port.postMessage(wish);
    holdLock(sayToHub);
  }
  return sayToHub;
}

/** Held until the page is gone, however that comes about: the worker waits for it. Browsers have locks for secure origins only. */
function holdLock(say: (wish: Wish) => void): void {
  if (navigator.locks === undefined) return;
  const name = `cinnabar page ${Date.now()} ${Math.random()}`;
  void navigator.locks.request(name, () => {
    say({ type: "lock", name });
    return new Promise<never>(() => {});
  });
}

/** Tells the hub what this page wants now. */
function want(): void {
  const isSeen = isStarted && !document.hidden;
  hub()({ type: "want", url: isSeen ? endpoint("/api/live") : null, example: followed?.example ?? null });
}

/** What a page hears of an example besides: `change` with an event, null when some may have been missed. */
export interface Followed {
  readonly example: string;
  heard(event: unknown): void;
}

/** Adds an example's events to what the page hears; answers what leaves them out again. */
export function follow(wanted: Followed): () => void {
  followed = wanted;
  if (isStarted) want();
  return () => {
    if (followed !== wanted) return;
    followed = undefined;
    if (isStarted) want();
  };
}

/** Begins; answers what ends it. */
export function startLive(): () => void {
  isStarted = true;
  const looked = () => {
    want();
    if (!document.hidden) void loadHistory();
  };
  const gone = () => hub()({ type: "gone" });
  const alive = setInterval(() => hub()({ type: "alive" }), ALIVE_MS);
  document.addEventListener("visibilitychange", looked);
  addEventListener("pagehide", gone);
  // A page that comes back from the browser's history.
  addEventListener("pageshow", looked);
  looked();
  return () => {
    isStarted = false;
    clearInterval(alive);
    document.removeEventListener("visibilitychange", looked);
    removeEventListener("pagehide", gone);
    removeEventListener("pageshow", looked);
    gone();
  };
}

export const useHealth = (): Health => useOutside(() => health, watchers.subscribe);
export const usePoints = (): readonly Point[] => useOutside(() => points, watchers.subscribe);
export const useRecoveries = (): number => useOutside(() => recoveries, watchers.subscribe);
