/**
 * Protocol buffers without their schema, as JSON text: fields by number, each with a list of what it holds. What has a length may be
 * text, a message or bytes: text where it is readable, a message where it is one to its last byte.
 */
import { isUtf8 } from "node:buffer";
import { Bytes, NotThisForm, Tree } from "./tree.ts";

type Field =
  | { readonly number: number; readonly kind: "varint"; readonly value: bigint }
  | { readonly number: number; readonly kind: "fixed64" | "fixed32" | "data"; readonly value: Buffer };

function varint(bytes: Bytes): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = bytes.byte();
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return BigInt.asUintN(64, value);
  }
  throw new NotThisForm("a number has more than ten bytes");
}

const MOST_NUMBER = 536_870_911n;
const MOST_DEPTH = 32;

function fieldsOf(input: Buffer): Field[] {
  const bytes = new Bytes(input);
  const fields: Field[] = [];
  while (bytes.left > 0) {
    const tag = varint(bytes);
    const number = tag >> 3n;
    if (number < 1n || number > MOST_NUMBER) throw new NotThisForm("a field has no number");
    const at = Number(number);
    const type = Number(tag & 7n);
    if (type === 0) fields.push({ number: at, kind: "varint", value: varint(bytes) });
    else if (type === 1) fields.push({ number: at, kind: "fixed64", value: bytes.take(8) });
    else if (type === 5) fields.push({ number: at, kind: "fixed32", value: bytes.take(4) });
    else if (type === 2) fields.push({ number: at, kind: "data", value: bytes.take(Number(varint(bytes))) });
    else throw new NotThisForm("a field has no type that is in use");
  }
  return fields;
}

const isReadable = (data: Buffer): boolean => isUtf8(data) && !/[\0-\x08\x0e-\x1f]/.test(data.toString());

function fixed(tree: Tree, bits: Buffer): void {
  const isLong = bits.length === 8;
  const whole = isLong ? bits.readBigInt64LE() : bits.readInt32LE();
  const float = isLong ? bits.readDoubleLE() : bits.readFloatLE();
  const isFloat = Number.isFinite(float) && (float === 0 || (Math.abs(float) > 1e-9 && Math.abs(float) < 1e15));
  tree.number(isFloat ? (isLong ? float : Number(float.toPrecision(8))) : whole);
}

function value(tree: Tree, field: Field, depth: number): void {
  if (field.kind === "varint") tree.number(BigInt.asIntN(64, field.value));
  else if (field.kind !== "data") fixed(tree, field.value);
  else if (isReadable(field.value)) tree.string(field.value.toString());
  else {
    let inner: Field[] | null = null;
    try {
      if (depth < MOST_DEPTH) inner = fieldsOf(field.value);
    } catch (error) {
      if (!(error instanceof NotThisForm)) throw error;
    }
    if (inner === null) tree.bytes(field.value);
    else message(tree, inner, depth + 1);
  }
}

function message(tree: Tree, fields: readonly Field[], depth: number): void {
  const entries = [...grouped(fields)];
  tree.object(
    entries.length,
    (at) => String(entries[at]![0]),
    (at) => {
      const [, all] = entries[at]!;
      if (all.length === 1) value(tree, all[0]!, depth);
      else tree.list(all.length, (nth) => value(tree, all[nth]!, depth));
    },
  );
}

function grouped(fields: readonly Field[]): Map<number, Field[]> {
  const groups = new Map<number, Field[]>();
  for (const field of fields) {
    const group = groups.get(field.number);
    if (group === undefined) groups.set(field.number, [field]);
    else group.push(field);
  }
  return groups;
}

export function decodeProtobuf(input: Buffer): string {
  if (input.length === 0) throw new NotThisForm("it is empty");
  const tree = new Tree();
  message(tree, fieldsOf(input), 0);
  return tree.text;
}
