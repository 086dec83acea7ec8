/** Replication ids: forty hexadecimal digits that name one history of the data. */
import type { Clock } from "../core/clock.ts";

export const ID_LENGTH = 40;

/** The id of no history. */
export const NO_ID = "0".repeat(ID_LENGTH);

export function randomHex(clock: Clock): string {
  let text = "";
  while (text.length < ID_LENGTH) text += Math.floor(clock.random() * 16).toString(16);
  return text;
}
