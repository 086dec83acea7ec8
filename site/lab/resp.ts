/** RESP as a prompt needs it: commands as bytes, and replies that still know whether a text was a status or a string. */

export type Reply =
  | { readonly kind: "status" | "error"; readonly text: string }
  | { readonly kind: "string"; readonly bytes: Uint8Array }
  | { readonly kind: "integer"; readonly text: string }
  | { readonly kind: "plain"; readonly text: string }
  | { readonly kind: "nil" }
  | { readonly kind: "array" | "set" | "push"; readonly items: readonly Reply[] }
  | { readonly kind: "map"; readonly items: readonly Reply[] };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A word has bytes in `\xHH` form as characters below 256 only where it was written so; see words.ts. */
export function encode(words: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = [encoder.encode(`*${words.length}\r\n`)];
  for (const word of words) parts.push(encoder.encode(`$${word.length}\r\n`), word, encoder.encode("\r\n"));
  return joined(parts);
}

export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Cuts what has arrived into replies. */
export class Replies {
  #rest = new Uint8Array(0);
  #at = 0;

  /** The replies that are complete with these bytes. */
  feed(bytes: Uint8Array): Reply[] {
    this.#rest = joined([this.#rest, bytes]);
    const replies: Reply[] = [];
    for (;;) {
      this.#at = 0;
      const reply = this.#read();
      if (reply === undefined) return replies;
      replies.push(reply);
      this.#rest = this.#rest.slice(this.#at);
    }
  }

  #line(): string | undefined {
    const end = this.#rest.indexOf(13, this.#at);
    if (end < 0 || end + 1 >= this.#rest.length) return undefined;
    const line = decoder.decode(this.#rest.subarray(this.#at, end));
    this.#at = end + 2;
    return line;
  }

  #read(): Reply | undefined {
    const line = this.#line();
    if (line === undefined) return undefined;
    const text = line.slice(1);
    switch (line[0]) {
      case "+":
        return { kind: "status", text };
      case "-":
        return { kind: "error", text };
      case ":":
        return { kind: "integer", text };
      case "$":
      case "=":
        return this.#string(Number(text), line[0] === "=" ? 4 : 0);
      case "*":
        return this.#many("array", Number(text));
      case "~":
        return this.#many("set", Number(text));
      case ">":
        return this.#many("push", Number(text));
      case "%":
        return this.#many("map", 2 * Number(text));
      case "_":
        return { kind: "nil" };
      case "#":
        return { kind: "plain", text: text === "t" ? "(true)" : "(false)" };
      default:
        return { kind: "plain", text: line[0] === "," ? `(double) ${text}` : text };
    }
  }

  #string(length: number, skipped: number): Reply | undefined {
    if (length < 0) return { kind: "nil" };
    if (this.#at + length + 2 > this.#rest.length) return undefined;
    const bytes = this.#rest.slice(this.#at + skipped, this.#at + length);
    this.#at += length + 2;
    return { kind: "string", bytes };
  }

  #many(kind: "array" | "set" | "push" | "map", count: number): Reply | undefined {
    if (count < 0) return { kind: "nil" };
    const items: Reply[] = [];
    while (items.length < count) {
      const item = this.#read();
      if (item === undefined) return undefined;
      items.push(item);
    }
    return { kind, items };
  }
}
