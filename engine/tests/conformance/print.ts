/** Answers and commands as people read them: redis-cli's forms, with what redis-cli hides (`OK` and `"OK"`) kept apart. */
import type { Answer } from "./answer.ts";

const ESCAPES: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\x07": "\\a", "\b": "\\b" };

export function quote(text: string): string {
  let out = '"';
  for (const char of text) {
    const code = char.charCodeAt(0);
    if (char === '"' || char === "\\") out += `\\${char}`;
    else if (ESCAPES[char] !== undefined) out += ESCAPES[char];
    else if (code < 32 || code > 126) out += `\\x${code.toString(16).padStart(2, "0")}`;
    else out += char;
  }
  return `${out}"`;
}

/** A word of a transcript: quoted only where it must be. */
export function word(text: string): string {
  return /^[!-~]+$/.test(text) && !/["'\\#]/.test(text) && !/^(---|@\d|!)/.test(text) ? text : quote(text);
}

/** A command as a transcript's line. */
export function commandLine(words: readonly string[]): string {
  return words.map(word).join(" ");
}

const MARKS: Partial<Record<Answer["tag"], string>> = { "*": ")", "~": "~", ">": ">", several: "|" };

export function print(answer: Answer, indent = ""): string {
  switch (answer.tag) {
    case "+":
      return answer.text;
    case "-":
      return `(error) ${answer.text}`;
    case ":":
      return `(integer) ${answer.text}`;
    case "$":
      return quote(answer.text);
    case "$-1":
      return "(nil)";
    case "*-1":
      return "(nil array)";
    case "_":
      return "(null)";
    case "#":
      return answer.text === "t" ? "(true)" : "(false)";
    case ",":
      return `(double) ${answer.text}`;
    case "(":
      return `(big number) ${answer.text}`;
    case "=":
      return `(verbatim ${answer.text.slice(0, 3)}) ${quote(answer.text.slice(4))}`;
    case "!":
      return `(blob error) ${quote(answer.text)}`;
    case "|":
      return `(attributes) ${print(answer.items[0]!, indent)}\n${indent}${print(answer.items[1]!, indent)}`;
    case "%":
      return printMap(answer, indent);
    case "*":
    case "~":
    case ">":
    case "several":
      return printItems(answer, indent);
    case "broken":
      return `(not RESP: ${answer.text})`;
    default:
      return `(${answer.tag})`;
  }
}

function printItems(answer: Answer, indent: string): string {
  const names: Partial<Record<Answer["tag"], string>> = { "*": "array", "~": "set", ">": "push" };
  if (answer.items.length === 0) return answer.tag === "several" ? "(nothing)" : `(empty ${names[answer.tag]})`;
  const width = String(answer.items.length).length;
  const lines = answer.items.map((item, i) => {
    const label = `${String(i + 1).padStart(width)}${MARKS[answer.tag]} `;
    return label + print(item, indent + " ".repeat(label.length));
  });
  return lines.join(`\n${indent}`);
}

function printMap(answer: Answer, indent: string): string {
  if (answer.items.length === 0) return "(empty map)";
  const lines: string[] = [];
  for (let i = 0; i < answer.items.length; i += 2) {
    const label = `${i / 2 + 1}# ${print(answer.items[i]!, `${indent}   `)} => `;
    lines.push(label + print(answer.items[i + 1]!, `${indent}   `));
  }
  return lines.join(`\n${indent}`);
}
