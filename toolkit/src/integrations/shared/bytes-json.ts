/** Values as text: JSON, with bytes in base64 and maps as their entries. */

/** The only key of an object that stands for bytes, or for a map. Keys that begin with its first character get one more of it. */
const BYTES = "~bytes";
const MAP = "~map";
const isMarked = (key: string): boolean => key.startsWith("~");

export function encode(message: unknown): string {
  // Buffers have a form of their own in JSON by the time a replacer gets them: it looks at where they stand.
  return JSON.stringify(message, function (this: Record<string, unknown>, key, value) {
    const given = this[key];
    if (given instanceof Uint8Array) return { [BYTES]: Buffer.from(given).toString("base64") };
    if (given instanceof ArrayBuffer) return { [BYTES]: Buffer.from(given).toString("base64") };
    if (given instanceof Map) return { [MAP]: [...given] };
    return renamed(value, (name) => `~${name}`);
  });
}

export function decode(text: string): unknown {
  return JSON.parse(text, (_key, value) => {
    const only = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value).join() : "";
    if (only === BYTES) return Buffer.from(value[BYTES], "base64");
    return only === MAP ? new Map(value[MAP]) : renamed(value, (name) => name.slice(1));
  });
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  if (!Object.keys(value).some(isMarked)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [isMarked(name) ? rename(name) : name, each]));
}
