/** Reading times to live: EXPIRE's family, and the EX, PX, EXAT and PXAT of SET and GETEX. */
import { invalidExpire, NOT_AN_INTEGER } from "../../core/errors.ts";
import { INT64_MAX, INT64_MIN, parseInt64 } from "../../lib/numbers.ts";

export interface TimeForm {
  readonly seconds: boolean;
  readonly absolute: boolean;
}

/** SET's and GETEX's options, by name. */
export const TIME_OPTIONS: Readonly<Record<string, TimeForm>> = {
  ex: { seconds: true, absolute: false },
  px: { seconds: false, absolute: false },
  exat: { seconds: true, absolute: true },
  pxat: { seconds: false, absolute: true },
};

/**
 * The deadline in ms that a word means. Redis counts in int64 and refuses what overflows it; deadlines past the year 287 396
 * are kept to the nearest double.
 */
export function deadlineOf(word: string, form: TimeForm, now: number, command: string): number {
  const value = parseInt64(word);
  if (value === undefined) throw NOT_AN_INTEGER;
  const unit = form.seconds ? 1000 : 1;
  const base = form.absolute ? 0 : now;
  if (typeof value === "number") {
    const ms = value * unit + base;
    if (Number.isSafeInteger(ms) && Number.isSafeInteger(value * unit)) return ms;
  }
  const scaled = BigInt(value) * BigInt(unit);
  if (scaled > INT64_MAX - BigInt(base) || scaled < INT64_MIN) throw invalidExpire(command);
  return Number(scaled + BigInt(base));
}

/** The same where zero and less are refused: SET, SETEX, GETEX. */
export function positiveDeadlineOf(word: string, form: TimeForm, now: number, command: string): number {
  const value = parseInt64(word);
  if (value !== undefined && value <= 0) throw invalidExpire(command);
  return deadlineOf(word, form, now, command);
}
