/** Replies as redis-cli prints them. */
import type { Reply } from "./resp.ts";
import { quoted } from "./words.ts";

export interface Line {
  readonly text: string;
  readonly tone: "string" | "integer" | "status" | "error" | "nil" | "plain";
}

const EMPTY = { array: "(empty array)", push: "(empty push)", set: "(empty set)", map: "(empty hash)" } as const;

/** `indent`: where items of a list begin. */
function linesOf(reply: Reply, indent: string): Line[] {
  switch (reply.kind) {
    case "string":
      return [{ text: quoted(reply.bytes), tone: "string" }];
    case "integer":
      return [{ text: `(integer) ${reply.text}`, tone: "integer" }];
    case "status":
      return [{ text: reply.text, tone: "status" }];
    case "error":
      return [{ text: `(error) ${reply.text}`, tone: "error" }];
    case "nil":
      return [{ text: "(nil)", tone: "nil" }];
    case "plain":
      return [{ text: reply.text, tone: "plain" }];
    case "map":
      return mapLines(reply.items, indent);
    default:
      return listLines(reply, indent);
  }
}

function listLines({ kind, items }: Extract<Reply, { kind: "array" | "set" | "push" }>, indent: string): Line[] {
  if (items.length === 0) return [{ text: EMPTY[kind], tone: "nil" }];
  const width = String(items.length).length;
  const mark = kind === "set" ? "~" : ")";
  return items.flatMap((item, nth) => {
    const head = `${String(nth + 1).padStart(width)}${mark} `;
    return headed(item, head, indent, nth === 0);
  });
}

function mapLines(items: readonly Reply[], indent: string): Line[] {
  if (items.length === 0) return [{ text: EMPTY.map, tone: "nil" }];
  const width = String(items.length / 2).length;
  return Array.from({ length: items.length / 2 }, (_, nth) => {
    const name = linesOf(items[2 * nth]!, "")[0]!.text;
    const head = `${String(nth + 1).padStart(width)}# ${name} => `;
    return headed(items[2 * nth + 1]!, head, indent, nth === 0);
  }).flat();
}

/** The first line has the number; the rest stand below what follows it. */
function headed(item: Reply, head: string, indent: string, isFirst: boolean): Line[] {
  const [first, ...rest] = linesOf(item, indent + " ".repeat(head.length));
  return [{ text: `${isFirst ? "" : indent}${head}${first!.text}`, tone: first!.tone }, ...rest];
}

/** `raw`: INFO and other reports, which redis-cli shows as they are. */
export function formatted(reply: Reply, raw = false): Line[] {
  if (raw && reply.kind === "string") {
    const text = new TextDecoder().decode(reply.bytes).replace(/\r?\n$/, "");
    return text.split(/\r?\n/).map((line) => ({ text: line, tone: "plain" }));
  }
  return linesOf(reply, "");
}

/** Commands whose reply is a report in lines. */
export const isReport = (name: string): boolean =>
  /^(?:INFO|LOLWUT|CLUSTER (?:INFO|NODES)|CLIENT (?:LIST|INFO)|MEMORY (?:DOCTOR|MALLOC-STATS)|LATENCY (?:DOCTOR|GRAPH))\b/i.test(
    name,
  );
