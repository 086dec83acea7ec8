/** Values as Node's console shows them: what the guides promise in `// text` behind a console.log. */

const WIDTH = 76;
const DEEPEST = 2;

export const said = (values: readonly unknown[]): string =>
  values.map((value) => (typeof value === "string" ? value : inspect(value))).join(" ");

function inspect(value: unknown, depth = 0, seen: readonly unknown[] = []): string {
  if (typeof value === "string") return textual(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol") return value.toString();
  if (typeof value === "function") return `[Function: ${value.name || "(anonymous)"}]`;
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : String(value);
  if (seen.includes(value)) return "[Circular *1]";
  if (value instanceof Error) return errorText(value, depth, seen);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp || value instanceof URL) return String(value);
  return collection(value, depth, [...seen, value]);
}

function textual(value: string): string {
  const quote = !value.includes("'") ? "'" : !value.includes('"') ? '"' : "`";
  const body = value.replace(/[\\\n\t\r]/g, (char) => ({ "\\": "\\\\", "\n": "\\n", "\t": "\\t" })[char] ?? "\\r");
  return quote + body + quote;
}

function errorText(error: Error, depth: number, seen: readonly unknown[]): string {
  const head = error.stack?.includes(error.message)
    ? error.stack.split("\n    at ")[0]!
    : `${error.name}: ${error.message}`;
  const own = Object.keys(error).filter((key) => key !== "name" && key !== "message" && key !== "stack");
  if (own.length === 0) return depth === 0 ? head : `[${head}]`;
  const fields = own.map((key) => `${key}: ${inspect((error as never)[key], depth + 1, seen)}`);
  return `${head} ${braced("{", fields, "}")}`;
}

function collection(value: object, depth: number, seen: readonly unknown[]): string {
  const name = value.constructor?.name ?? "[Object: null prototype]";
  const each = (item: unknown): string => inspect(item, depth + 1, seen);
  if (value instanceof Promise) return "Promise { … }";
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return bytes(value as Uint8Array, name);
  if (depth > DEEPEST) return Array.isArray(value) ? "[Array]" : `[${name}]`;
  if (Array.isArray(value)) return value.length === 0 ? "[]" : braced("[", shortened(value).map(spoken(each)), "]");
  if (value instanceof Map) {
    const entries = [...value].map(([key, item]) => `${each(key)} => ${each(item)}`);
    return `Map(${value.size}) ${braced("{", entries, "}")}`;
  }
  if (value instanceof Set) return `Set(${value.size}) ${braced("{", [...value].map(each), "}")}`;
  const fields = Object.entries(value).map(
    ([key, item]) => `${/^[A-Za-z_$][\w$]*$/.test(key) ? key : textual(key)}: ${each(item)}`,
  );
  const prefix = value.constructor === undefined ? "[Object: null prototype] " : name === "Object" ? "" : `${name} `;
  return prefix + braced("{", fields, "}");
}

const MOST = 100;
const MORE = Symbol("more");
const shortened = (items: readonly unknown[]): unknown[] =>
  items.length <= MOST ? [...items] : [...items.slice(0, MOST), { [MORE]: items.length - MOST }];
const spoken =
  (each: (item: unknown) => string) =>
  (item: unknown): string => {
    const more = typeof item === "object" && item !== null ? (item as { [MORE]?: number })[MORE] : undefined;
    return more === undefined ? each(item) : `... ${more} more items`;
  };

function bytes(value: Uint8Array, name: string): string {
  if (!/Buffer/.test(name))
    return `${name}(${value.length}) ${braced("[", [...value.subarray(0, MOST)].map(String), "]")}`;
  const shown = [...value.subarray(0, 50)].map((byte) => byte.toString(16).padStart(2, "0"));
  return `<Buffer ${shown.join(" ")}>`;
}

function braced(open: string, parts: readonly string[], close: string): string {
  if (parts.length === 0) return open + close;
  const line = parts.join(", ");
  if (line.length + parts.length <= WIDTH && !line.includes("\n")) return `${open} ${line} ${close}`;
  return `${open}\n${parts.map((part) => `  ${part.replaceAll("\n", "\n  ")}`).join(",\n")}\n${close}`;
}
