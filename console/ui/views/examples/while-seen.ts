/**
 * A stream of server-sent events for as long as somebody looks at the page. A browser has few connections to one host, so a page
 * that nobody sees lets its stream go and begins it anew when it is shown again; one that the server has ended is begun anew, too.
 */
import { endpoint } from "../../base.ts";

const RETRY_MS = 1_000;

/** `listen` is called with every stream that is begun. Answers what ends it all. */
export function whileSeen(
  path: string,
  listen: (stream: EventSource) => void,
  lost: () => void = () => {},
): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const begin = () => {
    end();
    const stream = new EventSource(endpoint(path));
    source = stream;
    listen(stream);
    stream.onerror = () => {
      lost();
      if (stream.readyState === EventSource.CLOSED && source === stream) timer = setTimeout(begin, RETRY_MS);
    };
  };
  const looked = () => {
    if (document.hidden) end();
    else if (source === undefined) begin();
  };
  looked();
  document.addEventListener("visibilitychange", looked);
  return () => {
    document.removeEventListener("visibilitychange", looked);
    end();
  };
}
