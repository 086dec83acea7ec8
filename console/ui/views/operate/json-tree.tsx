/** JSON as a tree whose branches fold. */
import { useState } from "react";
import type { Json } from "./json.ts";

const STEP = 100;
/** Levels that are open at first, where they are small. */
const OPEN_DEPTH = 3;
const OPEN_SIZE = 50;

function Leaf({ json }: { json: Json & { kind: "string" | "word" } }) {
  if (json.kind === "string") return <span className="json-string">{JSON.stringify(json.text)}</span>;
  return <span className={/^[tfn]/.test(json.text) ? "json-word" : "json-number"}>{json.text}</span>;
}

function Branch({ name, json, depth }: { name: string | null; json: Json; depth: number }) {
  const parts: readonly (readonly [string | null, Json])[] =
    json.kind === "object"
      ? json.entries
      : json.kind === "array"
        ? json.items.map((item, at) => [String(at), item])
        : [];
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH && parts.length <= OPEN_SIZE);
  const [count, setCount] = useState(STEP);
  const label = name !== null && <span className="json-name">{name}</span>;
  if (json.kind === "string" || json.kind === "word") {
    return (
      <li>
        {label}
        <Leaf json={json} />
      </li>
    );
  }
  const size = json.kind === "object" ? `{ ${parts.length} }` : `[ ${parts.length} ]`;
  if (parts.length === 0) {
    return (
      <li>
        {label}
        <span className="dim">{size}</span>
      </li>
    );
  }
  return (
    <li>
      <button type="button" className="json-fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {label}
        <span className="dim">{size}</span>
      </button>
      {isOpen && (
        <ul>
          {parts.slice(0, count).map(([part, value], at) => (
            <Branch key={at} name={part} json={value} depth={depth + 1} />
          ))}
          {parts.length > count && (
            <li>
              <button type="button" className="small" onClick={() => setCount(count + STEP)}>
                {`Show ${Math.min(STEP, parts.length - count)} more of ${parts.length}`}
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

export function JsonTree({ json }: { json: Json }) {
  return (
    <ul className="json" aria-label="JSON">
      <Branch name={null} json={json} depth={0} />
    </ul>
  );
}
