/**
 * How long strings can be. Redis's limit is `proto-max-bulk-len`, 512 MB unless it is configured; V8's longest string has 24
 * bytes less. A value that could be made but not read would be a trap, so commands stop a little earlier: there is room for
 * what GET, DUMP and the files write around a value, and for the eight bytes by which BITFIELD may go beyond the limit. The
 * last 1 048 bytes of the 512 MB answer what Redis answers past its limit.
 */
import { LONGEST_STRING } from "../platform/bytes.ts";

/** The longest word that there can be at all. */
export const LONGEST_WORD = LONGEST_STRING;

/** The longest string value that a command makes, whatever is configured. */
export const LONGEST_VALUE = LONGEST_WORD - 1024;
