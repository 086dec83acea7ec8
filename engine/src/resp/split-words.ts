/**
 * A line of words as a person types it, with single and double quotes: inline commands, configuration files.
 */

const ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", a: "\x07" };

const isSpace = (c: string | undefined) =>
  c === " " || c === "\t" || c === "\n" || c === "\r" || c === "\v" || c === "\f";

/** The words, or undefined when a quote is not closed or is followed by something other than a space. */
export function splitWords(text: string): string[] | undefined {
  const words: string[] = [];
  let i = 0;
  for (;;) {
    while (isSpace(text[i])) i++;
    if (i >= text.length || text[i] === "\0") return words;
    let word = "";
    while (i < text.length && !isSpace(text[i]) && text[i] !== "\0") {
      const c = text.charAt(i);
      if (c !== '"' && c !== "'") {
        word += c;
        i++;
        continue;
      }
      const quoted = c === '"' ? readDouble(text, i + 1) : readSingle(text, i + 1);
      if (quoted === undefined) return undefined;
      word += quoted.value;
      i = quoted.end;
      if (i < text.length && !isSpace(text[i])) return undefined;
    }
    words.push(word);
  }
}

function readDouble(text: string, start: number): { value: string; end: number } | undefined {
  let value = "";
  for (let i = start; i < text.length; ) {
    const c = text.charAt(i);
    if (c === '"') return { value, end: i + 1 };
    if (c !== "\\" || i + 1 >= text.length) {
      value += c;
      i++;
      continue;
    }
    const hex = /^[0-9a-f]{2}$/i.test(text.slice(i + 2, i + 4));
    if (text[i + 1] === "x" && hex) {
      value += String.fromCharCode(Number.parseInt(text.slice(i + 2, i + 4), 16));
      i += 4;
    } else {
      const escaped = text.charAt(i + 1);
      value += ESCAPES[escaped] ?? escaped;
      i += 2;
    }
  }
  return undefined;
}

function readSingle(text: string, start: number): { value: string; end: number } | undefined {
  let value = "";
  for (let i = start; i < text.length; ) {
    const c = text.charAt(i);
    if (c === "'") return { value, end: i + 1 };
    if (c === "\\" && text[i + 1] === "'") {
      value += "'";
      i += 2;
    } else {
      value += c;
      i++;
    }
  }
  return undefined;
}
