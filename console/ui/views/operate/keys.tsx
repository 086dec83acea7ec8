/**
 * The key browser. Keys come by SCAN, a page at a time, and stand in a tree by `:`; only the rows in sight are in the document, so
 * a hundred thousand loaded keys scroll as ten do.
 */
import { useEffect, useMemo, useRef, useState } from "react";
import type { KeyFacts } from "../../../src/operate/keys.ts";
import { act, type Failure, get } from "../../api.ts";
import { bytes, duration, sendable, shown } from "../../format.ts";
import { useRecoveries } from "../../live.ts";
import { Empty, Head, Trouble } from "../../parts.tsx";
import { go, usePlace } from "../../router.ts";
import { KeyPane } from "./key-pane.tsx";
import { NewKey } from "./new-key.tsx";

const ROW_PX = 26;
const PAGE = 1_000;
/** What parts a name; not inside the braces of a hash tag. */
const BETWEEN = /:(?![^{]*\})/;
const TYPES = ["string", "hash", "list", "set", "zset", "stream"];

interface Row {
  readonly id: string;
  readonly label: string;
  readonly depth: number;
  /** Of a folder: how many keys are below. */
  readonly count?: number;
  readonly facts?: KeyFacts;
}

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly keys: [string, KeyFacts][];
  count: number;
}

const folder = (): Folder => ({ folders: new Map(), keys: [], count: 0 });

function treeOf(keys: readonly KeyFacts[]): Folder {
  const root = folder();
  for (const facts of keys) {
    const parts = shown(facts.key).split(BETWEEN);
    let at = root;
    at.count++;
    for (const part of parts.slice(0, -1)) {
      let next = at.folders.get(part);
      if (next === undefined) {
        next = folder();
        at.folders.set(part, next);
      }
      next.count++;
      at = next;
    }
    at.keys.push([parts.at(-1)!, facts]);
  }
  return root;
}

function onlyFolder({ folders, keys }: Folder): [string, Folder] | undefined {
  return folders.size === 1 && keys.length === 0 ? [...folders][0] : undefined;
}

/** The rows that show, folders first. Folders that hold nothing but one folder are one row: `user:1:`. */
function rowsOf(at: Folder, open: ReadonlySet<string>, path: string, depth: number, rows: Row[]): Row[] {
  const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);
  for (const [first, child] of [...at.folders].sort(byName)) {
    let [name, inner] = [first, child];
    for (let only = onlyFolder(inner); only !== undefined; only = onlyFolder(inner)) {
      name += `:${only[0]}`;
      inner = only[1];
    }
    const id = `${path}${name}:`;
    rows.push({ id, label: name, depth, count: inner.count });
    if (open.has(id)) rowsOf(inner, open, id, depth + 1, rows);
  }
  for (const [name, facts] of at.keys.sort(byName))
    rows.push({ id: sendable(facts.key), label: name === "" ? "(empty)" : name, depth, facts });
  return rows;
}

/** What SCAN has given so far. */
function useKeys(match: string, type: string) {
  const [keys, setKeys] = useState<readonly KeyFacts[]>([]);
  const [cursor, setCursor] = useState("0");
  const [state, setState] = useState<"loading" | "idle">("loading");
  const [error, setError] = useState<Failure | null>(null);
  const [turn, setTurn] = useState(0);
  const recoveries = useRecoveries();
  const asked = useRef(0);
  /** How many pages are shown. */
  const loaded = useRef(1);

  const load = async (from: string, pages: number) => {
    const mine = ++asked.current;
    setState("loading");
    setError(null);
    let next = from;
    // What is loaded anew replaces the list when all of it is there, so that nothing jumps.
    let fresh: readonly KeyFacts[] = [];
    try {
      for (let nth = 0; nth < pages; nth++) {
        const page = await get<{ cursor: string; keys: KeyFacts[] }>("/api/keys", {
          cursor: next,
          match,
          type,
          count: PAGE,
        });
        if (asked.current !== mine) return;
        next = page.cursor;
        const isLast = next === "0" || nth === pages - 1;
        if (from === "0") {
          fresh = merged(fresh, page.keys);
          if (isLast) setKeys(fresh);
        } else setKeys((old) => merged(old, page.keys));
        if (from !== "0" || isLast) setCursor(next);
        loaded.current = from === "0" ? nth + 1 : loaded.current + 1;
        if (isLast) break;
      }
    } catch (failure) {
      if (asked.current === mine) setError(failure as Failure);
    }
    if (asked.current === mine) setState("idle");
  };
  useEffect(() => {
    loaded.current = 1;
    const timer = setTimeout(() => void load("0", 1), match === "" ? 0 : 150);
    return () => clearTimeout(timer);
  }, [match, type]);
  // As much as there was: an edited key does not throw away what somebody has loaded.
  useEffect(() => {
    if (turn > 0 || recoveries > 0) void load("0", loaded.current);
  }, [turn, recoveries]);
  return {
    keys,
    cursor,
    state,
    error,
    more: (pages: number) => load(cursor, pages),
    reload: () => setTurn((old) => old + 1),
  };
}

/** SCAN may tell a key twice. */
function merged(old: readonly KeyFacts[], more: readonly KeyFacts[]): readonly KeyFacts[] {
  const seen = new Set(old.map(({ key }) => sendable(key)));
  return [...old, ...more.filter(({ key }) => !seen.has(sendable(key)))];
}

