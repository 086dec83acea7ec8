/** Words in quotes, every byte visible, as MONITOR and redis-cli show them and as the inline protocol reads them back. */

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  '"': '\\"',
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\x07": "\\a",
  "\b": "\\b",
};

const NEEDS_ESCAPE = /[^ !#-[\]-~]/;
const EACH_TO_ESCAPE = /[^ !#-[\]-~]/g;

const escapeByte = (byte: string) => ESCAPES[byte] ?? `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`;

export function quoteWord(word: string): string {
  return NEEDS_ESCAPE.test(word) ? `"${word.replace(EACH_TO_ESCAPE, escapeByte)}"` : `"${word}"`;
}
