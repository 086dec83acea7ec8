/** Writes documents of many words, in steps that are short for the server and one step for readers (large-scripts.ts). */
import { randomToken } from "../../base/clock.ts";
import { CinnabarError } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import { asBytesOrNull, asList, wordOf } from "../../base/replies.ts";
import type { Word } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import { type Prepared, parseWords, payloadAt } from "./document.ts";
import { documentKey, ghostKey, type IndexKeys } from "./keys.ts";
import { claimGhosts, commit, type Ghost, retire, stage, stageBegin, sweep } from "./large-scripts.ts";
import type { Schema } from "./schema.ts";
import { asRemovedOutcome, type Removed, type Written } from "./scripts.ts";

const asDone = wordOf("added", "changed", "same", "conflict");
type DoneWrite = Written & { readonly outcome: ReturnType<typeof asDone> };

/** A ghost that nobody has worked at for so long is taken over. */
const LEASE_MS = 30_000;
const MAX_LOST = 10;

export class LargeWrites {
  readonly #store: Store;
  readonly #keys: IndexKeys;
  readonly #schema: Schema;
  readonly #atOnce: number;

  /** `atOnce`: how many words one step writes. */
  constructor(store: Store, keys: IndexKeys, schema: Schema, atOnce: number) {
    this.#store = store;
    this.#keys = keys;
    this.#schema = schema;
    this.#atOnce = atOnce;
  }

  #common(id: string, call: string) {
    const { base, meta, docs, words, waste, free, ghosts } = this.#keys;
    const { signature } = this.#schema;
    const document = documentKey(base, id);
    return { ...{ document, meta, docs, words, waste, free, ghosts, base, signature, call }, leaseMs: LEASE_MS };
  }

  async put(prepared: Prepared, ifVersion: number): Promise<DoneWrite> {
    for (let attempt = 0; attempt < MAX_LOST; attempt++) {
      const call = randomToken();
      const written = await this.#staged(prepared, ifVersion, call).catch(async (error) => {
        // What is left of it is swept by a later writer if not now.
        await this.sweep(call).catch(() => {});
        throw error;
      });
      const ripe = await this.sweep(call).catch(() => []);
      if (written !== null) return { ...written, ripe: [...written.ripe, ...ripe] };
    }
    const message = `a document of ${prepared.words.length} words was overtaken in each of ${MAX_LOST} attempts`;
    throw new CinnabarError("CONFLICT", message);
  }

  /** Null when another writer has taken its ghost over, which happens to a process that is stopped for a long time. */
  async #staged(prepared: Prepared, ifVersion: number, call: string): Promise<DoneWrite | null> {
    const { id, hash, blob, stored, entry, columns, words } = prepared;
    const common = { ...this.#common(id, call), hash, ifVersion, blob };
    const fields = this.#schema.description;
    const begun = await this.#store.run(stageBegin, { ...common, fields, total: words.length });
    if (begun.outcome !== "staged") {
      return { outcome: asDone(begun.outcome), version: begun.number, ripe: [] };
    }
    const { number } = begun;
    for (let from = 0; from < words.length; from += this.#atOnce) {
      const rest: Word[] = [];
      for (const [nth, word] of words.slice(from, from + this.#atOnce).entries()) {
        rest.push(word, payloadAt(prepared, from + nth));
      }
      if (!(await this.#store.run(stage, { ...common, number, from, rest }))) return null;
    }
    const rest = zipped(this.#schema.columns, columns).flatMap(([{ name }, payload]) => [name, payload]);
    const reply = asList(await this.#store.run(commit, { ...common, stored, entry, number, rest }));
    const [outcome, version, ...ripe] = reply;
    if (String(outcome) === "lost") return null;
    return { outcome: asDone(String(outcome)), version: Number(version), ripe: ripe.map(String) };
  }

  async remove(id: string, ifVersion: number): Promise<Removed> {
    const call = randomToken();
    const rest = this.#schema.columns.map(({ name }) => name);
    const reply = asList(await this.#store.run(retire, { ...this.#common(id, call), ifVersion, rest }));
    const [outcome, version, ...names] = reply;
    const swept = await this.sweep(call).catch(() => []);
    const ripe = [...names.map(String), ...swept];
    return { outcome: asRemovedOutcome(String(outcome)), version: Number(version), ripe };
  }

  /** Takes out what a call has left, and what others have left who are gone. Answers which logs are to be written anew. */
  async sweep(call = randomToken()): Promise<string[]> {
    const claimed = await this.#store.run(claimGhosts, { ghosts: this.#keys.ghosts, call, leaseMs: LEASE_MS });
    const ripe = new Set<string>();
    for (const ghost of claimed) for (const name of await this.#sweep(ghost, call)) ripe.add(name);
    return [...ripe];
  }

  async #sweep({ number, at, total }: Ghost, call: string): Promise<string[]> {
    const { base } = this.#keys;
    const record = asBytesOrNull(await this.#store.callBuffer("GET", ghostKey(base, number)));
    // Somebody else was quicker.
    if (record === null) return [];
    const words = parseWords(record);
    const columns = JSON.stringify(this.#schema.columns.map(({ name }) => name));
    const ripe: string[] = [];
    let from = at;
    do {
      const rest = words.slice(from, Math.min(total, from + this.#atOnce)).flatMap(({ size, word }) => [size, word]);
      ripe.push(...(await this.#store.run(sweep, { ...this.#common("", call), number, from, columns, rest })));
      from += this.#atOnce;
    } while (from < total);
    return ripe;
  }
}
