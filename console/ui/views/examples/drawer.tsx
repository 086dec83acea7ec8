/** The drawer below every example: what each request sent to the store, in which round trips, and how long they took. */
import { useState } from "react";
import type { TracedCommand, TracedTrip } from "../../../src/trace.ts";
import { counted, micros } from "../../format.ts";
import { useKeys } from "./pieces.ts";
import { clearTraces, type Noted, useTraces } from "./traces.ts";

const KEY = "cinnabar.drawer";
const ROOM = matchMedia("(min-width: 761px) and (min-height: 600px)");

const wasOpen = (): boolean => {
  const kept = localStorage.getItem(KEY);
  return kept === null ? ROOM.matches : kept === "open";
};

const tripsOf = ({ trips, more }: Noted): number => trips.length + more;

const place = ({ path }: Noted): string => decodeURI(path.replace("/api/examples", ""));

function Command({ command: { name, script, words, more } }: { command: TracedCommand }) {
  return (
    <code className="sent">
      <b className={script ? "of-script" : ""}>{name}</b>
      {words.map((word, nth) => (
        <>
          {" "}
          <span key={nth} className="word">
            {word.name !== undefined && <i>{word.name}=</i>}
            {word.text === "" ? '""' : word.text}
          </span>
        </>
      ))}
      {more > 0 && <span className="dim"> … {more} more</span>}
    </code>
  );
}

const KINDS: Readonly<Record<TracedTrip["kind"], string>> = {
  call: "command",
  script: "script",
  pipeline: "pipeline",
  transaction: "MULTI",
};

function Trip({ trip }: { trip: TracedTrip }) {
  return (
    <li className="trip">
      <span className={`kind ${trip.kind}`}>{KINDS[trip.kind]}</span>
      <div className="sent-all">
        {trip.commands.map((command, nth) => (
          <Command key={nth} command={command} />
        ))}
        {trip.more > 0 && <span className="dim">… and {counted(trip.more, "more command")}</span>}
        {trip.error !== null && <span className="bad">{trip.error}</span>}
      </div>
      <span className="num" title={`began ${micros(trip.startMicros)} after the request`}>
        {trip.micros === null ? "not awaited" : micros(trip.micros)}
      </span>
    </li>
  );
}

function Request({ request, open }: { request: Noted; open: boolean }) {
  return (
    <details className="request" open={open}>
      <summary>
        <span className="dim at">{new Date(request.atMs).toLocaleTimeString()}</span>
        <span className="method">{request.method}</span>
        <span className="path">{place(request)}</span>
        {request.times > 1 && <span className="dim">× {request.times}</span>}
        {request.status >= 400 && <span className="bad">{request.status}</span>}
        <span className="num">
          {counted(tripsOf(request), "round trip")}, {micros(request.storeMicros)}
        </span>
      </summary>
      {request.trips.length === 0 ? (
        <p className="dim none">Nothing was sent to the store.</p>
      ) : (
        <ol className="trips">
          {request.trips.map((trip, nth) => (
            <Trip key={nth} trip={trip} />
          ))}
          {request.more > 0 && <li className="dim">… and {counted(request.more, "more round trip")}</li>}
        </ol>
      )}
    </details>
  );
}

/** `name` is the example's: what other pages have sent is not shown. */
export function Drawer({ name }: { name: string }) {
  const [open, setOpen] = useState(wasOpen);
  const requests = useTraces().filter(({ path }) => path.startsWith(`/api/examples/${name}/`));
  const turn = () =>
    setOpen((was) => {
      localStorage.setItem(KEY, was ? "closed" : "open");
      return !was;
    });
  useKeys((key) => {
    if (key === "t") turn();
  });
  const newest = requests[0];
  return (
    <section className={open ? "drawer open" : "drawer"} aria-label="Commands sent">
      <header>
        <button type="button" className="plain handle" aria-expanded={open} aria-controls="drawer-list" onClick={turn}>
          Commands sent <kbd>t</kbd>
        </button>
        <span className="dim latest" aria-live="off">
          {newest &&
            `${newest.method} ${place(newest)}: ${counted(tripsOf(newest), "round trip")}, ${micros(newest.storeMicros)}`}
        </span>
        <button type="button" className="plain" disabled={requests.length === 0} onClick={clearTraces}>
          Clear
        </button>
      </header>
      {open && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
        <div id="drawer-list" className="drawer-list" tabIndex={0}>
          {requests.length === 0 && <p className="dim none">What the page sends to the store is shown here.</p>}
          {requests.map((request, nth) => (
            <Request key={request.id} request={request} open={nth === 0} />
          ))}
        </div>
      )}
    </section>
  );
}
