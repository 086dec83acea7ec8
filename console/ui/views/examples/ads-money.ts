/** Millionths of a euro, to and from what people write. */
import { Failure } from "../../api.ts";

export function euros(micros: number): string {
  const digits = micros !== 0 && Math.abs(micros) < 100_000 ? 4 : 2;
  const amount = Math.abs(micros / 1_000_000).toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${micros < 0 ? "−" : ""}€ ${amount}`;
}

/** Undefined for an empty text. Throws the error that the page shows for a text that is not an amount. */
export function microsOf(text: unknown): number | undefined {
  const written = String(text ?? "")
    .trim()
    .replace(",", ".");
  if (written === "") return undefined;
  const micros = Math.round(Number(written) * 1_000_000);
  if (Number.isFinite(micros) && micros > 0) return micros;
  throw new Failure(400, "AMOUNT", "an amount is a number such as 0.25");
}

export const plain = (micros: number | undefined): string => (micros === undefined ? "" : String(micros / 1_000_000));
