/**
 * Reads an RDB file that comes in pieces, from a disk or a socket, and tells a handler what is in it.
 *
 *   const reader = new RdbReader(handler, limits);
 *   for (const piece of pieces) reader.feed(piece);
 *   reader.end();
 *
 * A piece is read as far as it goes; what is left of it, less than one element, is kept for the next (cursor.ts). The
 * checksum is taken over what has been read, a piece at a time.
 */
import { Buffer } from "../../platform/bytes.ts";
import type { Limits } from "../../types/collection.ts";
import type { Value } from "../../types/value.ts";
import { Crc64 } from "./crc64.ts";
import { Cursor, UNDERFLOW } from "./cursor.ts";
import { EMPTY } from "./empty.ts";
import { RdbError } from "./errors.ts";
import { skipModuleValue } from "./module-value.ts";
import { FIRST_OPCODE, isReadable, moduleName, NEWEST_READ, OPCODE, RDB, typeLabel } from "./types.ts";
import { ValueReader } from "./value-reader.ts";

export interface RdbHandler {
  /** A key; `type` is the form in which the file has it. */
  key(key: string, value: Value, attributes: KeyAttributes, type: number): void;
  version?(version: number): void;
  aux?(name: string, value: string): void;
  selectDb?(index: number): void;
  resizeDb?(keys: number, expires: number): void;
  /** A library of functions, as its source. */
  function?(source: string): void;
  /** A collection without elements, which is left out. */
  emptyKey?(key: string): void;
  /** Data of a module, or a key that holds some. Without this they are an error. */
  module?(name: string, key: string | undefined): void;
  /** What is about to be read, for reports on faults. */
  beginKey?(key: string, type: number): void;
  /** The file is complete, and its checksum right. */
  end?(): void;
}

/** What stands before a key. The object is used again for the next one. */
export interface KeyAttributes {
  /** Milliseconds since 1970. */
  deadline: number | undefined;
  /** Seconds since the last access. */
  idle: number | undefined;
  /** How often it was accessed, 0 to 255. */
  frequency: number | undefined;
}

const MAGIC = "REDIS";
const MAGIC_BYTES = 9;
const CHECKSUM_BYTES = 8;
/** Files before this version have no checksum. */
const FIRST_CHECKED = 5;

// What comes next.
const HEAD = 0;
const ITEM = 1;
const VALUE = 2;
const CHECKSUM = 3;
const DONE = 4;

export class RdbReader {
  readonly #handler: RdbHandler;
  readonly #limits: Limits;
  readonly #checksum: boolean;
  readonly #cursor = new Cursor();
  readonly #values = new ValueReader();
  readonly #crc = new Crc64();
  readonly #attributes: KeyAttributes = { deadline: undefined, idle: undefined, frequency: undefined };
  #state = HEAD;
  #version = 0;
  #verified = false;
  #key = "";
  #type = 0;
  /** Pieces that wait until there is enough for the next step. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  /** Without `checksum` the file's own is not looked at. */
  constructor(handler: RdbHandler, limits: Limits, options: { checksum?: boolean } = {}) {
    this.#handler = handler;
    this.#limits = limits;
    this.#checksum = options.checksum ?? true;
  }

  /** Whether the file is complete. */
  get done(): boolean {
    return this.#state === DONE;
  }

  /** How many bytes have been read, and not only fed. */
  get offset(): number {
    return this.#cursor.base + this.#cursor.mark;
  }

  /** How far the step has come that is being made; for handlers, which are called within one. */
  get position(): number {
    return this.#cursor.offset;
  }

  /** Whether the file had a checksum, and it was right. */
  get checksumVerified(): boolean {
    return this.#verified;
  }

