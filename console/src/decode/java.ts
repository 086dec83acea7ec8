/**
 * Java's object serialisation as JSON text: strings, boxed numbers, arrays, enums, and objects with their fields. Nothing is run and
 * no class is loaded. What a class writes itself (`writeObject`) is under `$data`: text, objects and bytes in their order.
 */
import { Bytes, NotThisForm, Tree } from "./tree.ts";

const TAG = {
  null: 0x70,
  reference: 0x71,
  classDesc: 0x72,
  object: 0x73,
  string: 0x74,
  array: 0x75,
  class: 0x76,
  block: 0x77,
  endBlock: 0x78,
  reset: 0x79,
  longBlock: 0x7a,
  longString: 0x7c,
  proxy: 0x7d,
  enum: 0x7e,
} as const;
const FIRST_HANDLE = 0x7e0000;
const MAGIC = Buffer.from([0xac, 0xed, 0x00, 0x05]);
const MOST_DEPTH = 100;
const MOST_NODES = 50_000;
const MOST_TEXT = 4_194_304;
const FLAGS = { writes: 1, serializable: 2, external: 4 } as const;

interface ClassDesc {
  readonly name: string;
  readonly flags: number;
  readonly fields: readonly { readonly type: string; readonly name: string }[];
  readonly parent: ClassDesc | null;
}

/** What a handle stands for: a class, a text, or something else, which is shown by its number. */
type Handle = { readonly desc: ClassDesc } | { readonly text: string } | "other";

class Reader {
  readonly #bytes: Bytes;
  readonly #handles: Handle[] = [];
  #depth = 0;
  #nodes = 0;
  #length = 0;

  constructor(bytes: Bytes) {
    this.#bytes = bytes;
  }

  /** One value, as JSON. */
  content(): string {
    if (++this.#depth > MOST_DEPTH) throw new NotThisForm("it is nested too deeply");
    if (++this.#nodes > MOST_NODES) throw new NotThisForm("it has more parts than are shown");
    const json = this.#tagged(this.#bytes.byte());
    this.#depth--;
    return json;
  }

  #tagged(tag: number): string {
    if (tag === TAG.null) return "null";
    if (tag === TAG.reference) return this.#reference();
    if (tag === TAG.string || tag === TAG.longString) return this.#text(this.#string(tag));
    if (tag === TAG.object) return this.#object();
    if (tag === TAG.array) return this.#array();
    if (tag === TAG.enum) return this.#enum();
    if (tag === TAG.block || tag === TAG.longBlock) return this.#block(tag);
    if (tag === TAG.class) {
      const desc = this.#classDesc();
      this.#handles.push("other");
      return `{"$class":${this.#text(desc?.name ?? "")}}`;
    }
    throw new NotThisForm("a byte stands there that Java never writes");
  }

  /** References repeat a text that is there once, so what is written is counted, not what is read. */
  #text(text: string): string {
    this.#length += text.length;
    if (this.#length > MOST_TEXT) throw new NotThisForm("it has more text than is shown");
    return JSON.stringify(text);
  }

  #reference(): string {
    const at = this.#int() - FIRST_HANDLE;
    const found = this.#handles[at];
    if (found === undefined) throw new NotThisForm("it refers to what is not there");
    return typeof found === "object" && "text" in found ? this.#text(found.text) : `{"$reference":${at}}`;
  }

