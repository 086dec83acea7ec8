/** What PHP's serialize() writes, as JSON text. Objects have their class under `$class`; references are `$reference`. */
import { Bytes, NotThisForm, Tree } from "./tree.ts";

/** Up to a sign, which is taken too. */
function until(bytes: Bytes, sign: string): string {
  let text = "";
  for (;;) {
    const char = String.fromCharCode(bytes.byte());
    if (char === sign) return text;
    text += char;
    if (text.length > 400) throw new NotThisForm("a number is too long");
  }
}

function expect(bytes: Bytes, text: string): void {
  if (bytes.take(text.length).toString("latin1") !== text) throw new NotThisForm(`${text} is missing`);
}

function count(bytes: Bytes): number {
  const text = until(bytes, ":");
  if (!/^\d{1,10}$/.test(text)) throw new NotThisForm("a length is no number");
  return bytes.fitting(Number(text), 0);
}

function quoted(bytes: Bytes): Buffer {
  const length = count(bytes);
  expect(bytes, '"');
  const text = bytes.take(length);
  expect(bytes, '"');
  return text;
}

/** Names of private and protected fields have their class, or a star, between zero bytes. */
const nameOf = (bytes: Buffer): string => bytes.toString("utf8").replace(/^\0(?:\*|[^\0]*)\0/, "");

function key(bytes: Bytes): string {
  const type = bytes.take(2).toString("latin1");
  if (type === "i:") return whole(until(bytes, ";"));
  if (type !== "s:") throw new NotThisForm("a name is neither a number nor text");
  const name = quoted(bytes);
  expect(bytes, ";");
  return nameOf(name);
}

function whole(text: string): string {
  if (!/^-?\d{1,20}$/.test(text)) throw new NotThisForm("a number is none");
  return text;
}

function float(tree: Tree, text: string): void {
  if (/^-?\d+(\.\d+)?(E[+-]?\d+)?$/i.test(text)) tree.raw(text);
  else if (/^(-?INF|NAN)$/.test(text)) tree.raw(`{"$number":"${text}"}`);
  else throw new NotThisForm("a number is none");
}

function fields(bytes: Bytes, tree: Tree, className: string | null): void {
  const length = bytes.fitting(count(bytes), 4);
  expect(bytes, "{");
  const extra = className === null ? 0 : 1;
  tree.object(
    length + extra,
    (at) => (at < extra ? "$class" : key(bytes)),
    (at) => (at < extra ? tree.string(className!) : value(bytes, tree)),
  );
  expect(bytes, "}");
}

type Reader = (bytes: Bytes, tree: Tree) => void;

/** By the letter in front; the colon behind it is taken already. */
const READERS: Readonly<Record<string, Reader>> = {
  b: (bytes, tree) => {
    const text = until(bytes, ";");
    if (!/^[01]$/.test(text)) throw new NotThisForm("a truth value is neither 0 nor 1");
    tree.raw(text === "1" ? "true" : "false");
  },
  i: (bytes, tree) => tree.raw(whole(until(bytes, ";")).replace(/^(-?)0+(?=\d)/, "$1")),
  d: (bytes, tree) => float(tree, until(bytes, ";")),
  s: (bytes, tree) => {
    tree.bytes(quoted(bytes));
    expect(bytes, ";");
  },
  a: (bytes, tree) => fields(bytes, tree, null),
  r: (bytes, tree) => tree.raw(`{"$reference":${whole(until(bytes, ";"))}}`),
  R: (bytes, tree) => tree.raw(`{"$reference":${whole(until(bytes, ";"))}}`),
  O: (bytes, tree) => {
    const name = quoted(bytes).toString("utf8");
    expect(bytes, ":");
    fields(bytes, tree, name);
  },
  E: (bytes, tree) => {
    tree.string(quoted(bytes).toString("utf8"));
    expect(bytes, ";");
  },
  C: (bytes, tree) => {
    const name = quoted(bytes).toString("utf8");
    expect(bytes, ":");
    const length = count(bytes);
    expect(bytes, "{");
    const data = bytes.take(length);
    expect(bytes, "}");
    tree.raw(`{"$class":${JSON.stringify(name)},"$data":${JSON.stringify(data.toString("latin1"))}}`);
  },
};

function value(bytes: Bytes, tree: Tree): void {
  const type = String.fromCharCode(bytes.byte());
  if (type === "N") {
    expect(bytes, ";");
    tree.raw("null");
    return;
  }
  expect(bytes, ":");
  const read = READERS[type];
  if (read === undefined) throw new NotThisForm("a type stands there that PHP never writes");
  read(bytes, tree);
}

export function decodePhp(input: Buffer): string {
  const [bytes, tree] = [new Bytes(input), new Tree()];
  value(bytes, tree);
  if (bytes.left > 0) throw new NotThisForm("more bytes follow its end");
  return tree.text;
}
