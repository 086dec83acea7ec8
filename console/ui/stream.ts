/** A stream of events that a view opens for as long as somebody looks at it: it ends with the view, and when the page is hidden. */
import { useEffect, useRef, useState } from "react";
import { Failure, get } from "./api.ts";
import { endpoint } from "./base.ts";

export interface Streaming {
  /** Why it ended; null while it runs, and before it began. */
  readonly ended: string | null;
  readonly isOpen: boolean;
}

/**
 * `url`, of `/api/…`, is null while nothing is wanted. Each event is handed to the handler of its name. `ended`, and what goes wrong, is told in
 * the answer; a stream that has ended is not opened again by itself.
 */
export function useStream(
  url: string | null,
  handlers: Readonly<Record<string, (data: never) => void>>,
  onEnd: () => void,
): Streaming {
  const [state, setState] = useState<Streaming>({ ended: null, isOpen: false });
  const latest = useRef({ handlers, onEnd });
  latest.current = { handlers, onEnd };
  useEffect(() => {
    if (url === null) return;
    setState({ ended: null, isOpen: false });
    const source = new EventSource(endpoint(url));
    let isOver = false;
    const end = (reason: string) => {
      if (isOver) return;
      isOver = true;
      source.close();
      document.removeEventListener("visibilitychange", hidden);
      setState({ ended: reason, isOpen: false });
      latest.current.onEnd();
    };
    const hidden = () => document.hidden && end("the page was hidden");
    document.addEventListener("visibilitychange", hidden);
    source.addEventListener("began", () => setState({ ended: null, isOpen: true }));
    source.addEventListener("ended", (event) => end((JSON.parse(event.data) as { reason: string }).reason));
    for (const name of Object.keys(latest.current.handlers)) {
      source.addEventListener(name, (event) => latest.current.handlers[name]?.(JSON.parse(event.data) as never));
    }
    source.onerror = () => {
      // A browser does not tell why a stream was refused: the same question, asked once more, does.
      if (source.readyState === EventSource.CLOSED) void reasonFor(url).then(end);
      else end("the connection to the console was lost");
    };
    return () => {
      source.close();
      document.removeEventListener("visibilitychange", hidden);
      // One that ended by itself goes on saying why.
      if (!isOver) setState({ ended: null, isOpen: false });
      isOver = true;
    };
  }, [url]);
  return state;
}

async function reasonFor(url: string): Promise<string> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), 1_000);
  try {
    await get(url, {}, stop.signal);
    return "the connection to the console was lost";
  } catch (error) {
    return error instanceof Failure ? error.message : "the stream was refused";
  } finally {
    clearTimeout(timer);
  }
}