  /** What was fed behind the end of the file. */
  rest(): Buffer {
    const { bytes, at, end } = this.#cursor;
    return Buffer.concat([bytes.subarray(at, end), ...this.#waiting]);
  }

  /** Reads a piece; true when the file is complete. The piece may be written over afterwards. Throws RdbError. */
  feed(piece: Buffer): boolean {
    const cursor = this.#cursor;
    const kept = cursor.end - cursor.mark;
    if (this.#state === DONE || kept + this.#waitingBytes + piece.length < cursor.needed) {
      this.#waiting.push(Buffer.from(piece));
      this.#waitingBytes += piece.length;
      return this.#state === DONE;
    }
    this.#take(piece);
    this.#read();
    return this.#state === DONE;
  }

  /** Says that no more will come. */
  end(): void {
    if (this.#state === DONE) return;
    const { base, end } = this.#cursor;
    if (this.#state === HEAD) throw new RdbError("corrupt", "the file is too short to be an RDB file", base + end);
    throw new RdbError("truncated", "the file ends too early", base + end + this.#waitingBytes);
  }

  /** Puts a piece behind what was left over. */
  #take(piece: Buffer): void {
    const cursor = this.#cursor;
    const left = cursor.bytes.subarray(cursor.mark, cursor.end);
    cursor.base += cursor.mark;
    cursor.bytes =
      left.length === 0 && this.#waitingBytes === 0 ? piece : Buffer.concat([left, ...this.#waiting, piece]);
    cursor.at = cursor.mark = 0;
    cursor.end = cursor.bytes.length;
    cursor.needed = 0;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  #read(): void {
    const cursor = this.#cursor;
    try {
      while (this.#state !== DONE) {
        this.#step();
        cursor.commit();
      }
    } catch (error) {
      if (error !== UNDERFLOW) throw error;
      cursor.at = cursor.mark;
    }
    if (this.#state < DONE && this.#checksum) this.#crc.update(cursor.bytes, 0, cursor.mark);
    // The piece belongs to the caller, who may use it again.
    cursor.bytes = Buffer.from(cursor.bytes.subarray(cursor.mark, cursor.end));
    cursor.base += cursor.mark;
    cursor.end -= cursor.mark;
    cursor.at = cursor.mark = 0;
  }

  #step(): void {
    switch (this.#state) {
      case HEAD:
        this.#head();
        break;
      case ITEM:
        this.#item();
        break;
      case VALUE:
        this.#value();
        break;
      default:
        this.#end();
    }
  }

  #head(): void {
    const cursor = this.#cursor;
    const magic = cursor.slice(MAGIC_BYTES);
    const refuse = (kind: "corrupt" | "unsupported", reason: string): RdbError => new RdbError(kind, reason, 0);
    if (magic.startsWith("VALKEY")) {
      throw refuse("unsupported", `a file of Valkey's own format ${magic.slice(6)}, which only Valkey reads`);
    }
    const version = Number(magic.slice(MAGIC.length));
    if (!magic.startsWith(MAGIC) || !/^\d{4}$/.test(magic.slice(MAGIC.length))) {
      throw refuse("corrupt", "the file does not begin as an RDB file does");
    }
    if (version < 1 || version > NEWEST_READ) {
      throw refuse("unsupported", `RDB version ${version} is not one of 1 to ${NEWEST_READ}`);
    }
    this.#version = version;
    this.#handler.version?.(version);
    this.#state = ITEM;
  }

  #item(): void {
    const opcode = this.#cursor.byte();
    if (opcode >= FIRST_OPCODE) {
      this.#opcode(opcode);
      return;
    }
    if (!isReadable(opcode) && opcode !== RDB.MODULE_2) {
      throw new RdbError("unsupported", `values of type ${typeLabel(opcode)} cannot be read`, this.offset);
    }
    this.#type = opcode;
    this.#key = this.#cursor.word();
    this.#handler.beginKey?.(this.#key, opcode);
    this.#cursor.commit();
    this.#state = VALUE;
    this.#value();
  }

  #value(): void {
    if (this.#type === RDB.MODULE_2 && this.#handler.module !== undefined) {
      const name = moduleName(this.#cursor.length64());
      skipModuleValue(this.#cursor);
      this.#handler.module(name, this.#key);
    } else if (this.#type === RDB.MODULE_2) {
      const name = moduleName(this.#cursor.length64());
      throw new RdbError("unsupported", `a value of the module type ${name} cannot be read`, this.offset);
    } else {
      const value = this.#values.read(this.#type, this.#cursor, this.#limits);
      if (value === EMPTY) this.#handler.emptyKey?.(this.#key);
      else this.#handler.key(this.#key, value, this.#attributes, this.#type);
    }
    const attributes = this.#attributes;
    attributes.deadline = attributes.idle = attributes.frequency = undefined;
    this.#state = ITEM;
  }

  #opcode(opcode: number): void {
    const cursor = this.#cursor;
    const attributes = this.#attributes;
    switch (opcode) {
      case OPCODE.EXPIRE_MS:
        attributes.deadline = cursor.time();
        return;
      case OPCODE.EXPIRE:
        attributes.deadline = cursor.bytes.readInt32LE(cursor.skip(4)) * 1000;
        return;
      case OPCODE.FREQ:
        attributes.frequency = cursor.byte();
        return;
      case OPCODE.IDLE:
        attributes.idle = cursor.length();
        return;
      case OPCODE.SELECT_DB: {
        const index = cursor.length();
        this.#handler.selectDb?.(index);
        return;
      }
      case OPCODE.EOF:
        this.#state = CHECKSUM;
        return;
      default:
        this.#rareOpcode(opcode);
    }
  }

  #rareOpcode(opcode: number): void {
    const cursor = this.#cursor;
    switch (opcode) {
      case OPCODE.RESIZE_DB: {
        const keys = cursor.length();
        const expires = cursor.length();
        this.#handler.resizeDb?.(keys, expires);
        return;
      }
      case OPCODE.AUX: {
        const name = cursor.word();
        const value = cursor.word();
        this.#handler.aux?.(name, value);
        return;
      }
      case OPCODE.FUNCTION_2: {
        const source = cursor.word();
        this.#handler.function?.(source);
        return;
      }
      case OPCODE.SLOT_INFO:
        for (let i = 0; i < 3; i++) cursor.length();
        return;
      case OPCODE.MODULE_AUX:
        this.#moduleAux();
        return;
      default: {
        const what = opcode === OPCODE.FUNCTION ? "a function in the form of a pre-release" : `opcode ${opcode}`;
        throw new RdbError("unsupported", `${what} cannot be read`, this.offset);
      }
    }
  }

  #moduleAux(): void {
    const cursor = this.#cursor;
    const name = moduleName(cursor.length64());
    if (this.#handler.module === undefined) {
      throw new RdbError("unsupported", `data of the module ${name} cannot be read`, this.offset);
    }
    // When it is to be loaded: before the keys or behind them, as a number of the module's own kind.
    cursor.length();
    cursor.length();
    skipModuleValue(cursor);
    this.#handler.module(name, undefined);
  }

  #end(): void {
    const cursor = this.#cursor;
    if (this.#version >= FIRST_CHECKED) {
      const at = cursor.skip(CHECKSUM_BYTES);
      const given = cursor.bytes.subarray(at, cursor.at);
      if (this.#checksum && given.some((byte) => byte !== 0)) {
        this.#crc.update(cursor.bytes, 0, at);
        if (!this.#crc.matches(cursor.bytes, at)) {
          throw new RdbError("checksum", "the checksum is wrong: the file was changed or damaged", cursor.base + at);
        }
        this.#verified = true;
      }
    }
    this.#state = DONE;
    this.#handler.end?.();
  }
}