  #int(): number {
    return this.#bytes.take(4).readIntBE(0, 4);
  }

  #name(): string {
    return this.#bytes.take(this.#bytes.take(2).readUInt16BE()).toString("utf8");
  }

  #string(tag: number): string {
    const text = tag === TAG.string ? this.#name() : this.#longText();
    this.#handles.push({ text });
    return text;
  }

  #longText(): string {
    return this.#bytes.take(Number(this.#bytes.take(8).readBigInt64BE())).toString("utf8");
  }

  #block(tag: number): string {
    const tree = new Tree();
    tree.bytes(this.#bytes.take(tag === TAG.block ? this.#bytes.byte() : this.#int()));
    this.#length += tree.text.length;
    return tree.text;
  }

  #classDesc(): ClassDesc | null {
    const tag = this.#bytes.byte();
    if (tag === TAG.null) return null;
    if (tag === TAG.reference) {
      const found = this.#handles[this.#int() - FIRST_HANDLE];
      if (typeof found !== "object" || !("desc" in found)) throw new NotThisForm("it refers to a class that is none");
      return found.desc;
    }
    if (tag !== TAG.classDesc && tag !== TAG.proxy) throw new NotThisForm("a class is expected");
    if (++this.#depth > MOST_DEPTH) throw new NotThisForm("it is nested too deeply");
    const desc = tag === TAG.proxy ? this.#proxyDesc() : this.#plainDesc();
    this.#depth--;
    return desc;
  }

  #plainDesc(): ClassDesc {
    const name = this.#name();
    this.#bytes.take(8);
    // A class has its handle before its fields, whose types may be texts with handles of their own.
    const handle = this.#handles.push("other") - 1;
    const flags = this.#bytes.byte();
    const count = this.#bytes.fitting(this.#bytes.take(2).readUInt16BE(), 3);
    const fields = Array.from({ length: count }, () => {
      const type = String.fromCharCode(this.#bytes.byte());
      const field = { type, name: this.#name() };
      if (type === "[" || type === "L") this.content();
      return field;
    });
    this.#annotation();
    const desc: ClassDesc = { name, flags, fields, parent: this.#classDesc() };
    this.#handles[handle] = { desc };
    return desc;
  }

  #proxyDesc(): ClassDesc {
    const handle = this.#handles.push("other") - 1;
    const names = Array.from({ length: this.#bytes.fitting(this.#int(), 2) }, () => this.#name());
    this.#annotation();
    const desc: ClassDesc = { name: names.join(" "), flags: FLAGS.serializable, fields: [], parent: this.#classDesc() };
    this.#handles[handle] = { desc };
    return desc;
  }

  /** Up to the mark that ends a block. */
  #annotation(): string[] {
    const found: string[] = [];
    while (this.#bytes.byte() !== TAG.endBlock) {
      this.#bytes.at--;
      found.push(this.content());
    }
    return found;
  }

  #primitive(type: string): string {
    const tree = new Tree();
    if (type === "Z") return this.#bytes.byte() === 0 ? "false" : "true";
    if (type === "C") return this.#text(String.fromCharCode(this.#bytes.take(2).readUInt16BE()));
    if (type === "B") tree.number(this.#bytes.take(1).readInt8());
    else if (type === "S") tree.number(this.#bytes.take(2).readIntBE(0, 2));
    else if (type === "I") tree.number(this.#int());
    else if (type === "J") tree.number(this.#bytes.take(8).readBigInt64BE());
    else if (type === "F") tree.number(Number(this.#bytes.take(4).readFloatBE().toPrecision(8)));
    else if (type === "D") tree.number(this.#bytes.take(8).readDoubleBE());
    else if (type === "L" || type === "[") return this.content();
    else throw new NotThisForm("a field has a type that Java does not have");
    return tree.text;
  }

  #object(): string {
    const desc = this.#classDesc();
    if (desc === null) throw new NotThisForm("an object has no class");
    this.#handles.push("other");
    const chain: ClassDesc[] = [];
    for (let at: ClassDesc | null = desc; at !== null; at = at.parent) chain.unshift(at);
    const fields: [string, string][] = [];
    const data: string[] = [];
    for (const { flags, fields: own } of chain) {
      if (flags & FLAGS.external) {
        data.push(...this.#annotation());
        continue;
      }
      for (const { type, name } of own) fields.push([name, this.#primitive(type)]);
      if (flags & FLAGS.writes) data.push(...this.#annotation());
    }
    // A boxed number is the number.
    if (/^java\.lang\.[A-Z]\w+$/.test(desc.name) && fields.length === 1 && fields[0]![0] === "value")
      return fields[0]![1];
    const parts = [`"$class":${this.#text(desc.name)}`, ...fields.map(([name, json]) => `${this.#text(name)}:${json}`)];
    if (data.length > 0) parts.push(`"$data":[${data.join(",")}]`);
    return `{${parts.join(",")}}`;
  }

  #array(): string {
    const desc = this.#classDesc();
    this.#handles.push("other");
    const type = desc?.name[1] ?? "";
    const count = this.#int();
    if (type === "B") return `{"$bytes":"${this.#bytes.take(count).toString("base64")}"}`;
    if (count < 0 || count > MOST_NODES) throw new NotThisForm("it has more parts than are shown");
    this.#bytes.fitting(count);
    this.#nodes += count;
    return `[${Array.from({ length: count }, () => this.#primitive(type)).join(",")}]`;
  }

  #enum(): string {
    this.#classDesc();
    this.#handles.push("other");
    return this.content();
  }
}

export function decodeJava(input: Buffer): string {
  if (!input.subarray(0, MAGIC.length).equals(MAGIC)) throw new NotThisForm("it does not begin as Java's stream does");
  const bytes = new Bytes(input.subarray(MAGIC.length));
  const reader = new Reader(bytes);
  const found = [reader.content()];
  while (bytes.left > 0) found.push(reader.content());
  return found.length === 1 ? found[0]! : `[${found.join(",")}]`;
}
