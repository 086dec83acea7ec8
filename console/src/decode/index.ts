/**
 * Values as people read them. A form is chosen by the reader or found by itself: what is compressed is opened first, then what is
 * inside is looked at. Decoding is bounded on both sides: so many bytes go in, and what comes out of a few of them ends at a limit
 * instead of filling the memory.
 */
import { isUtf8 } from "node:buffer";
import { Problem } from "../route.ts";
import { decodeJava } from "./java.ts";
import { decodeMessagePack } from "./msgpack.ts";
import { isTooLarge, lacking, PACK, type Packing, UNPACK } from "./packing.ts";
import { decodePhp } from "./php.ts";
import { decodeProtobuf } from "./protobuf.ts";
import { NotThisForm } from "./tree.ts";

/** What can be asked for. */
export const FORMS = [
  ...(["auto", "text", "json", "hex", "base64", "gzip", "deflate", "brotli", "zstd"] as const),
  ...(["msgpack", "protobuf", "java", "php"] as const),
] as const;
export type Form = (typeof FORMS)[number];
type Inner = Exclude<Form, Packing | "auto">;

/** Compressed or not, more than this is not decoded as a whole. */
export const MOST_BYTES = 8 * 1_048_576;
/** Forms with parts are looked at up to here. */
const MOST_STRUCTURED = 1_048_576;

const isPacking = (form: Form): form is Packing => form in UNPACK;

/** The forms that are known here. */
export const KNOWN_FORMS: readonly Form[] = FORMS.filter((form) => !isPacking(form) || UNPACK[form] !== null);

const STRUCTURED: Readonly<Partial<Record<Inner, (input: Buffer) => string>>> = {
  msgpack: decodeMessagePack,
  protobuf: decodeProtobuf,
  java: decodeJava,
  php: decodePhp,
};

const MAGIC: readonly (readonly [Packing, (input: Buffer) => boolean])[] = [
  ["gzip", (input) => input[0] === 0x1f && input[1] === 0x8b],
  ["zstd", (input) => input.length > 4 && input.readUInt32LE() === 0xfd2fb528],
  ["deflate", (input) => input[0] === 0x78 && input.length > 2 && input.readUInt16BE() % 31 === 0],
];

async function unpacked(packing: Packing, input: Buffer): Promise<Buffer> {
  const unpack = UNPACK[packing];
  if (unpack === null) throw new Problem(422, "FORM", lacking(packing));
  try {
    return await unpack(input, MOST_BYTES);
  } catch (error) {
    throw new Problem(
      422,
      "FORM",
      isTooLarge(error)
        ? `it unpacks to more than ${MOST_BYTES / 1_048_576} MB, which is not shown`
        : `it is no ${packing}`,
    );
  }
}

