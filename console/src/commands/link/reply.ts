/** Replies of a server with their types, RESP2's and RESP3's, as they are printed; and commands as bytes. */

export interface Text {
  readonly type: "status" | "error" | "string" | "verbatim" | "double" | "bignum";
  readonly bytes: Buffer;
}

export interface List {
  readonly type: "array" | "set" | "map" | "push";
  /** Of a map: fields and values in turn. */
  readonly items: readonly Reply[];
}

export type Reply =
  | Text
  | List
  | { readonly type: "integer"; readonly digits: string }
  | { readonly type: "nil" }
  | { readonly type: "boolean"; readonly value: boolean };

export class ProtocolError extends Error {}

const NIL: Reply = { type: "nil" };
const [TRUE, FALSE]: [Reply, Reply] = [
  { type: "boolean", value: true },
  { type: "boolean", value: false },
];
const LISTS: Readonly<Record<string, List["type"]>> = { "*": "array", "~": "set", "%": "map", ">": "push" };
const LINES: Readonly<Record<string, Text["type"]>> = { "+": "status", "-": "error", ",": "double", "(": "bignum" };
const BULKS: Readonly<Record<string, Text["type"]>> = { $: "string", "=": "verbatim", "!": "error" };
const MOST_ITEMS = 1 << 27;
const MOST_BYTES = 1 << 30;

interface Open {
  readonly type: List["type"] | "attribute";
  readonly items: Reply[];
  readonly wanted: number;
}

/** Cuts what arrives into replies. A large string that comes in many pieces is put together once. */
export class ReplyReader {
  readonly #onReply: (reply: Reply) => void;
  readonly #open: Open[] = [];
  #pieces: Buffer[] = [];
  #pending = 0;
  #needed = 1;

  constructor(onReply: (reply: Reply) => void) {
    this.#onReply = onReply;
  }

  feed(chunk: Buffer): void {
    this.#pieces.push(chunk);
    this.#pending += chunk.length;
    if (this.#pending < this.#needed) return;
    const bytes = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces, this.#pending);
    const at = this.#read(bytes);
    this.#pieces = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#pending = bytes.length - at;
  }

  /** Takes whole elements; answers where the rest begins. */
  #read(bytes: Buffer): number {
    let at = 0;
    for (;;) {
      const end = bytes.indexOf("\r\n", at);
      if (end === -1) return this.#wait(at, bytes.length - at + 1);
      const sign = String.fromCharCode(bytes[at]!);
      const bulk = BULKS[sign];
      if (bulk === undefined) {
        this.#take(sign, bytes, at + 1, end);
        at = end + 2;
        continue;
      }
      const length = lengthIn(bytes, at + 1, end, MOST_BYTES);
      const from = end + 2;
      if (length !== -1 && from + length + 2 > bytes.length) return this.#wait(at, from + length + 2 - at);
      // A copy: the bytes that came with it are let go.
      const text = length === -1 ? NIL : textOf(bulk, Buffer.from(bytes.subarray(from, from + length)));
      at = length === -1 ? from : from + length + 2;
      this.#add(text);
    }
  }

  #wait(at: number, needed: number): number {
    this.#needed = needed;
    return at;
  }

  #take(sign: string, bytes: Buffer, from: number, to: number): void {
    const line = LINES[sign];
    if (line !== undefined) this.#add({ type: line, bytes: Buffer.from(bytes.subarray(from, to)) });
    else if (sign === ":") this.#add({ type: "integer", digits: bytes.toString("latin1", from, to) });
    else if (sign === "_") this.#add(NIL);
    else if (sign === "#") this.#add(bytes[from] === 0x74 ? TRUE : FALSE);
    else this.#begin(sign, lengthIn(bytes, from, to, MOST_ITEMS));
  }

  #begin(sign: string, count: number): void {
    const type = sign === "|" ? "attribute" : LISTS[sign];
    if (type === undefined) throw new ProtocolError(`the server sent '${sign}', which begins no reply`);
    if (count === -1) this.#add(NIL);
    else {
      const wanted = type === "map" || type === "attribute" ? count * 2 : count;
      this.#open.push({ type, items: [], wanted });
      this.#close();
    }
  }

  #add(reply: Reply): void {
    const into = this.#open.at(-1);
    if (into === undefined) {
      this.#onReply(reply);
      return;
    }
    into.items.push(reply);
    this.#close();
  }

  #close(): void {
    const list = this.#open.at(-1);
    if (list === undefined || list.items.length < list.wanted) return;
    this.#open.pop();
    // Attributes say something about the reply that follows, and are no reply.
    if (list.type !== "attribute") this.#add({ type: list.type, items: list.items });
  }
}

/** Verbatim strings begin with their format: `txt:`. */
const textOf = (type: Text["type"], bytes: Buffer): Text => ({
  type,
  bytes: type === "verbatim" ? bytes.subarray(4) : bytes,
});

function lengthIn(bytes: Buffer, from: number, to: number, most: number): number {
  const length = Number(bytes.toString("latin1", from, to));
  if (!Number.isInteger(length) || length < -1 || length > most) {
    throw new ProtocolError(`the server sent '${bytes.toString("latin1", from, Math.min(to, from + 20))}' as a length`);
  }
  return length;
}

export type Word = string | Buffer;

/** Small words are put together into one piece; large ones stay as they are. */
export function encode(commands: readonly (readonly Word[])[]): Buffer {
  const parts: Buffer[] = [];
  let text = "";
  const flush = (): void => {
    if (text !== "") parts.push(Buffer.from(text));
    text = "";
  };
  for (const words of commands) {
    text += `*${words.length}\r\n`;
    for (const word of words) {
      text += `$${typeof word === "string" ? Buffer.byteLength(word) : word.length}\r\n`;
      if (typeof word === "string") text += word;
      else {
        flush();
        parts.push(word);
      }
      text += "\r\n";
    }
  }
  flush();
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

/** The text of a reply that is one, or "". */
export function textIn(reply: Reply | undefined): string {
  if (reply === undefined) return "";
  if ("bytes" in reply) return reply.bytes.toString();
  return reply.type === "integer" ? reply.digits : "";
}

export const itemsIn = (reply: Reply | undefined): readonly Reply[] =>
  reply !== undefined && "items" in reply ? reply.items : [];

/** Fields and values of a map, or of a flat list that is one in RESP2. */
export function pairsIn(reply: Reply): Map<string, Reply> {
  const items = itemsIn(reply);
  const pairs = new Map<string, Reply>();
  for (let at = 0; at + 1 < items.length; at += 2) pairs.set(textIn(items[at]), items[at + 1]!);
  return pairs;
}
