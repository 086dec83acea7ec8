/** Live updates of an example, in the page's stream. */
import { useEffect, useRef } from "react";
import { follow } from "../../live.ts";

/**
 * Follows what is announced for an example; null: none yet. `changed` is called with each event, and with null when the stream
 * begins, at first and after every gap: anything may have happened before, so load everything again.
 */
export function useEvents<T>(example: string | null, changed: (event: T | null) => void): void {
  const callback = useRef(changed);
  callback.current = changed;
  useEffect(() => {
    if (example !== null) return follow({ example, heard: (event) => callback.current(event as T | null) });
  }, [example]);
}
