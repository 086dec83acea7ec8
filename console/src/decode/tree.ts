/**
 * What decoders of binary forms make: values as JSON text, with numbers of any size as they are. What JSON has no word for is an
 * object with one field that begins with `$`. How much is made of how few bytes is bounded: a decoder that goes too far throws.
 */

export class NotThisForm extends Error {}

const MOST_NODES = 50_000;
const MOST_DEPTH = 64;
const MOST_TEXT = 4_194_304;

export class Tree {
  #text = "";
  #nodes = 0;
  #depth = 0;

  get text(): string {
    return this.#text;
  }

  /** Text that is a JSON value already. */
  raw(text: string): void {
    if (++this.#nodes > MOST_NODES || this.#text.length + text.length > MOST_TEXT)
      throw new NotThisForm("it has more parts than are shown");
    this.#text += text;
  }

  string(text: string): void {
    this.raw(JSON.stringify(text));
  }

  /** Text where it is UTF-8. */
  bytes(bytes: Buffer): void {
    const text = bytes.toString("utf8");
    if (Buffer.from(text).equals(bytes)) this.string(text);
    else this.raw(`{"$bytes":"${bytes.toString("base64")}"}`);
  }

  number(value: number | bigint): void {
    if (typeof value === "number" && !Number.isFinite(value)) this.raw(`{"$number":"${value}"}`);
    else this.raw(Object.is(value, -0) ? "-0" : String(value));
  }

  list(count: number, each: (at: number) => void): void {
    this.#open("[");
    for (let at = 0; at < count; at++) {
      if (at > 0) this.#text += ",";
      each(at);
    }
    this.#close("]");
  }

  /** `name` writes into the tree itself; everything but text is put into quotes. */
  object(count: number, name: (at: number) => string, value: (at: number) => void): void {
    this.#open("{");
    for (let at = 0; at < count; at++) {
      if (at > 0) this.#text += ",";
      this.string(name(at));
      this.#text += ":";
      value(at);
    }
    this.#close("}");
  }

  /** What a piece of a tree would be, as text: for names. */
  aside(write: (tree: Tree) => void): string {
    const tree = new Tree();
    tree.#nodes = this.#nodes;
    tree.#depth = this.#depth;
    write(tree);
    this.#nodes = tree.#nodes;
    return tree.#text;
  }

  #open(sign: string): void {
    if (++this.#depth > MOST_DEPTH) throw new NotThisForm("it is nested too deeply");
    this.raw(sign);
  }

  #close(sign: string): void {
    this.#depth--;
    this.#text += sign;
  }
}

/** Reads bytes in their order; past the end is not this form. */
export class Bytes {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.at;
  }

  take(count: number): Buffer {
    if (count < 0 || count > this.left) throw new NotThisForm("it ends too early");
    this.at += count;
    return this.#bytes.subarray(this.at - count, this.at);
  }

  byte(): number {
    return this.take(1)[0]!;
  }

  /** Refuses counts of things that cannot all be there. */
  fitting(count: number, eachAtLeast = 1): number {
    if (count * eachAtLeast > this.left) throw new NotThisForm("it ends too early");
    return count;
  }
}
