/** Calls that may be repeated because they have an id: what was answered is kept for a while. */
import { word } from "../../base/checks.ts";

/** How long a call with the same id gives the same answer. */
export const RECEIPT_MS = 3_600_000;

/** How to make a call that may be repeated. */
export interface OnceOptions {
  /** With the id of a call that was made within the last hour, nothing happens and the answer is the same. None by default. */
  readonly id?: string;
}

export interface Receipt {
  readonly id: string;
  readonly keepMs: number;
}

export function receiptOf({ id }: OnceOptions): Receipt {
  return id === undefined ? { id: "none", keepMs: 0 } : { id: word("id", id, 256), keepMs: RECEIPT_MS };
}
