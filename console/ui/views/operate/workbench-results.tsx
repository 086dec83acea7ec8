/** What commands answered: as a table, as text in redis-cli's manner, or as JSON. */
import { useState } from "react";
import type { Value } from "../../../src/values.ts";
import { isText, micros, shown } from "../../format.ts";
import { Scroll, ValueView } from "../../parts.tsx";

export interface Result {
  readonly id: number;
  readonly line: string;
  readonly value?: Value;
  readonly error?: string;
  /** Undefined in a pipeline, where only the whole is timed. */
  readonly micros?: number;
}

export const FORMS = ["table", "text", "json"] as const;
export type Form = (typeof FORMS)[number];

/** As redis-cli prints it. */
function textOf(value: Value, indent = ""): string {
  if (value === null) return "(nil)";
  if (typeof value === "number") return `(integer) ${value}`;
  if (isText(value)) return `"${shown(value).replaceAll('"', '\\"')}"`;
  if (!Array.isArray(value) && "error" in value) return `(error) ${value.error}`;
  const items = Array.isArray(value) ? value : value.map.flat();
  if (items.length === 0) return "(empty array)";
  const width = String(items.length).length;
  return items
    .map((item, nth) => {
      const mark = `${String(nth + 1).padStart(width)}) `;
      return `${nth === 0 ? "" : indent}${mark}${textOf(item, indent + " ".repeat(mark.length))}`;
    })
    .join("\n");
}

/** Maps whose names are text become objects; bytes stay what they are. */
function jsonOf(value: Value): unknown {
  if (value === null || typeof value === "number" || isText(value)) return value;
  if (Array.isArray(value)) return value.map(jsonOf);
  if ("error" in value) return value;
  return Object.fromEntries(
    value.map.map(([name, of]) => [isText(name) ? shown(name) : JSON.stringify(name), jsonOf(of)]),
  );
}

interface Rows {
  readonly titles: readonly string[];
  readonly rows: readonly (readonly Value[])[];
}

/** Rows and columns of what has them; null for what is one value. */
function rowsOf(value: Value): Rows | null {
  if (value === null || typeof value === "number" || isText(value)) return null;
  if (!Array.isArray(value)) return "map" in value ? { titles: ["Name", "Value"], rows: value.map } : null;
  const isPairs = value.length > 0 && value.every((each) => Array.isArray(each) && each.length === 2);
  if (isPairs)
    return {
      titles: ["#", "First", "Second"],
      rows: (value as [Value, Value][]).map((each, nth) => [nth + 1, ...each]),
    };
  return { titles: ["#", "Value"], rows: value.map((each, nth) => [nth + 1, each]) };
}

const MOST_ROWS = 500;

function TableForm({ value, label }: { value: Value; label: string }) {
  const table = rowsOf(value);
  if (table === null || table.rows.length === 0) return <ValueView value={value} />;
  return (
    <>
      <Scroll label={label}>
        <table className="rows" aria-label={label}>
          <thead>
            <tr>
              {table.titles.map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.slice(0, MOST_ROWS).map((row, nth) => (
              <tr key={nth}>
                {row.map((cell, at) => (
                  <td key={at} data-title={table.titles[at]}>
                    <ValueView value={cell} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {table.rows.length > MOST_ROWS && (
        <p className="dim">
          {MOST_ROWS} of {table.rows.length} rows are shown; text and JSON have all.
        </p>
      )}
    </>
  );
}

function Answer({ value, form, label }: { value: Value; form: Form; label: string }) {
  if (form === "table") return <TableForm value={value} label={label} />;
  return (
    <Scroll label={label}>
      <pre className="answer">{form === "text" ? textOf(value) : JSON.stringify(jsonOf(value), null, 2)}</pre>
    </Scroll>
  );
}

export function ResultView({ result, form }: { result: Result; form: Form }) {
  const [isCopied, setCopied] = useState(false);
  const { line, value = null, error } = result;
  const copy = () => {
    const text = error ?? (form === "json" ? JSON.stringify(jsonOf(value), null, 2) : textOf(value));
    void navigator.clipboard?.writeText(text).then(() => setCopied(true));
  };
  return (
    <article className={error === undefined ? "result" : "result failed"}>
      <header>
        <code>{line}</code>
        {result.micros !== undefined && <small>{micros(result.micros)}</small>}
        <button type="button" className="plain" onClick={copy}>
          {isCopied ? "Copied" : "Copy answer"}
        </button>
      </header>
      {error === undefined ? (
        <Answer value={value} form={form} label={`Answer to ${line.slice(0, 60)}`} />
      ) : (
        <p className="bad">{error}</p>
      )}
    </article>
  );
}
