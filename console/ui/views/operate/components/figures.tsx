/** Figures of a component: each with its unit, and a bar where it is a part of something. */
import { bytes, duration, number, shown } from "../../../format.ts";
import { When } from "../../../moments.tsx";
import type { Figure, Unit } from "./model.ts";

/** Colours of the words that states have. */
const STATES: Readonly<Record<string, string>> = {
  active: "active",
  on: "healthy",
  open: "healthy",
  there: "healthy",
  "probably added": "healthy",
  closed: "waiting",
  paused: "delayed",
  "out of budget": "failed",
  expired: "dead",
  deleted: "dead",
  "not there": "waiting",
  "no counter": "waiting",
};

/** Above this part of what there is room for, it is said. */
const NEARLY_FULL = 0.85;

const share = (value: number): string => {
  const percent = value * 100;
  if (percent === 0) return "0 %";
  return `${percent >= 1 ? Number(percent.toFixed(1)) : Number(percent.toPrecision(2))} %`;
};

function plain(value: number, unit: Unit): string {
  if (unit === "bytes") return bytes(value);
  if (unit === "ms") return duration(value);
  if (unit === "share") return share(value);
  if (unit === "amount" || unit === "text") {
    return value.toLocaleString("en", { maximumFractionDigits: 6 }).replaceAll(",", " ");
  }
  return number(value);
}

export function CellView({ value, unit }: { value: Figure["value"]; unit: Unit }) {
  if (value === null) return <span className="dim">{unit === "date" ? "never" : "–"}</span>;
  if (typeof value === "boolean") return <>{value ? "yes" : "no"}</>;
  if (typeof value === "number") return <>{plain(value, unit)}</>;
  const text = shown(value);
  if (unit === "date") return <When at={text} />;
  if (unit === "state") return <span className={`badge ${STATES[text] ?? "waiting"}`}>{text}</span>;
  return text === "" ? <span className="nil">(empty)</span> : <code className="cell-text">{text}</code>;
}

/** A bar with its words, which warns when there is hardly any room left. */
export function Fill({ value, of, unit }: { value: number; of: number; unit: Unit }) {
  const part = of === 0 ? 0 : value / of;
  return (
    <span className="fill">
      <progress className={part >= NEARLY_FULL ? "full" : ""} value={Math.min(value, of)} max={of} aria-hidden="true" />
      {share(part)} of {plain(of, unit)}
    </span>
  );
}

export function Figures({ of, label }: { of: readonly Figure[]; label: string }) {
  return (
    <dl className="figures thing-figures" aria-label={label}>
      {of.map(({ title, value, unit, of: most, note }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>
            <span className={`figure ${unit === "text" && typeof value !== "number" ? "long" : ""}`}>
              <CellView value={value} unit={unit} />
            </span>
            {most !== undefined && typeof value === "number" && <Fill value={value} of={most} unit={unit} />}
            {note !== undefined && note !== "" && <small title={note}>{note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
