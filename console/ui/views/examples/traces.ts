/** What the examples' requests have sent to the store, the newest first; kept while the page lives. */
import { type TracedRequest, whenTraced } from "../../api.ts";
import { useOutside, Watchers } from "../../outside.ts";

export interface Noted extends TracedRequest {
  readonly id: number;
  /** How often the same was asked in a row. */
  readonly times: number;
}

const KEEP = 40;

let noted: readonly Noted[] = [];
let last = 0;
const watchers = new Watchers();

function become(next: readonly Noted[]): void {
  noted = next;
  watchers.tell();
}

/** What a page asks again and again stands there once, as it was the last time. */
whenTraced((request) => {
  const before = noted[0];
  const isSame = request.method === "GET" && before?.method === "GET" && before.path === request.path;
  if (isSame) become([{ ...request, id: before.id, times: before.times + 1 }, ...noted.slice(1)]);
  else become([{ ...request, id: ++last, times: 1 }, ...noted.slice(0, KEEP - 1)]);
});

export const clearTraces = (): void => become([]);

export const useTraces = (): readonly Noted[] => useOutside(() => noted, watchers.subscribe);
