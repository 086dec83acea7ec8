/** Messages between processes as text: JSON, with bytes in base64, and the channels that they go by. */

/** The only key of an object that stands for bytes. Keys that begin with its first character get one more of it. */
const BYTES = "~bytes";
const isMarked = (key: string): boolean => key.startsWith("~");

export const DEFAULT_PREFIX = "socket.io";

export const everybody = (prefix: string, namespace: string): string => `${prefix}:{${namespace}}`;
export const oneServer = (prefix: string, namespace: string, uid: string): string => `${prefix}:{${namespace}}:${uid}`;

export function encode(message: unknown): string {
  // Buffers have a form of their own in JSON by the time a replacer gets them: it looks at where they stand.
  return JSON.stringify(message, function (this: Record<string, unknown>, key, value) {
    const given = this[key];
    if (given instanceof Uint8Array) return { [BYTES]: Buffer.from(given).toString("base64") };
    if (given instanceof ArrayBuffer) return { [BYTES]: Buffer.from(given).toString("base64") };
    return renamed(value, (name) => `~${name}`);
  });
}

export function decode(text: string): unknown {
  return JSON.parse(text, (_key, value) => {
    const isBytes = typeof value === "object" && value !== null && Object.keys(value).join() === BYTES;
    return isBytes ? Buffer.from(value[BYTES], "base64") : renamed(value, (name) => name.slice(1));
  });
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  if (!Object.keys(value).some(isMarked)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [isMarked(name) ? rename(name) : name, each]));
}
