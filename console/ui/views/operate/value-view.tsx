/** One value in the form that was found or that the reader chose: a tree, text, or bytes in hexadecimal with their text beside. */
import { IconCopy } from "@tabler/icons-react";
import { lazy, Suspense, useEffect, useState } from "react";
import type { ShownValue } from "../../../src/operate/value.ts";
import { type Failure, get } from "../../api.ts";
import { bytes } from "../../format.ts";
import { useRecoveries } from "../../live.ts";
import { Loading, Trouble, toast } from "../../parts.tsx";

const Tree = lazy(async () => {
  const [{ JsonTree }, { readJson }] = await Promise.all([import("./json-tree.tsx"), import("./json.ts")]);
  return {
    default: ({ text }: { text: string }) => {
      const json = readJson(text);
      return json === null ? <pre className="string">{text}</pre> : <JsonTree json={json} />;
    },
  };
});

/** Which value: of a string the key alone is enough. */
export interface ValueAt {
  readonly key: string;
  readonly field?: string;
  readonly index?: number;
  readonly id?: string;
}

const TITLES: Readonly<Record<string, string>> = {
  text: "Text",
  json: "JSON",
  hex: "Hexadecimal",
  base64: "Base64",
  gzip: "gzip",
  deflate: "deflate",
  brotli: "Brotli",
  zstd: "Zstandard",
  msgpack: "MessagePack",
  protobuf: "Protocol buffers",
  java: "Java",
  php: "PHP",
};
const TREES: ReadonlySet<string> = new Set(["json", "msgpack", "protobuf", "java", "php"]);
const titleOf = (forms: readonly string[]): string => forms.map((form) => TITLES[form] ?? form).join(" → ");

export const queryOf = ({ key, field, index, id }: ValueAt) => ({
  key,
  ...(field !== undefined && { field }),
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
});

const LINE_BYTES = 16;
const PRINTABLE = /[^\x20-\x7e]/g;

/** Sixteen bytes a line: place, bytes, and what of them is text. */
function dumpOf(hex: string): string {
  const lines: string[] = [];
  for (let at = 0; at < hex.length; at += 2 * LINE_BYTES) {
    const line = hex.slice(at, at + 2 * LINE_BYTES);
    const pairs = line.match(/../g) ?? [];
    const text = String.fromCharCode(...pairs.map((pair) => Number.parseInt(pair, 16))).replace(PRINTABLE, ".");
    lines.push(`${(at / 2).toString(16).padStart(8, "0")}  ${pairs.join(" ").padEnd(3 * LINE_BYTES)} ${text}`);
  }
  return lines.join("\n");
}

function Body({ value }: { value: ShownValue }) {
  const form = value.forms.at(-1)!;
  if (value.size === 0) return <p className="nil">(empty)</p>;
  if (TREES.has(form) && value.next === null) {
    return (
      <Suspense fallback={<Loading />}>
        <Tree text={value.text} />
      </Suspense>
    );
  }
  if (form === "hex") return <pre className="string hex">{dumpOf(value.text)}</pre>;
  return <pre className="string">{value.text}</pre>;
}

/** Loads the value; again when `turn` changes, and when the server is back. */
function useValue(at: ValueAt, as: string, turn: number) {
  const [value, setValue] = useState<ShownValue | null>(null);
  const [error, setError] = useState<Failure | null>(null);
  const [isBusy, setBusy] = useState(true);
  const wanted = JSON.stringify([queryOf(at), as]);
  const recoveries = useRecoveries();
  const load = async (from: number, isStill: () => boolean = () => true) => {
    setBusy(true);
    try {
      const piece = await get<ShownValue>("/api/key/value", { ...queryOf(at), as: as || "auto", from });
      if (!isStill()) return;
      setValue((old) => (from === 0 || old === null ? piece : { ...piece, text: old.text + piece.text }));
      setError(null);
    } catch (failure) {
      if (isStill()) setError(failure as Failure);
    }
    if (isStill()) setBusy(false);
  };
  useEffect(() => {
    let isOver = false;
    void load(0, () => !isOver);
    return () => {
      isOver = true;
    };
  }, [wanted, turn, recoveries]);
  return { value, error, isBusy, more: () => load(value?.next ?? 0) };
}

const FORMS = Object.keys(TITLES);

export function ValueBox({
  at,
  as,
  choose,
  turn = 0,
}: {
  at: ValueAt;
  /** The form that was chosen; empty: the one that is found. */
  as: string;
  choose: (form: string) => void;
  turn?: number;
}) {
  const { value, error, isBusy, more } = useValue(at, as, turn);
  const known: readonly string[] = value?.known ?? FORMS;
  const copy = () => void navigator.clipboard?.writeText(value!.text).then(() => toast("Copied value."));
  return (
    <div className="value-box">
      <div className="row value-head">
        <label className="check">
          <span className="dim">Format</span>
          <select value={as} onChange={(event) => choose(event.currentTarget.value)}>
            <option value="">{as === "" && value !== null ? `Automatic: ${titleOf(value.forms)}` : "Automatic"}</option>
            {FORMS.map((form) => (
              <option key={form} value={form} disabled={!known.includes(form)}>
                {TITLES[form]}
              </option>
            ))}
          </select>
        </label>
        {value !== null && error === null && (
          <>
            {as !== "" && value.forms.length > 1 && <span className="note">{titleOf(value.forms)}</span>}
            <span className="note">
              {value.bytes === value.size
                ? bytes(value.size)
                : `${bytes(value.size)} stored, ${bytes(value.bytes)} inside`}
            </span>
            <button type="button" className="icon" aria-label="Copy value" title="Copy value" onClick={copy}>
              <IconCopy size={15} stroke={1.6} />
            </button>
          </>
        )}
      </div>
      {error !== null ? (
        <Trouble error={error} {...(as !== "" && { again: () => choose("") })} />
      ) : value === null ? (
        <Loading />
      ) : (
        <Body value={value} />
      )}
      {error === null && value !== null && value.next !== null && (
        <button type="button" className="more" disabled={isBusy} onClick={() => void more()}>
          {`Load more (${bytes(value.next)} of ${bytes(value.length)})`}
        </button>
      )}
    </div>
  );
}
