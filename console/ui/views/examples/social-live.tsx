/**
 * Everything that is posted, as it is. The stream is the component's own, by server-sent events: the browser hands the cursor of the
 * last event back by itself when it reconnects, and goes on from there.
 */
import type { StatusEvent } from "cinnabar/social";
import { useEffect, useRef, useState } from "react";
import { clock } from "../../format.ts";
import { whileSeen } from "./while-seen.ts";

const MOST_SHOWN = 30;

type Heard = StatusEvent | { readonly kind: "gap" | "heartbeat" | "end" };
type Said = Extract<StatusEvent, { kind: "status" }>;

/** Follows the stream while somebody looks. `heard` is called with each event. */
function useStream(path: string, heard: (event: StatusEvent) => void): boolean {
  const [isLive, setLive] = useState(false);
  const callback = useRef(heard);
  callback.current = heard;
  useEffect(() => {
    const listen = (stream: EventSource) => {
      stream.onopen = () => setLive(true);
      stream.onmessage = ({ data }) => {
        if (data === "") return;
        const event = JSON.parse(data) as Heard;
        if (event.kind === "status" || event.kind === "delete") callback.current(event);
      };
    };
    return whileSeen(path, listen, () => setLive(false));
  }, [path]);
  return isLive;
}

export function Live(props: { api: string; link: (login: string) => string; heard: (event: StatusEvent) => void }) {
  const { api, link } = props;
  const [said, setSaid] = useState<readonly Said[]>([]);
  const [track, setTrack] = useState("");
  const words = track.trim().toLowerCase();
  const isLive = useStream(`${api}/stream?format=sse&all=true`, (event) => {
    props.heard(event);
    setSaid((old) =>
      event.kind === "delete"
        ? old.filter(({ id }) => id !== event.id)
        : [event, ...old.filter(({ id }) => id !== event.id)].slice(0, MOST_SHOWN),
    );
  });
  const shown =
    words === "" ? said : said.filter(({ text, login }) => `${login} ${text}`.toLowerCase().includes(words));
  return (
    <section className="social-live" aria-label="Live stream">
      <header className="row">
        <h2>Live</h2>
        <span className={isLive ? "social-dot on" : "social-dot"} title={isLive ? "connected" : "connecting"} />
        <input
          aria-label="Only with these words"
          placeholder="only with…"
          maxLength={60}
          value={track}
          onChange={(event) => setTrack(event.currentTarget.value)}
        />
      </header>
      {shown.length === 0 ? (
        <p className="dim">{words === "" ? "What anybody posts appears here." : "Nothing with these words yet."}</p>
      ) : (
        <ol aria-live="off">
          {shown.map(({ id, login, text, atMs }) => (
            <li key={id}>
              <a href={link(login)}>@{login}</a> <time className="dim">{clock(atMs)}</time>
              <p>{text}</p>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
