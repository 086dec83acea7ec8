/** Words of a line as redis-cli reads them, and bytes as it shows them. Lines and words are latin1: one character, one byte. */

const ESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", a: "\x07" };
const isSpace = (sign: string | undefined): boolean => sign !== undefined && /[ \t\n\v\f\r]/.test(sign);

/** Null: quotes that do not match, or that end inside a word. */
export function splitWords(line: string): string[] | null {
  const words: string[] = [];
  let at = 0;
  for (;;) {
    while (isSpace(line[at])) at++;
    if (at >= line.length || line[at] === "\0") return words;
    const read = readWord(line, at);
    if (read === null) return null;
    words.push(read.word);
    at = read.next;
  }
}

function readWord(line: string, from: number): { readonly word: string; readonly next: number } | null {
  let word = "";
  let quote = "";
  for (let at = from; ; at++) {
    const sign = line[at];
    if (sign === undefined) return quote === "" ? { word, next: at } : null;
    if (quote !== "") {
      if (sign === quote) {
        const after = line[at + 1];
        return after === undefined || isSpace(after) ? { word, next: at + 1 } : null;
      }
      const { text, length } = quote === '"' ? inDoubleQuotes(line, at) : inSingleQuotes(line, at);
      word += text;
      at += length - 1;
    } else if (isSpace(sign)) return { word, next: at };
    else if (sign === '"' || sign === "'") quote = sign;
    else word += sign;
  }
}

interface Piece {
  readonly text: string;
  readonly length: number;
}

function inDoubleQuotes(line: string, at: number): Piece {
  if (line[at] !== "\\" || line[at + 1] === undefined) return { text: line[at]!, length: 1 };
  const [, hex] = /^\\x([0-9a-fA-F]{2})/.exec(line.slice(at, at + 4)) ?? [];
  if (hex !== undefined) return { text: String.fromCharCode(Number.parseInt(hex, 16)), length: 4 };
  const next = line[at + 1]!;
  return { text: ESCAPED[next] ?? next, length: 2 };
}

const inSingleQuotes = (line: string, at: number): Piece =>
  line.startsWith("\\'", at) ? { text: "'", length: 2 } : { text: line[at]!, length: 1 };

const SHOWN: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  '"': '\\"',
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\x07": "\\a",
  "\b": "\\b",
};

/** In quotes, every byte visible. */
export function shown(latin1: string): string {
  const visible = (sign: string): string => SHOWN[sign] ?? `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`;
  return `"${latin1.replace(/[^ !#-[\]-~]/g, visible)}"`;
}