function RowView({ row, open, selected, toggle }: { row: Row; open: boolean; selected: boolean; toggle: () => void }) {
  const style = { paddingLeft: `${8 + row.depth * 14}px` };
  if (row.facts === undefined) {
    return (
      <button type="button" className="key folder" style={style} aria-expanded={open} onClick={toggle}>
        <span className="label">{row.label}:</span>
        <span className="dim">{row.count}</span>
      </button>
    );
  }
  const { type, ttlMs, bytes: size } = row.facts;
  return (
    <a
      className="key"
      style={style}
      href={`#/keys?key=${encodeURIComponent(row.id)}`}
      aria-current={selected ? "true" : undefined}
      title={shown(row.facts.key)}
    >
      <span className="label">{row.label}</span>
      {ttlMs !== null && <span className="dim">{duration(ttlMs)}</span>}
      <span className="dim size">{size === null ? "" : bytes(size)}</span>
      <span className={`tag ${type}`}>{type}</span>
    </a>
  );
}

/** Only what is in sight. */
function VirtualList({
  rows,
  open,
  selected,
  toggle,
}: {
  rows: readonly Row[];
  open: ReadonlySet<string>;
  selected: string | null;
  toggle: (id: string) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useEffect(() => {
    const observer = new ResizeObserver(() => setHeight(box.current?.clientHeight ?? 600));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const fit = Math.ceil(height / ROW_PX) + 16;
  // When the list gets shorter, the place to which it was scrolled may be past its end.
  const first = Math.max(0, Math.min(Math.floor(top / ROW_PX) - 8, rows.length - fit));
  const visible = rows.slice(first, first + fit);
  return (
    <section
      className="key-list"
      ref={box}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      aria-label="Keys"
    >
      <div className="all" style={{ height: `${rows.length * ROW_PX}px` }}>
        <div style={{ transform: `translateY(${first * ROW_PX}px)` }}>
          {visible.map((row) => (
            <RowView
              key={row.id}
              row={row}
              open={open.has(row.id)}
              selected={row.id === selected}
              toggle={() => toggle(row.id)}
            />
          ))}
        </div>
      </div>
    </section>
  );
}

const patternOf = (filter: string) => (filter === "" || /[*?[]/.test(filter) ? filter : `*${filter}*`);

export function Keys() {
  const selected = usePlace().query.get("key");
  const [filter, setFilter] = useState("");
  const [type, setType] = useState("");
  const [flat, setFlat] = useState(false);
  const [making, setMaking] = useState(false);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const { keys, cursor, state, error, more, reload } = useKeys(patternOf(filter), type);
  const rows = useMemo(() => {
    if (!flat) return rowsOf(treeOf(keys), open, "", 0, []);
    return keys
      .map((facts) => ({ id: sendable(facts.key), label: shown(facts.key), depth: 0, facts }))
      .sort((a, b) => (a.label < b.label ? -1 : 1));
  }, [keys, open, flat]);
  const toggle = (id: string) =>
    setOpen((old) => {
      const next = new Set(old);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  const note =
    state === "loading"
      ? "looking …"
      : `${keys.length}${cursor === "0" ? "" : "+"} ${keys.length === 1 ? "key" : "keys"}`;
  return (
    <div className={selected === null ? "browser" : "browser with-key"}>
      <div className="left">
        <Head title="Keys" note={note}>
          <button type="button" onClick={reload}>
            Reload
          </button>
          <button type="button" className="main" onClick={() => setMaking(true)}>
            New key
          </button>
        </Head>
        <div className="row filters">
          <input
            data-search
            type="search"
            placeholder="Name or pattern  /"
            aria-label="Name or pattern"
            value={filter}
            onChange={(event) => setFilter(event.currentTarget.value)}
          />
          <select aria-label="Type" value={type} onChange={(event) => setType(event.currentTarget.value)}>
            <option value="">all types</option>
            {TYPES.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
          <button type="button" aria-pressed={!flat} onClick={() => setFlat(!flat)}>
            Tree
          </button>
        </div>
        {error !== null && <Trouble error={error} again={reload} />}
        {error === null && rows.length === 0 && state === "idle" && cursor === "0" ? (
          <Empty title={filter === "" && type === "" ? "The store is empty." : "No key fits."}>
            {filter === "" && type === ""
              ? "Keys appear here as soon as somebody writes one."
              : "Patterns are as for SCAN: * ? [a-z]."}
          </Empty>
        ) : (
          <VirtualList rows={rows} open={open} selected={selected} toggle={toggle} />
        )}
        <div className="row foot">
          {cursor !== "0" && (
            <>
              <button type="button" disabled={state === "loading"} onClick={() => more(1)}>
                Load more
              </button>
              <button type="button" disabled={state === "loading"} onClick={() => more(50)}>
                Load 50 pages
              </button>
            </>
          )}
        </div>
      </div>
      <div className="right">
        {selected === null ? (
          <Empty title="No key is chosen.">Choose one on the left, or press / to search.</Empty>
        ) : (
          <KeyPane key={selected} name={selected} changed={reload} />
        )}
      </div>
      {making && (
        <NewKey
          close={() => setMaking(false)}
          make={async (body) => {
            await act("POST", "/api/key", body);
            reload();
            go("keys", { key: body.key });
          }}
        />
      )}
    </div>
  );
}
