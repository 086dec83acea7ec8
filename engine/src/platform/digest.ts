/** Digests of words, one char a byte, and comparing them without telling where they differ. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Buffer } from "./bytes.ts";

/** A digest as lower-case hexadecimal digits. */
export const sha1Hex = (word: string): string => createHash("sha1").update(word, "latin1").digest("hex");

export const sha256Hex = (word: string): string => createHash("sha256").update(word, "latin1").digest("hex");

export const sha1 = (bytes: Uint8Array): Buffer => createHash("sha1").update(bytes).digest();

/** Whether two lists of bytes are the same; how long it takes depends on their length alone. */
export function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
