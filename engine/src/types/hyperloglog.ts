/**
 * HyperLogLog as Redis keeps it, byte for byte, so that values interchange and PFCOUNT agrees.
 *
 * It is a string: a header of 16 bytes (`HYLL`, the encoding, three unused bytes, and the last count as a 64-bit integer,
 * lowest byte first, whose top bit says that it is out of date), then 2^14 registers. An element's hash chooses a register
 * with its low 14 bits; the register keeps the longest run of zeros seen in the other 50, plus one.
 *
 * Dense: six bits a register, lowest bits first. Sparse, as long as that is short: runs of equal registers,
 *
 *   00LLLLLL            L + 1 registers that are zero
 *   01LLLLLL LLLLLLLL   the same, up to 16384
 *   1VVVVVLL            L + 1 registers of value V + 1
 *
 * A sparse string comes from outside as often as not, so every walk over it checks that it covers the registers exactly,
 * and nothing is read beyond its end. Functions here that may meet a corrupt one answer undefined or -1.
 */
import { Buffer } from "../platform/bytes.ts";
import { byteAt } from "./bits.ts";
import { Bytes, type StringValue, textOf } from "./bytes.ts";
import { hashHigh, hashLow, murmur64 } from "./murmur.ts";

export const REGISTERS = 16384;
const HEADER = 16;
const DENSE_BYTES = HEADER + (REGISTERS * 6) / 8;
const ENCODING = 4;
const DENSE = 0;
const SPARSE = 1;
/** Where the flag is that the kept count is out of date. */
const CACHE_FLAG = 15;
/** How many bits of a hash are left for counting zeros. */
const Q = 50;
const ALPHA = 0.7213475204444817;

const SPARSE_MAX_VALUE = 32;
const SPARSE_MAX_RUN = 4;
const SHORT_ZEROS = 64;

const isZero = (byte: number) => byte < 0x40;
const isLongZero = (byte: number) => byte >= 0x40 && byte < 0x80;
const isValue = (byte: number) => byte >= 0x80;
const registerOf = (byte: number) => ((byte >> 2) & 0x1f) + 1;
const runOf = (byte: number) => (byte & 3) + 1;
const valueByte = (value: number, run: number) => 0x80 | ((value - 1) << 2) | (run - 1);

/** A HyperLogLog with nothing in it, whose count of 0 is valid. */
export function newHll(): string {
  return `HYLL\x01${"\0".repeat(11)}\x7f\xff`;
}

/** Whether a string value has the form of a HyperLogLog; a sparse one may still turn out corrupt. */
export function isHll(value: StringValue): value is string | Bytes {
  if (typeof value !== "string" && !(value instanceof Bytes)) return false;
  if (value.length < HEADER) return false;
  if (byteAt(value, 0) !== 0x48 || byteAt(value, 1) !== 0x59) return false;
  if (byteAt(value, 2) !== 0x4c || byteAt(value, 3) !== 0x4c) return false;
  const encoding = byteAt(value, ENCODING);
  return encoding === SPARSE || (encoding === DENSE && value.length === DENSE_BYTES);
}

export function isSparse(value: string | Bytes): boolean {
  return byteAt(value, ENCODING) === SPARSE;
}

/** The bytes of a value for reading only. */
function bufferOf(value: string | Bytes): Buffer {
  return value instanceof Bytes ? value.raw.subarray(0, value.length) : Buffer.from(textOf(value), "latin1");
}

// ------------------------------------------------------------------------------------------------ the kept count

export function invalidateCount(bytes: Bytes): void {
  bytes.raw[CACHE_FLAG]! |= 0x80;
}

/** The count that the header keeps, if it is valid. */
export function keptCount(value: string | Bytes): bigint | number | undefined {
  if ((byteAt(value, CACHE_FLAG) & 0x80) !== 0) return undefined;
  let high = 0;
  for (let i = 15; i >= 12; i--) high = high * 256 + byteAt(value, i);
  let low = 0;
  for (let i = 11; i >= 8; i--) low = low * 256 + byteAt(value, i);
  if (high < 0x200000) return high * 4294967296 + low;
  return (BigInt(high) << 32n) | BigInt(low);
}

export function keepCount(bytes: Bytes, count: number): void {
  bytes.raw.writeUInt32LE(count % 4294967296, 8);
  bytes.raw.writeUInt32LE(Math.floor(count / 4294967296), 12);
}

// ------------------------------------------------------------------------------------------------ dense registers

function getDense(buffer: Buffer, register: number): number {
  const bit = register * 6;
  const at = HEADER + (bit >> 3);
  const shift = bit & 7;
  const next = at + 1 < DENSE_BYTES ? buffer[at + 1]! : 0;
  return ((buffer[at]! >> shift) | (next << (8 - shift))) & 63;
}

function putDense(buffer: Buffer, register: number, value: number): void {
  const bit = register * 6;
  const at = HEADER + (bit >> 3);
  const shift = bit & 7;
  buffer[at] = (buffer[at]! & ~(63 << shift)) | (value << shift);
  if (shift > 2) buffer[at + 1] = (buffer[at + 1]! & ~(63 >> (8 - shift))) | (value >> (8 - shift));
}

