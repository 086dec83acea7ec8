/** Commands as the server runs them: filtered, thinned out, and ended by themselves. */
import { IconWaveSine } from "@tabler/icons-react";
import { useRef, useState } from "react";
import { ActButton } from "../../../acting.tsx";
import { useAddress } from "../../../address.ts";
import { clock, number } from "../../../format.ts";
import { Empty, Head, Scroll, Table } from "../../../parts.tsx";
import { useStream } from "../../../stream.ts";
import "./live.css";

interface Line {
  readonly at: number;
  readonly db: number;
  readonly client: string;
  readonly words: readonly string[];
}

interface Second {
  readonly read: number;
  readonly matched: number;
  readonly shown: number;
}

/** Lines that the page keeps. */
const KEEP = 500;
const DURATIONS = [10, 30, 60, 300];
const TOP = 8;

const wordOf = (word: string): string => (/^[^\s"]+$/.test(word) ? word : JSON.stringify(word));

export function Profiler() {
  const { query, replace } = useAddress();
  const [url, setUrl] = useState<string | null>(null);
  const [lines, setLines] = useState<readonly (Line & { readonly nth: number })[]>([]);
  const [second, setSecond] = useState<Second | null>(null);
  const [totals, setTotals] = useState<Readonly<Record<string, number>>>({});
  const count = useRef(0);
  const stream = useStream(
    url,
    {
      lines: ({ lines: more }: { lines: readonly Line[] }) => {
        const numbered = more.map((line) => ({ ...line, nth: count.current++ }));
        setLines((before) => [...numbered.reverse(), ...before].slice(0, KEEP));
        setTotals((before) => {
          const after: Record<string, number> = { ...before };
          for (const { words } of more) {
            const name = (words[0] ?? "").toUpperCase();
            after[name] = (after[name] ?? 0) + 1;
          }
          return after;
        });
      },
      second: (next: Second) => setSecond(next),
    },
    () => setUrl(null),
  );
  const field = (name: string, fallback = "") => query.get(name) ?? fallback;
  const set = (name: string, value: string) => replace({ [name]: value === "" ? null : value });
  const start = () => {
    setLines([]);
    setTotals({});
    setSecond(null);
    const words = new URLSearchParams({ seconds: field("seconds", "30") });
    for (const name of ["command", "key", "client"]) if (field(name) !== "") words.set(name, field(name));
    if (field("own") === "1") words.set("own", "true");
    setUrl(`/api/stream/commands?${words}`);
  };
  const text = (name: string, label: string, placeholder: string) => (
    <label>
      {label}
      <input
        value={field(name)}
        placeholder={placeholder}
        disabled={url !== null}
        onChange={({ target }) => set(name, target.value)}
      />
    </label>
  );
  return (
    <>
      <Head
        title="Profiler"
        note="Commands as they run (MONITOR). It slows a busy server down, so it ends by itself."
      />
      <form
        className="live-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (url === null) start();
          else setUrl(null);
        }}
      >
        {text("command", "Commands", "all, or get,set")}
        {text("key", "Key or argument", "glob, as user:*")}
        {text("client", "Client address", "begins with")}
        <label>
          Ends after
          <select
            value={field("seconds", "30")}
            disabled={url !== null}
            onChange={({ target }) => set("seconds", target.value)}
          >
            {DURATIONS.map((each) => (
              <option key={each} value={each}>
                {each < 60 ? `${each} s` : `${each / 60} min`}
              </option>
            ))}
          </select>
        </label>
        <label className="check">
          <input
            type="checkbox"
            checked={field("own") === "1"}
            disabled={url !== null}
            onChange={({ target }) => set("own", target.checked ? "1" : "")}
          />
          This console's commands too
        </label>
        <ActButton type="submit" className={url === null ? "main" : "danger"}>
          {url === null ? "Start profiler" : "Stop profiler"}
        </ActButton>
      </form>
      <div className="live-status" role="status">
        {stream.isOpen && <span className="badge active">running</span>}
        {url !== null && !stream.isOpen && <span className="badge waiting">connecting</span>}
        {stream.ended !== null && <span className="badge delayed">stopped: {stream.ended}</span>}
        {second !== null && (
          <>
            <span>
              <b>{number(second.read)}</b> commands/s
            </span>
            <span>
              <b>{number(second.matched)}</b> match
            </span>
            {second.matched > second.shown && (
              <span>
                <b>{number(second.matched - second.shown)}</b> not shown: more than 200 a second
              </span>
            )}
          </>
        )}
      </div>
      {lines.length === 0 ? (
        <Empty title={url === null ? "The profiler is not running." : "No command was seen yet."} icon={IconWaveSine}>
          {url === null
            ? "It shows at most 200 commands a second, and reads nothing while this page is hidden."
            : "Commands that match the filters appear here as the server runs them."}
        </Empty>
      ) : (
        <>
          <Table
            label="Seen by command"
            rows={Object.entries(totals)
              .sort(([, a], [, b]) => b - a)
              .slice(0, TOP)}
            id={([name]) => name}
            columns={[
              { title: "Command", wide: true, cell: ([name]) => <code>{name}</code> },
              { title: "Shown", numeric: true, cell: ([, many]) => number(many) },
            ]}
          />
          <div className="live-window">
            <Scroll label="Commands">
              <ol className="live-lines">
                {lines.map(({ nth, at, client, db, words: [name = "", ...rest] }) => (
                  <li key={nth}>
                    <time>{clock(at)}</time>
                    <span className="from" title={`database ${db}`}>
                      {client}
                    </span>
                    <span className="what">
                      <b>{name.toUpperCase()}</b> {rest.map(wordOf).join(" ")}
                    </span>
                  </li>
                ))}
              </ol>
            </Scroll>
          </div>
        </>
      )}
    </>
  );
}
