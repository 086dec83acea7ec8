/** Stands for `node:buffer` in browsers. */
export { Buffer } from "@cinnabar/engine/browser";

export const isAscii = (bytes: Uint8Array): boolean => bytes.every((byte) => byte < 0x80);
