/** A line as redis-cli reads it, and words as it shows them. */

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

const SHORT: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, b: 8, a: 7 };

/** The words of a line: `"…"` with escapes, `'…'` without. Null where a quote is open or something follows a closed one. */
export function wordsOf(line: string): Uint8Array[] | null {
  const words: Uint8Array[] = [];
  let at = 0;
  for (;;) {
    while (at < line.length && /\s/.test(line[at]!)) at++;
    if (at === line.length) return words;
    const bytes: number[] = [];
    const quote = line[at] === '"' || line[at] === "'" ? line[at++]! : "";
    for (;;) {
      const char = line[at];
      if (char === undefined) {
        if (quote !== "") return null;
        break;
      }
      if (quote === "" ? /\s/.test(char) : char === quote) break;
      at = quote === '"' && char === "\\" ? escaped(line, at, bytes) : plain(line, at, bytes);
    }
    if (quote !== "" && line[++at] !== undefined && !/\s/.test(line[at]!)) return null;
    words.push(Uint8Array.from(bytes));
  }
}

function plain(line: string, at: number, bytes: number[]): number {
  const char = String.fromCodePoint(line.codePointAt(at)!);
  bytes.push(...encoder.encode(char));
  return at + char.length;
}

function escaped(line: string, at: number, bytes: number[]): number {
  const [hex, digits] = /^\\x([0-9a-f]{2})/i.exec(line.slice(at, at + 4)) ?? [];
  if (hex !== undefined) {
    bytes.push(Number.parseInt(digits!, 16));
    return at + 4;
  }
  const next = line[at + 1];
  if (next === undefined) return plain(line, at, bytes);
  const code = SHORT[next];
  if (code === undefined) return plain(line, at + 1, bytes);
  bytes.push(code);
  return at + 2;
}

/** Bytes as text where they are UTF-8, and with `\xHH` where they are not. */
export function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    return [...bytes].map((byte) => (byte < 32 || byte > 126 ? hex(byte) : String.fromCharCode(byte))).join("");
  }
}

const hex = (byte: number): string => `\\x${byte.toString(16).padStart(2, "0")}`;

const NAMED: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  '"': '\\"',
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\b": "\\b",
  "\x07": "\\a",
};

/** In quotes, as redis-cli shows strings; other letters than English ones stay readable. */
export function quoted(bytes: Uint8Array): string {
  const text = textOf(bytes);
  const isText = !/\\x[0-9a-f]{2}/.test(text) || encoder.encode(text).length === bytes.length;
  if (!isText) return `"${text.replaceAll('"', '\\"')}"`;
  return `"${text.replace(/["\\\x00-\x1f\x7f]/g, (char) => NAMED[char] ?? hex(char.charCodeAt(0)))}"`;
}
