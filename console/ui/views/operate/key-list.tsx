/** The list of keys: only the rows in sight are in the document, so a hundred thousand loaded keys scroll as ten do. */
import { IconFilter } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { bytes, duration, number, shown } from "../../format.ts";
import type { FolderView, LoadedKey, Row } from "./key-tree.ts";

const ROW_PX = 26;
const SECOND_MS = 1_000;

export interface ListProps {
  readonly rows: readonly Row[];
  readonly open: ReadonlySet<string>;
  /** The key that is shown beside the list. */
  readonly current: string;
  /** Keys that are chosen; null while none can be. */
  readonly chosen: ReadonlySet<string> | null;
  hrefOf(id: string): string;
  toggle(folder: FolderView): void;
  choose(id: string): void;
  narrow(match: string): void;
  load(match: string): void;
}

const indent = (depth: number) => ({ paddingLeft: `${8 + depth * 14}px` });

function FolderLine({ row, props }: { row: FolderView; props: ListProps }) {
  return (
    <div className="key-row">
      <button
        type="button"
        className="key folder"
        style={indent(row.depth)}
        aria-expanded={props.open.has(row.id)}
        onClick={() => props.toggle(row)}
      >
        <span className="label">{row.label}</span>
        <span className="dim size">{bytes(row.bytes)}</span>
        <span className="dim count">{`${number(row.count)}${row.isTrue ? "" : "+"}`}</span>
      </button>
      <button
        type="button"
        className="icon narrow"
        aria-label={`Show only ${row.label}`}
        title={`Show only ${row.label}`}
        onClick={() => props.narrow(row.match)}
      >
        <IconFilter size={13} stroke={1.6} />
      </button>
    </div>
  );
}

function KeyLine({
  id,
  label,
  depth,
  facts,
  now,
  props,
}: {
  id: string;
  label: string;
  depth: number;
  facts: LoadedKey;
  now: number;
  props: ListProps;
}) {
  const { type, ttlMs, bytes: size, at } = facts;
  const left = ttlMs === null ? null : ttlMs - (now - at);
  return (
    <div className="key-row">
      {props.chosen !== null && (
        <input
          type="checkbox"
          aria-label={`Select ${shown(facts.key)}`}
          checked={props.chosen.has(id)}
          onChange={() => props.choose(id)}
        />
      )}
      <a
        className="key"
        style={indent(depth)}
        href={props.hrefOf(id)}
        aria-current={props.current === id ? "true" : undefined}
        title={shown(facts.key)}
      >
        <span className="label">{label}</span>
        {left !== null && <span className="dim">{left <= 0 ? "expired" : duration(left)}</span>}
        <span className="dim size">{size === null ? "" : bytes(size)}</span>
        <span className={`tag ${type}`}>{type}</span>
      </a>
    </div>
  );
}

function Line({ row, now, props }: { row: Row; now: number; props: ListProps }) {
  if (row.kind === "folder") return <FolderLine row={row} props={props} />;
  if (row.kind === "key") return <KeyLine {...row} now={now} props={props} />;
  if (row.kind === "note") {
    return (
      <div className="key-row">
        <span className="key dim" style={indent(row.depth)}>
          {row.label}
        </span>
      </div>
    );
  }
  return (
    <div className="key-row">
      <button type="button" className="key more-keys" style={indent(row.depth)} onClick={() => props.load(row.match)}>
        <span className="label">{row.label}</span>
      </button>
    </div>
  );
}

/** The moment, each second while a time to live is in sight. */
function useNow(isNeeded: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isNeeded) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, [isNeeded]);
  return now;
}

export function KeyList(props: ListProps) {
  const { rows } = props;
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
  const now = useNow(visible.some((row) => row.kind === "key" && row.facts.ttlMs !== null));
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
            <Line key={row.id} row={row} now={now} props={props} />
          ))}
        </div>
      </div>
    </section>
  );
}
