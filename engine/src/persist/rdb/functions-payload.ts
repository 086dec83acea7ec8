/** What FUNCTION DUMP returns and FUNCTION RESTORE takes: libraries as in an RDB, the version, and a checksum over it. */
import { Buffer } from "../../platform/bytes.ts";
import { Cursor, UNDERFLOW } from "./cursor.ts";
import { RdbError } from "./errors.ts";
import { Output } from "./output.ts";
import { OPCODE, RDB_VERSION } from "./types.ts";

const FOOTER = 10;

export function dumpFunctions(sources: readonly string[], compress: boolean): Buffer {
  const chunks: Buffer[] = [];
  const output = new Output((chunk) => void chunks.push(chunk), { compress, checksum: true, chunkBytes: 4096 });
  for (const source of sources) {
    output.byte(OPCODE.FUNCTION_2);
    output.word(source);
  }
  output.byte(RDB_VERSION & 0xff);
  output.byte(RDB_VERSION >> 8);
  output.checksum();
  output.flush();
  return Buffer.concat(chunks);
}

/** The libraries in a payload whose checksum is right. Throws RdbError. */
export function readFunctions(payload: Buffer): string[] | "not a function" {
  const cursor = new Cursor();
  cursor.bytes = payload;
  cursor.end = payload.length - FOOTER;
  const sources: string[] = [];
  try {
    while (cursor.at < cursor.end) {
      if (cursor.byte() !== OPCODE.FUNCTION_2) return "not a function";
      sources.push(cursor.word());
    }
    return sources;
  } catch (error) {
    if (error === UNDERFLOW) throw new RdbError("truncated", "the payload ends too early", cursor.end);
    throw error;
  }
}
