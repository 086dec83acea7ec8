/** Words that must not be seen by others: passwords. */
import type { Client } from "../../core/client.ts";

const REDACTED = "(redacted)";

/** Hides words of the running command, as far as there are so many, from MONITOR and the slow log. */
export function redact(client: Client, argv: readonly string[], ...places: number[]): void {
  const shown = [...(client.shownArgv ?? argv)];
  for (const place of places) if (place < shown.length) shown[place] = REDACTED;
  client.shownArgv = shown;
}

/** Hides all words from one on. */
export function redactFrom(client: Client, argv: readonly string[], first: number): void {
  client.shownArgv = argv.map((word, i) => (i < first ? word : REDACTED));
}
