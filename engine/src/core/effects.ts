/**
 * What commands did, as the append-only file and the replicas get it, and the one place that decides how it is framed.
 *
 * A unit is what happened in one step: a command with the keys that expired under it, a transaction, a script, or one
 * blocked client that was served. A unit of several effects stands between MULTI and EXEC, so that a reader never stops
 * halfway. Keys that expired or were evicted by themselves, or that SCAN and RANDOMKEY came across, have nothing to do with
 * each other: they are a `batch`, which is not framed. The database is selected before MULTI, as Redis does it.
 */
import type { CommandWriter } from "../resp/command-writer.ts";

/** Who an effect is for, as bits; `redis.set_repl` gives the same numbers to scripts. */
export const FOR_FILE = 1;
export const FOR_REPLICAS = 2;
export const FOR_ALL = FOR_FILE | FOR_REPLICAS;

/** A write as the append-only file and the replicas see it. */
export interface Effect {
  readonly db: number;
  readonly argv: readonly string[];
  readonly audience: number;
}

export type Framing = "unit" | "batch";

export type EffectListener = (effects: readonly Effect[], framing: Framing) => void;

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
    if (effects.length === 1) {
      this.#write(effects[0]!);
      return;
    }
    const wanted = effects.filter(({ audience }) => (audience & this.#audience) !== 0);
    if (wanted.length === 0) return;
    const framed = framing === "unit";
    if (framed) {
      this.#select(wanted[0]!.db);
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
