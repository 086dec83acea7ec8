/** Bytes: Node's Buffer. The engine's words are latin1 strings, and this is where they become bytes and bytes become words. */
import { Buffer, constants } from "node:buffer";

export { Buffer };

/** The longest string, and the most bytes in one piece, that there can be. */
export const LONGEST_STRING = constants.MAX_STRING_LENGTH;
export const MOST_BYTES = constants.MAX_LENGTH;