const isJson = (input: Buffer): boolean => {
  if (input.length > MOST_STRUCTURED || !/^\s*[[{"\d-]/.test(input.subarray(0, 64).toString("latin1"))) return false;
  try {
    const value: unknown = JSON.parse(input.toString());
    // A lone number or text is read as well as it is.
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
};

const reads = (decode: (input: Buffer) => string, input: Buffer): boolean => {
  if (input.length > MOST_STRUCTURED) return false;
  try {
    decode(input);
    return true;
  } catch (error) {
    if (error instanceof NotThisForm) return false;
    throw error;
  }
};

/** Text that JavaScript and a page can show; zero bytes are no text. */
const isText = (input: Buffer): boolean => isUtf8(input) && !input.includes(0);

function innerOf(input: Buffer): Inner {
  if (isText(input)) {
    if (isJson(input)) return "json";
    return /^([aOCE]:\d+:|[isdb]:-?[\d.]+[:;]|N;)/.test(input.subarray(0, 32).toString("latin1")) &&
      reads(decodePhp, input)
      ? "php"
      : "text";
  }
  if (input[0] === 0xac && input[1] === 0xed && reads(decodeJava, input)) return "java";
  if (/^[aO]:\d+:/.test(input.subarray(0, 32).toString("latin1")) && reads(decodePhp, input)) return "php";
  // Of MessagePack only what has parts: any byte would be a number.
  const first = input[0] ?? 0;
  const hasParts = (first > 0x80 && first <= 0x9f) || (first >= 0xdc && first <= 0xdf);
  if (hasParts && reads(decodeMessagePack, input)) return "msgpack";
  return reads(decodeProtobuf, input) ? "protobuf" : "hex";
}

async function packingOf(input: Buffer): Promise<Packing | null> {
  for (const [packing, begins] of MAGIC) {
    if (!begins(input) || UNPACK[packing] === null) continue;
    const isSo = await unpacked(packing, input).then(
      () => true,
      (problem: Problem) => /unpacks to more/.test(problem.message),
    );
    if (isSo) return packing;
  }
  return null;
}

/** Brotli has no sign of its own: it is tried where nothing else fits, and taken where text comes out. */
async function isBrotli(input: Buffer): Promise<boolean> {
  if (input.length < 4 || input.length > MOST_STRUCTURED) return false;
  const found = await unpacked("brotli", input).catch(() => null);
  return found !== null && found.length > 0 && isText(found);
}

export interface Decoded {
  /** The forms, outermost first: `gzip`, `json`. */
  readonly forms: readonly Form[];
  /** What the last of them says: text, JSON text, hexadecimal or base64. */
  readonly text: string;
  /** Of what is inside of the compression. */
  readonly bytes: number;
}

/** What a form says of bytes. */
export function shownAs(form: Inner, input: Buffer): string {
  if (form === "hex") return input.toString("hex");
  if (form === "base64") return input.toString("base64");
  const decode = STRUCTURED[form];
  if (decode !== undefined) {
    if (input.length > MOST_STRUCTURED) throw new Problem(422, "FORM", `more than 1 MB is not read as ${form}`);
    try {
      return decode(input);
    } catch (error) {
      if (error instanceof NotThisForm) throw new Problem(422, "FORM", `it is no ${form}: ${error.message}`);
      throw error;
    }
  }
  if (!isUtf8(input)) throw new Problem(422, "FORM", `it is no ${form}: its bytes are not UTF-8`);
  return input.toString();
}

export async function decode(input: Buffer, form: Form): Promise<Decoded> {
  const forms: Form[] = [];
  let bytes = input;
  let wanted = form;
  if (isPacking(wanted)) {
    bytes = await unpacked(wanted, bytes);
    forms.push(wanted);
    wanted = "auto";
  } else if (wanted === "auto") {
    const packing = isText(bytes) ? null : await packingOf(bytes);
    if (packing !== null) {
      bytes = await unpacked(packing, bytes);
      forms.push(packing);
    }
  }
  let inner = wanted === "auto" ? innerOf(bytes) : wanted;
  if (wanted === "auto" && inner === "hex" && forms.length === 0 && (await isBrotli(bytes))) {
    bytes = await unpacked("brotli", bytes);
    forms.push("brotli");
    inner = innerOf(bytes);
  }
  return { forms: [...forms, inner], text: shownAs(inner, bytes), bytes: bytes.length };
}

/** Forms in which a value can be written: text, hexadecimal, base64, and compressed text. */
export const WRITTEN = ["text", "hex", "base64", "gzip", "deflate", "brotli", "zstd"] as const;
export type Written = (typeof WRITTEN)[number];

/** The bytes of what was typed. */
export async function encode(text: string, form: Written): Promise<Buffer> {
  if (form === "text") return Buffer.from(text);
  if (form === "hex") {
    const digits = text.replace(/\s+/g, "");
    if (!/^([0-9a-f]{2})*$/i.test(digits)) throw new Problem(400, "INPUT", "hexadecimal has two digits for each byte");
    return Buffer.from(digits, "hex");
  }
  if (form === "base64") {
    const letters = text.replace(/\s+/g, "");
    if (!/^([\w+/-]{4})*([\w+/-]{2}(==)?|[\w+/-]{3}=?)?$/.test(letters))
      throw new Problem(400, "INPUT", "that is no base64");
    return Buffer.from(letters, "base64");
  }
  const pack = PACK[form];
  if (pack === null) throw new Problem(422, "FORM", lacking(form));
  return pack(Buffer.from(text));
}
