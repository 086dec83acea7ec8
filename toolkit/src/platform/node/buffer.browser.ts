/** Stands for `node:buffer` in browsers. */
export { Buffer } from "@cinnabar/engine/browser";

export const isAscii = (bytes: Uint8Array): boolean => bytes.every((byte) => byte < 0x80);

const decoder = new TextDecoder("utf-8", { fatal: true });

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    decoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
