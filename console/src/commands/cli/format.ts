/** Replies as redis-cli prints them: for a terminal, raw, as CSV and as JSON. Text here is latin1: one character, one byte. */
import type { Reply } from "../link/reply.ts";
import { shown } from "./words.ts";

export type Format = "standard" | "raw" | "csv" | "json" | "quoted-json";

export interface Delimiters {
  /** Between the elements of a raw reply. */
  readonly element: string;
  /** Behind a raw reply. */
  readonly reply: string;
}

export const NEW_LINES: Delimiters = { element: "\n", reply: "\n" };

/** With the end of its line. `isVerbatim`: a report such as INFO's, which is printed as it is. */
export function formatReply(reply: Reply, format: Format, isVerbatim: boolean, delimiters = NEW_LINES): string {
  if (isVerbatim) return raw(reply, delimiters.element);
  switch (format) {
    case "standard":
      return standard(reply, "");
    case "raw":
      return raw(reply, delimiters.element) + delimiters.reply;
    case "csv":
      return `${csv(reply)}\n`;
    case "json":
    case "quoted-json":
      return `${json(reply, format === "json")}\n`;
  }
}

const EMPTY = { array: "(empty array)", map: "(empty hash)", set: "(empty set)", push: "(empty push)" } as const;
const SEPARATOR = { array: ")", map: "#", set: "~", push: ")" } as const;

function standard(reply: Reply, prefix: string): string {
  switch (reply.type) {
    case "error":
      return `(error) ${reply.bytes.toString("latin1")}\n`;
    case "status":
    case "verbatim":
    case "bignum":
      return `${reply.bytes.toString("latin1")}\n`;
    case "integer":
      return `(integer) ${reply.digits}\n`;
    case "double":
      return `(double) ${reply.bytes.toString("latin1")}\n`;
    case "string":
      return `${shown(reply.bytes.toString("latin1"))}\n`;
    case "nil":
      return "(nil)\n";
    case "boolean":
      return reply.value ? "(true)\n" : "(false)\n";
    default:
      return listed(reply, prefix);
  }
}

function listed({ type, items }: Extract<Reply, { items: unknown }>, prefix: string): string {
  if (items.length === 0) return `${EMPTY[type]}\n`;
  const step = type === "map" ? 2 : 1;
  const width = String(items.length / step).length;
  const inner = prefix + " ".repeat(width + 2);
  let text = "";
  for (let at = 0; at < items.length; at += step) {
    const number = String(at / step + 1).padStart(width);
    text += `${at === 0 ? "" : prefix}${number}${SEPARATOR[type]} ${standard(items[at]!, inner)}`;
    if (type !== "map") continue;
    const value = items[at + 1]!;
    const shownValue = standard(value, inner);
    // A collection of several lines begins on one of its own.
    const gap = "items" in value && shownValue.indexOf("\n") < shownValue.length - 1 ? `\n${inner}` : "";
    text = `${text.slice(0, -1)} => ${gap}${shownValue}`;
  }
  return text;
}

function raw(reply: Reply, delimiter: string): string {
  switch (reply.type) {
    case "nil":
      return "";
    case "error":
      return `${reply.bytes.toString("latin1")}\n`;
    case "integer":
      return reply.digits;
    case "boolean":
      return reply.value ? "(true)" : "(false)";
    case "map": {
      const pairs: string[] = [];
      for (let at = 0; at < reply.items.length; at += 2) {
        pairs.push(`${raw(reply.items[at]!, delimiter)} ${raw(reply.items[at + 1]!, delimiter)}`);
      }
      return pairs.join(delimiter);
    }
    case "array":
    case "set":
    case "push":
      return reply.items.map((item) => raw(item, delimiter)).join(delimiter);
    default:
      return reply.bytes.toString("latin1");
  }
}

function csv(reply: Reply): string {
  switch (reply.type) {
    case "error":
      return `ERROR,${shown(reply.bytes.toString("latin1"))}`;
    case "integer":
      return reply.digits;
    case "nil":
      return "NULL";
    case "boolean":
      return reply.value ? "true" : "false";
    case "double":
      return reply.bytes.toString("latin1");
    case "array":
    case "map":
    case "set":
    case "push":
      return reply.items.map(csv).join(",");
    default:
      return shown(reply.bytes.toString("latin1"));
  }
}

const JSON_ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  '"': '\\"',
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
  "\t": "\\t",
  "\b": "\\b",
};

function jsonText(latin1: string): string {
  const escaped = latin1.replace(/[\\"\u0000-\u001f]/g, (sign) => {
    return JSON_ESCAPES[sign] ?? `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  return `"${escaped}"`;
}

function json(reply: Reply, isUnicode: boolean): string {
  const text = (latin1: string): string => (isUnicode ? jsonText(latin1) : shown(latin1));
  switch (reply.type) {
    case "error":
      return `error:${text(reply.bytes.toString("latin1"))}`;
    case "integer":
      return reply.digits;
    case "nil":
      return "null";
    case "boolean":
      return reply.value ? "true" : "false";
    case "double":
      return reply.bytes.toString("latin1");
    case "array":
    case "set":
    case "push":
      return `[${reply.items.map((item) => json(item, isUnicode)).join(",")}]`;
    case "map": {
      const pairs: string[] = [];
      for (let at = 0; at < reply.items.length; at += 2) {
        const field = json(reply.items[at]!, isUnicode);
        // Fields of JSON objects are strings.
        const name = field.startsWith('"') ? field : text(field);
        pairs.push(`${name}:${json(reply.items[at + 1]!, isUnicode)}`);
      }
      return `{${pairs.join(",")}}`;
    }
    default:
      return text(reply.bytes.toString("latin1"));
  }
}

/** Commands whose reply is a report for people, with lines of its own. */
const VERBATIM: readonly RegExp[] = [
  /^info\b/,
  /^debug htstats(-key)?\b/,
  /^memory (malloc-stats|doctor)$/,
  /^cluster (nodes|info)$/,
  /^client (list|info)\b/,
  /^latency (graph \S+|doctor)$/,
];

export function isVerbatim(words: readonly string[]): boolean {
  const line = words.slice(0, 3).join(" ").toLowerCase();
  return VERBATIM.some((pattern) => pattern.test(line));
}
