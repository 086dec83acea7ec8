/** MessagePack as JSON text. */
import { Bytes, NotThisForm, Tree } from "./tree.ts";

const nameOf = (json: string): string => (json.startsWith('"') ? String(JSON.parse(json)) : json);

function list(bytes: Bytes, tree: Tree, count: number): void {
  tree.list(bytes.fitting(count), () => value(bytes, tree));
}

function map(bytes: Bytes, tree: Tree, count: number): void {
  bytes.fitting(count, 2);
  tree.object(
    count,
    () => nameOf(tree.aside((aside) => value(bytes, aside))),
    () => value(bytes, tree),
  );
}

function extension(bytes: Bytes, tree: Tree, count: number): void {
  const type = bytes.take(1).readInt8();
  const data = bytes.take(count);
  if (type === -1 && count === 4) tree.raw(`{"$time":"${new Date(data.readUInt32BE() * 1_000).toISOString()}"}`);
  else tree.raw(`{"$extension":${type},"bytes":"${data.toString("base64")}"}`);
}

type Reader = (bytes: Bytes, tree: Tree) => void;
const lengths = [
  (bytes: Bytes) => bytes.byte(),
  (bytes: Bytes) => bytes.take(2).readUInt16BE(),
  (bytes: Bytes) => bytes.take(4).readUInt32BE(),
];

/** By the first byte, from 0xc0 on. */
const READERS: Readonly<Record<number, Reader>> = {
  192: (_bytes, tree) => tree.raw("null"),
  194: (_bytes, tree) => tree.raw("false"),
  195: (_bytes, tree) => tree.raw("true"),
  ...Object.fromEntries(
    lengths.flatMap((length, nth): [number, Reader][] => [
      [0xc4 + nth, (bytes, tree) => tree.raw(`{"$bytes":"${bytes.take(length(bytes)).toString("base64")}"}`)],
      [0xc7 + nth, (bytes, tree) => extension(bytes, tree, length(bytes))],
      [0xd9 + nth, (bytes, tree) => tree.bytes(bytes.take(length(bytes)))],
    ]),
  ),
  202: (bytes, tree) => tree.number(Number(bytes.take(4).readFloatBE().toPrecision(8))),
  203: (bytes, tree) => tree.number(bytes.take(8).readDoubleBE()),
  204: (bytes, tree) => tree.number(bytes.byte()),
  205: (bytes, tree) => tree.number(bytes.take(2).readUInt16BE()),
  206: (bytes, tree) => tree.number(bytes.take(4).readUInt32BE()),
  207: (bytes, tree) => tree.number(bytes.take(8).readBigUInt64BE()),
  208: (bytes, tree) => tree.number(bytes.take(1).readInt8()),
  209: (bytes, tree) => tree.number(bytes.take(2).readIntBE(0, 2)),
  210: (bytes, tree) => tree.number(bytes.take(4).readIntBE(0, 4)),
  211: (bytes, tree) => tree.number(bytes.take(8).readBigInt64BE()),
  ...Object.fromEntries(
    [1, 2, 4, 8, 16].map((count, nth): [number, Reader] => [
      0xd4 + nth,
      (bytes, tree) => extension(bytes, tree, count),
    ]),
  ),
  220: (bytes, tree) => list(bytes, tree, bytes.take(2).readUInt16BE()),
  221: (bytes, tree) => list(bytes, tree, bytes.take(4).readUInt32BE()),
  222: (bytes, tree) => map(bytes, tree, bytes.take(2).readUInt16BE()),
  223: (bytes, tree) => map(bytes, tree, bytes.take(4).readUInt32BE()),
};

function value(bytes: Bytes, tree: Tree): void {
  const first = bytes.byte();
  if (first < 0x80) tree.number(first);
  else if (first < 0x90) map(bytes, tree, first & 0x0f);
  else if (first < 0xa0) list(bytes, tree, first & 0x0f);
  else if (first < 0xc0) tree.bytes(bytes.take(first & 0x1f));
  else if (first >= 0xe0) tree.number(first - 0x100);
  else {
    const read = READERS[first];
    if (read === undefined) throw new NotThisForm("a byte stands there that MessagePack never writes");
    read(bytes, tree);
  }
}

export function decodeMessagePack(input: Buffer): string {
  const [bytes, tree] = [new Bytes(input), new Tree()];
  value(bytes, tree);
  if (bytes.left > 0) throw new NotThisForm("more bytes follow its end");
  return tree.text;
}
