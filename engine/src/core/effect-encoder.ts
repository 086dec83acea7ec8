/**
 * Effects as commands for one reader, and the one place that decides how they are framed: a unit of several stands between
 * MULTI and EXEC. The database is selected before MULTI, as Redis does it.
 */
import type { CommandWriter } from "../resp/command-writer.ts";
import type { Effect, Framing } from "./effects.ts";

const MULTI = ["MULTI"];
const EXEC = ["EXEC"];

/** Writes effects for one reader, who has one database selected at a time. */
export class EffectEncoder {
  /** The database that the reader has selected; -1 when that must be said again. */
  db = -1;
  readonly #writer: CommandWriter;
  readonly #audience: number;

  constructor(writer: CommandWriter, audience: number) {
    this.#writer = writer;
    this.#audience = audience;
  }

  write(effects: readonly Effect[], framing: Framing): void {
    const only = effects[0];
    if (only !== undefined && effects.length === 1) {
      this.#write(only);
      return;
    }
    const wanted = effects.filter(({ audience }) => (audience & this.#audience) !== 0);
    const first = wanted[0];
    if (first === undefined) return;
    const framed = framing === "unit";
    if (framed) {
      this.#select(first.db);
      this.#writer.command(MULTI);
    }
    for (const effect of wanted) this.#write(effect);
    if (framed) this.#writer.command(EXEC);
  }

  #write({ db, argv, audience }: Effect): void {
    if ((audience & this.#audience) === 0) return;
    this.#select(db);
    this.#writer.command(argv);
  }

  #select(db: number): void {
    if (db === this.db) return;
    this.db = db;
    this.#writer.command(["SELECT", String(db)]);
  }
}