/** Raises a register; whether it was lower. */
function raiseDense(bytes: Bytes, register: number, value: number): boolean {
  if (getDense(bytes.raw, register) >= value) return false;
  putDense(bytes.raw, register, value);
  return true;
}

// ------------------------------------------------------------------------------------------------ walking

/** Calls back for every run of a value; whether the runs cover the registers exactly. */
function walkSparse(buffer: Buffer, visit: (value: number, first: number, run: number) => void): boolean {
  let first = 0;
  for (let at = HEADER; at < buffer.length; at++) {
    const byte = buffer[at]!;
    if (isZero(byte)) first += (byte & 0x3f) + 1;
    else if (isLongZero(byte)) first += longRun(buffer, at++);
    else {
      const run = runOf(byte);
      if (first + run > REGISTERS) return false;
      visit(registerOf(byte), first, run);
      first += run;
    }
  }
  return first === REGISTERS;
}

/** The length of the long run of zeros at a place; the byte that may be missing at the end counts as 0. */
const longRun = (buffer: Buffer, at: number) => (((buffer[at]! & 0x3f) << 8) | (buffer[at + 1] ?? 0)) + 1;

/** Raises each of `registers` to the value's own; false when the value is corrupt. */
export function mergeInto(registers: Uint8Array, value: string | Bytes): boolean {
  const buffer = bufferOf(value);
  if (!isSparse(value)) {
    for (let i = 0, at = HEADER; i < REGISTERS; i += 4, at += 3) {
      const a = buffer[at]!;
      const b = buffer[at + 1]!;
      const c = buffer[at + 2]!;
      raise(registers, i, a & 63);
      raise(registers, i + 1, ((a >> 6) | (b << 2)) & 63);
      raise(registers, i + 2, ((b >> 4) | (c << 4)) & 63);
      raise(registers, i + 3, c >> 2);
    }
    return true;
  }
  return walkSparse(buffer, (register, first, run) => {
    for (let i = first; i < first + run; i++) raise(registers, i, register);
  });
}

function raise(registers: Uint8Array, i: number, value: number): void {
  if (value > registers[i]!) registers[i] = value;
}

/** The value of every register; undefined when the value is corrupt. */
export function registersOf(value: string | Bytes): Uint8Array | undefined {
  const registers = new Uint8Array(REGISTERS);
  return mergeInto(registers, value) ? registers : undefined;
}

/** A sparse value's runs in words, as PFDEBUG DECODE shows them. */
export function describeSparse(value: string | Bytes): string {
  const buffer = bufferOf(value);
  const runs: string[] = [];
  for (let at = HEADER; at < buffer.length; at++) {
    const byte = buffer[at]!;
    if (isZero(byte)) runs.push(`z:${(byte & 0x3f) + 1}`);
    else if (isLongZero(byte)) runs.push(`Z:${longRun(buffer, at++)}`);
    else runs.push(`v:${registerOf(byte)},${runOf(byte)}`);
  }
  return runs.join(" ");
}

// ------------------------------------------------------------------------------------------------ counting

/** How many different elements registers stand for (Otmar Ertl's estimator, which needs no correction tables). */
export function estimate(registers: Uint8Array): number {
  const histogram = new Uint32Array(64);
  for (let i = 0; i < registers.length; i++) histogram[registers[i]!]!++;
  const m = REGISTERS;
  let z = m * tau((m - histogram[Q + 1]!) / m);
  for (let j = Q; j >= 1; j--) z = (z + histogram[j]!) * 0.5;
  z += m * sigma(histogram[0]! / m);
  return Math.round((ALPHA * m * m) / z);
}

/** The count of a value; undefined when it is corrupt. */
export function countOf(value: string | Bytes): number | undefined {
  const registers = registersOf(value);
  return registers === undefined ? undefined : estimate(registers);
}

function sigma(start: number): number {
  if (start === 1) return Infinity;
  let x = start;
  let y = 1;
  let z = x;
  for (;;) {
    x *= x;
    const before = z;
    z += x * y;
    y += y;
    if (z === before) return z;
  }
}

function tau(start: number): number {
  if (start === 0 || start === 1) return 0;
  let x = start;
  let y = 1;
  let z = 1 - x;
  for (;;) {
    x = Math.sqrt(x);
    const before = z;
    y *= 0.5;
    z -= (1 - x) ** 2 * y;
    if (z === before) return z / 3;
  }
}

// ------------------------------------------------------------------------------------------------ adding

/** How many zeros the last 50 bits of a hash begin with, counted from the low end, plus one. */
function zerosAfterIndex(high: number, low: number): number {
  const bits = ((low >>> 14) | (high << 18)) >>> 0;
  if (bits !== 0) return 32 - Math.clz32(bits & -bits);
  const rest = (high >>> 14) | (1 << 18);
  return 64 - Math.clz32(rest & -rest);
}

