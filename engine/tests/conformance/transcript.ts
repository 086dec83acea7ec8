/** Reads `.redis` files: commands as typed into redis-cli, with clients, scenes and directives. README.md has the format. */
import { EXACT, type Rule, SORTED, SORTED_PAIRS } from "./rules.ts";

export interface Line {
  /** In the file, from 1. */
  readonly number: number;
  readonly source: string;
  readonly client: number;
  readonly kind: "command" | "raw" | "wait" | "pushes" | "close" | "config" | "sleep";
  /** The command's words; of `raw` the bytes; of `config` name and value; of `sleep` the milliseconds. */
  readonly words: readonly string[];
  readonly rule: Rule;
  /** `blocks`: may stay without an answer, though the command is not known for it. */
  readonly blocks: boolean;
  /** `scan`: follow the cursor to its end, and compare what came as a set. */
  readonly scan: boolean;
  /** `as NAME`: keep the answer for later lines, where `{NAME}` stands for it. */
  readonly as?: string;
}

export interface Scene {
  readonly title: string;
  readonly number: number;
  readonly lines: readonly Line[];
}

export class TranscriptError extends Error {
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

export function parseTranscript(text: string): Scene[] {
  const scenes: { title: string; number: number; lines: Line[] }[] = [{ title: "", number: 1, lines: [] }];
  for (const [index, source] of text.split(/\r?\n/).entries()) {
    const number = index + 1;
    const trimmed = source.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    if (trimmed.startsWith("---")) {
      const title = trimmed.replace(/^-+\s*#?\s*/, "");
      scenes.push({ title, number, lines: [] });
    } else scenes.at(-1)!.lines.push(parseLine(source, number));
  }
  return scenes.filter((scene) => scene.lines.length > 0);
}

function parseLine(source: string, number: number): Line {
  const { words, comment } = split(source, number);
  const options = parseDirectives(comment);
  let client = 1;
  const at = /^@(\d+)$/.exec(words[0] ?? "");
  if (at !== null) {
    client = Number(at[1]);
    words.shift();
  }
  const base = { number, source: source.trim(), client, ...options };
  const first = words[0];
  if (first === undefined) throw new TranscriptError(number, "no command");
  if (words.length === 1 && (first === "wait" || first === "pushes")) return { ...base, kind: first, words: [] };
  if (!first.startsWith("!")) return { ...base, kind: "command", words };
  const kind = first.slice(1);
  const rest = words.slice(1);
  const wanted: Record<string, number> = { raw: 1, close: 0, config: 2, sleep: 1 };
  if (wanted[kind] === undefined) throw new TranscriptError(number, `unknown directive ${first}`);
  if (wanted[kind] !== rest.length) throw new TranscriptError(number, `${first} takes ${wanted[kind]} words`);
  return { ...base, kind: kind as Line["kind"], words: rest };
}

type Options = Pick<Line, "rule" | "blocks" | "scan" | "as">;

/** A remark behind a command is a list of directives only if all of it is; otherwise it is for people. */
function parseDirectives(comment: string): Options {
  let rule: Rule = EXACT;
  let as: string | undefined;
  let blocks = false;
  let scan = false;
  const words = comment.split(/[\s,]+/).filter((word) => word !== "");
  const none: Options = { rule: EXACT, blocks: false, scan: false };
  for (let i = 0; i < words.length; i++) {
    const next = words[i + 1] ?? "";
    switch (words[i]) {
      case "sorted":
        rule = next === "pairs" ? SORTED_PAIRS : SORTED;
        if (next === "pairs") i++;
        break;
      case "type":
      case "error":
      case "any":
      case "blur":
      case "distance":
        rule = { kind: words[i] as "type" | "error" | "any" | "blur" | "distance" };
        break;
      case "approx":
        if (!/^\d+(\.\d+)?$/.test(next)) return none;
        rule = { kind: "approx", by: Number(next) };
        i++;
        break;
      case "as":
        if (!/^[A-Za-z][\w-]*$/.test(next)) return none;
        as = next;
        i++;
        break;
      case "blocks":
        blocks = true;
        break;
      case "scan":
        scan = true;
        break;
      default:
        return none;
    }
  }
  return as === undefined ? { rule, blocks, scan } : { rule, blocks, scan, as };
}

const ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", a: "\x07" };

/** redis-cli's quoting; a remark starts at a `#` that stands alone behind two spaces or a tab. */
function split(source: string, number: number): { words: string[]; comment: string } {
  // Files are UTF-8; words are bytes.
  const text = Buffer.from(source, "utf8").toString("latin1");
  const words: string[] = [];
  let at = 0;
  for (;;) {
    const gap = /^\s*/.exec(text.slice(at))![0];
    at += gap.length;
    if (at >= text.length) return { words, comment: "" };
    if (text[at] === "#" && (gap.length >= 2 || gap.includes("\t"))) {
      return { words, comment: text.slice(at + 1).trim() };
    }
    let word = "";
    while (at < text.length && !/\s/.test(text[at]!)) {
      const char = text[at]!;
      if (char !== '"' && char !== "'") {
        word += char;
        at++;
        continue;
      }
      const quoted = readQuoted(text, at, number);
      word += quoted.text;
      at = quoted.end;
    }
    words.push(word);
  }
}

function readQuoted(text: string, start: number, number: number): { text: string; end: number } {
  const mark = text[start]!;
  let out = "";
  let at = start + 1;
  for (; at < text.length; at++) {
    const char = text[at]!;
    if (char === mark) {
      const after = text[at + 1];
      if (after !== undefined && !/\s/.test(after))
        throw new TranscriptError(number, "a quote that ends inside a word");
      return { text: out, end: at + 1 };
    }
    if (char !== "\\") {
      out += char;
    } else if (mark === "'") {
      out += text[at + 1] === "'" ? text[++at] : char;
    } else {
      const hex = /^x([0-9a-fA-F]{2})/.exec(text.slice(at + 1, at + 4));
      const next = text[++at] ?? "";
      if (hex !== null) {
        out += String.fromCharCode(Number.parseInt(hex[1]!, 16));
        at += 2;
      } else out += ESCAPES[next] ?? next;
    }
  }
  throw new TranscriptError(number, "a quote that does not end");
}
