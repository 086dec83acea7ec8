/**
 * Live updates of an example, by server-sent events. A browser has few connections to one host, so a page that nobody looks at
 * lets its stream go, and looks afresh when it is shown again.
 */
import { useEffect, useRef } from "preact/hooks";

const RETRY_MS = 1_000;

/** An event of the window: somebody has made or removed the sample of the example that is shown. */
export const SAMPLE_CHANGED = "cinnabar-sample";

/**
 * Follows `/api/examples/<name>/events` (or another `path`). `changed` is called with each event, and with null when anything may
 * have happened meanwhile: then load everything again.
 */
export function useEvents<T>(path: string | null, changed: (event: T | null) => void): void {
  const callback = useRef(changed);
  callback.current = changed;
  useEffect(() => {
    if (path === null) return;
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let first = true;
    const open = () => {
      clearTimeout(timer);
      source?.close();
      const stream = new EventSource(path);
      source = stream;
      stream.addEventListener("change", (message) => {
        const event = JSON.parse(message.data) as T & { readonly type?: string };
        // The frame shows whether there is a sample, whoever made or removed it.
        if (event.type === "sample" || event.type === "removed") dispatchEvent(new Event(SAMPLE_CHANGED));
        callback.current(event);
      });
      stream.addEventListener("resumed", () => {
        // What the page has just loaded is as new as the stream; after a gap it may not be.
        if (!first) callback.current(null);
        first = false;
      });
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
