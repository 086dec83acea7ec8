/**
 * The messages of a room: the last ones loaded, the rest as they come, by server-sent events. The id of a message is the cursor, and
 * browsers hand it back by themselves when they reconnect; a page that was hidden goes on after the last message it has.
 */
import type { Message } from "cinnabar/chats";
import { useEffect, useState } from "react";
import type { Line } from "../../../src/examples/chat.ts";
import { type Failure, get, type Wire } from "../../api.ts";
import { endpoint } from "../../base.ts";

export type Said = Wire<Message<Line>>;

export interface RoomState {
  /** Undefined until they are loaded. */
  readonly messages: readonly Said[] | undefined;
  /** The last one that was seen when the room was opened. */
  readonly seen: number;
  readonly error: Failure | undefined;
  readonly isLive: boolean;
}

const NOTHING: RoomState = { messages: undefined, seen: 0, error: undefined, isLive: false };
const MOST_SHOWN = 500;
const RETRY_MS = 1_000;

/** `gone`: the room is no more, or not for this visitor. */
export function useRoom(path: string, gone: () => void): RoomState {
  const [state, setState] = useState(NOTHING);
  useEffect(() => {
    const stop = new AbortController();
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let cursor = 0;
    const heard = (message: Said) => {
      // What came twice is shown once.
      if (message.id <= cursor) return;
      cursor = message.id;
      setState((old) => ({ ...old, messages: [...(old.messages ?? []), message].slice(-MOST_SHOWN) }));
    };
    const listen = () => {
      clearTimeout(timer);
      source?.close();
      const stream = new EventSource(endpoint(`${path}/stream?after=${cursor}`));
      source = stream;
      stream.onopen = () => setState((old) => ({ ...old, isLive: true }));
      stream.onmessage = ({ data }) => heard(JSON.parse(data) as Said);
      stream.addEventListener("gone", () => {
        stream.close();
        gone();
      });
      stream.onerror = () => {
        setState((old) => ({ ...old, isLive: false }));
        // Closed for good: refused, which loading again tells more about.
        if (stream.readyState === EventSource.CLOSED && source === stream) timer = setTimeout(load, RETRY_MS);
      };
    };
    const load = () => {
      clearTimeout(timer);
      get<{ messages: Said[]; cursor: number; seen: number }>(`${path}/messages`, {}, stop.signal).then(
        (loaded) => {
          if (stop.signal.aborted) return;
          cursor = loaded.cursor;
          setState({ messages: loaded.messages, seen: loaded.seen, error: undefined, isLive: false });
          if (!document.hidden) listen();
        },
        (error: Failure) => {
          if (stop.signal.aborted) return;
          if (error.status === 403) gone();
          else if (error.code === "LOST") timer = setTimeout(load, RETRY_MS);
          else setState((old) => ({ ...old, error }));
        },
      );
    };
    // A browser has few connections to one host: who does not look needs none.
    const looked = () => {
      if (document.hidden) {
        source?.close();
        source = undefined;
      } else if (source === undefined && cursor > 0) listen();
    };
    setState(NOTHING);
    load();
    document.addEventListener("visibilitychange", looked);
    return () => {
      stop.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", looked);
      source?.close();
      source = undefined;
    };
  }, [path]);
  return state;
}
