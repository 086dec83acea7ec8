/** Live updates of an example, by server-sent events. */
import { useEffect, useRef } from "preact/hooks";
import { whileSeen } from "./while-seen.ts";

/**
 * Follows `/api/examples/<name>/events` (or another `path`). `changed` is called with each event, and with null when the stream
 * begins, at first and after every gap: anything may have happened before, so load everything again.
 */
export function useEvents<T>(path: string | null, changed: (event: T | null) => void): void {
  const callback = useRef(changed);
  callback.current = changed;
  useEffect(() => {
    if (path === null) return;
    return whileSeen(path, (stream) => {
      stream.addEventListener("change", (event) => callback.current(JSON.parse(event.data) as T));
      // Also the first time: what the page has loaded may be older than the beginning of the stream.
      stream.addEventListener("resumed", () => callback.current(null));
    });
  }, [path]);
}
