/** What the processes of this folder are told, and what they say, a line of JSON each. */

import { out } from "../../kit/out.ts";
import type { Body } from "./record.ts";

export const CHAT = "team";

export interface ReaderOrder {
  readonly url: string;
  readonly member: string;
  readonly seed: number;
  /** Kills itself after so many messages, between fetching one and acknowledging it; never if 0. */
  readonly dieAfter: number;
}

export interface SenderOrder {
  readonly url: string;
  readonly sender: string;
  /** The first number to send: one that may have been sent, if another sender was killed. */
  readonly from: number;
}

export type Line =
  | { readonly kind: "got"; readonly id: number; readonly body: Body; readonly missed: number }
  | { readonly kind: "acknowledging" | "acknowledged"; readonly id: number }
  | { readonly kind: "sending" | "sent"; readonly number: number };

/** Said before anything else happens: what is in the pipe survives its writer. */
export function say(line: Line | "ready"): void {
  out(`${line === "ready" ? line : JSON.stringify(line)}\n`);
}
