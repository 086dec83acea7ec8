/** Numbers, sizes and times for people. */
import type { Text, Value } from "../src/values.ts";

const UNITS = ["B", "KB", "MB", "GB", "TB"];

export function bytes(count: number): string {
  let unit = 0;
  let value = count;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

export function number(value: number): string {
  if (Math.abs(value) >= 1e6) return `${(value / 1e6).toFixed(value >= 1e8 ? 0 : 1)} M`;
  if (Math.abs(value) >= 1e4) return `${(value / 1e3).toFixed(value >= 1e5 ? 0 : 1)} k`;
  return Number.isInteger(value) ? String(value) : value.toFixed(value >= 100 ? 0 : 1);
}

/** A count with what it counts: "1 key", "12.3 k keys". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

export function micros(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} s`;
  if (value >= 1e3) return `${(value / 1e3).toFixed(1)} ms`;
  return `${Math.round(value)} µs`;
}

export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 1) return `${Math.round(seconds * 1_000)} ms`;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

export const clock = (ms: number): string => new Date(ms).toLocaleTimeString();
export const moment = (ms: number): string => new Date(ms).toLocaleString();

/** How the page shows a name; bytes that are no text in hexadecimal. */
export function shown(text: Text): string {
  if (typeof text === "string") return text;
  const hex = [...atob(text.bytes)].map((char) => char.charCodeAt(0).toString(16).padStart(2, "0"));
  return `0x${hex.join("")}`;
}

const BYTES = "base64:";

/** How the page sends a text: as it is, but for one that would be read as bytes. */
function literal(text: string): string {
  if (!text.startsWith(BYTES)) return text;
  return BYTES + btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** How the page sends a name back. */
export const sendable = (text: Text): string => (typeof text === "string" ? literal(text) : BYTES + text.bytes);

export const isText = (value: Value): value is Text =>
  typeof value === "string" || (typeof value === "object" && value !== null && "bytes" in value);

/** JSON with indents where it is JSON. */
export function pretty(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** How a text is shown in a field to be edited, and what is stored of what was typed there. */
export interface Editable {
  readonly value: string;
  readonly note?: string;
  readonly read: (typed: string) => string;
}

/**
 * Fields of browsers know one end of a line: CR and CRLF become LF in them. Where all lines end with CRLF they do so again when they
 * are stored; where ends differ, each CR is shown as `\\r`. What was not changed is stored as it was.
 */
export function editable(text: string): Editable {
  if (!text.includes("\r")) return { value: text, read: (typed) => typed };
  if (!/[\r\n]/.test(text.replaceAll("\r\n", ""))) {
    return {
      value: text.replaceAll("\r\n", "\n"),
      note: "Lines end with CRLF, and are stored so.",
      read: (typed) => typed.replace(/\r?\n/g, "\r\n"),
    };
  }
  return {
    value: text.replace(/[\\\r]/g, (char) => (char === "\r" ? "\\r" : "\\\\")),
    note: "Ends of lines differ: \\r stands for CR, \\\\ for a backslash.",
    read: (typed) => typed.replaceAll("\r\n", "\n").replace(/\\([\\r])/g, (_all, char) => (char === "r" ? "\r" : "\\")),
  };
}

/** Words of a command line, with quotes as redis-cli takes them; a text where it is not closed. */
export function splitWords(line: string): string[] | string {
  const words: string[] = [];
  const token = /\s*(?:"((?:\\.|[^"\\])*)"|'((?:\\'|[^'])*)'|([^\s"']\S*))(?=\s|$)/y;
  const text = line.trimEnd();
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const match = token.exec(text);
    if (match === null) return `the quotes are not balanced: ${text.slice(at).trim()}`;
    if (match[1] !== undefined) words.push(unescaped(match[1]));
    else words.push(literal(match[2]?.replaceAll("\\'", "'") ?? match[3]!));
  }
  return words;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", a: "\x07" };

/** `\xff` makes bytes, which go as base64. */
function unescaped(text: string): string {
  if (!/\\x[0-9a-f]{2}/i.test(text))
    return literal(text.replace(/\\(.)/g, (_all, char: string) => ESCAPES[char] ?? char));
  let binary = "";
  for (const part of text.matchAll(/\\x([0-9a-f]{2})|\\(.)|([^\\]+)/gis)) {
    if (part[1] !== undefined) binary += String.fromCharCode(Number.parseInt(part[1], 16));
    else {
      const plain = part[3] ?? ESCAPES[part[2]!] ?? part[2]!;
      for (const byte of new TextEncoder().encode(plain)) binary += String.fromCharCode(byte);
    }
  }
  return `base64:${btoa(binary)}`;
}