/** Adds an element: 1 if a register changed, 0 if none did, -1 if the value is corrupt. */
export function addElement(bytes: Bytes, element: string, sparseMaxBytes: number): -1 | 0 | 1 {
  murmur64(element);
  return raiseRegister(bytes, hashLow & (REGISTERS - 1), zerosAfterIndex(hashHigh, hashLow), sparseMaxBytes);
}

/** Raises a register, in whichever encoding; answers as addElement does. */
export function raiseRegister(bytes: Bytes, register: number, value: number, sparseMaxBytes: number): -1 | 0 | 1 {
  if (isSparse(bytes)) return raiseSparse(bytes, register, value, sparseMaxBytes);
  return raiseDense(bytes, register, value) ? 1 : 0;
}

/** Turns a sparse value into a dense one; false when it is corrupt. */
export function widen(bytes: Bytes): boolean {
  const registers = registersOf(bytes);
  if (registers === undefined) return false;
  bytes.resize(HEADER);
  bytes.resize(DENSE_BYTES);
  bytes.raw[ENCODING] = DENSE;
  for (let i = 0; i < REGISTERS; i++) if (registers[i] !== 0) putDense(bytes.raw, i, registers[i]!);
  return true;
}

function widenAndRaise(bytes: Bytes, register: number, value: number): -1 | 1 {
  if (!widen(bytes)) return -1;
  raiseDense(bytes, register, value);
  return 1;
}

function raiseSparse(bytes: Bytes, register: number, value: number, sparseMaxBytes: number): -1 | 0 | 1 {
  if (value > SPARSE_MAX_VALUE) return widenAndRaise(bytes, register, value);
  const buffer = bytes.raw;
  const end = bytes.length;
  // Find the run that the register is in.
  let first = 0;
  let before = -1;
  let at = HEADER;
  let span = 0;
  while (at < end) {
    const byte = buffer[at]!;
    const long = isLongZero(byte);
    if (long) span = (((byte & 0x3f) << 8) | (at + 1 < end ? buffer[at + 1]! : 0)) + 1;
    else span = isZero(byte) ? byte + 1 : runOf(byte);
    if (register < first + span) break;
    before = at;
    at += long ? 2 : 1;
    first += span;
  }
  if (at >= end) return -1;
  const byte = buffer[at]!;
  if (isValue(byte) && registerOf(byte) >= value) return 0;
  if (span === 1 && !isLongZero(byte)) buffer[at] = valueByte(value, 1);
  else {
    const split = splitRun(byte, register - first, first + span - 1 - register, value);
    const replaced = isLongZero(byte) ? Math.min(2, end - at) : 1;
    const grown = split.length - replaced;
    if (grown > 0 && end + grown > sparseMaxBytes) return widenAndRaise(bytes, register, value);
    replace(bytes, at, replaced, split);
  }
  mergeRuns(bytes, before < 0 ? HEADER : before);
  invalidateCount(bytes);
  return 1;
}

/** The runs that take the place of one: what was left of the register, the register, what was right of it. */
function splitRun(byte: number, left: number, right: number, value: number): number[] {
  const runs: number[] = [];
  if (isValue(byte)) {
    if (left > 0) runs.push(valueByte(registerOf(byte), left));
    runs.push(valueByte(value, 1));
    if (right > 0) runs.push(valueByte(registerOf(byte), right));
    return runs;
  }
  pushZeros(runs, left);
  runs.push(valueByte(value, 1));
  pushZeros(runs, right);
  return runs;
}

function pushZeros(runs: number[], length: number): void {
  if (length > SHORT_ZEROS) runs.push(0x40 | ((length - 1) >> 8), (length - 1) & 0xff);
  else if (length > 0) runs.push(length - 1);
}

function replace(bytes: Bytes, at: number, removed: number, inserted: readonly number[]): void {
  const end = bytes.length;
  const length = end - removed + inserted.length;
  if (length > end) bytes.grow(length);
  bytes.raw.copyWithin(at + inserted.length, at + removed, end);
  bytes.raw.set(inserted, at);
  if (length < end) bytes.resize(length);
}

/** Joins neighbouring runs of one value, looking at no more than five places from `start` on, as Redis does. */
function mergeRuns(bytes: Bytes, start: number): void {
  const buffer = bytes.raw;
  let end = bytes.length;
  let at = start;
  for (let looks = 5; looks > 0 && at < end; looks--) {
    const byte = buffer[at]!;
    if (isLongZero(byte)) at += 2;
    else if (isZero(byte) || at + 1 >= end) at++;
    else {
      const next = buffer[at + 1]!;
      const run = runOf(byte) + runOf(next);
      if (isValue(next) && registerOf(next) === registerOf(byte) && run <= SPARSE_MAX_RUN) {
        buffer[at + 1] = valueByte(registerOf(byte), run);
        buffer.copyWithin(at, at + 1, end);
        end--;
      } else at++;
    }
  }
  if (end < bytes.length) bytes.resize(end);
}
