/**
 * Live updates of an example, by server-sent events. A browser has few connections to one host, so a page that nobody looks at
 * lets its stream go, and looks afresh when it is shown again.
 */
import { useEffect, useRef } from "preact/hooks";

const RETRY_MS = 1_000;

/**
 * Follows `/api/examples/<name>/events` (or another `path`). `changed` is called with each event, and with null when the stream
 * begins, at first and after every gap: anything may have happened before, so load everything again.
 */
export function useEvents<T>(path: string | null, changed: (event: T | null) => void): void {
  const callback = useRef(changed);
  callback.current = changed;
  useEffect(() => {
    if (path === null) return;
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const open = () => {
      clearTimeout(timer);
      source?.close();
      const stream = new EventSource(path);
      source = stream;
      stream.addEventListener("change", (event) => callback.current(JSON.parse(event.data) as T));
      // Also the first time: what the page has loaded may be older than the beginning of the stream.
      stream.addEventListener("resumed", () => callback.current(null));
      stream.onerror = () => {
        if (stream.readyState === EventSource.CLOSED && source === stream) timer = setTimeout(open, RETRY_MS);
      };
    };
    const seen = () => {
      if (document.hidden) {
        source?.close();
        source = undefined;
      } else if (source === undefined) open();
    };
    seen();
    document.addEventListener("visibilitychange", seen);
    return () => {
      document.removeEventListener("visibilitychange", seen);
      clearTimeout(timer);
      source?.close();
      source = undefined;
    };
  }, [path]);
}
