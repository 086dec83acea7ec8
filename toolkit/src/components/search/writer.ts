/**
 * Writes documents to one index. One document is one script, whatever was there before, as long as neither has too many words for
 * one; then it is several, of which readers see one (large-writes.ts). Many that are new go in batches, sorted by word, so that
 * each word's log is appended to once for all of them; what turns out to be there already goes one by one. Logs of which more
 * than half no longer counts are rewritten by the writer that the script names.
 */
import { word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { InputError, ServerError } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import { asBytes, asBytesOrNull, asList, asTuple } from "../../base/replies.ts";
import type { Word } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import {
  columnPayload,
  type Kept,
  type Prepared,
  parseKept,
  payloadAt,
  prepare,
  type Values,
  valuesHash,
} from "./document.ts";
import { columnKey, documentKey, type IndexKeys, wordKey } from "./keys.ts";
import { LargeWrites } from "./large-writes.ts";
import { Bytes, compacted, compactedWords, HEADER_BYTES, SKIP_VALUE, skipDocument, skipWord } from "./log.ts";
import { checkValue, type Schema } from "./schema.ts";
import { forRewrite, load, patch, put, type Removed, remove, rewrite, type Written } from "./scripts.ts";

/** What became of a document that was put. */
export type SetOutcome =
  | {
      /** `same`: it was there with the same content, and nothing has changed. */
      readonly status: "added" | "changed" | "same";
      /** The document's version now. */
      readonly version: number;
    }
  /** `ifVersion` was given, and the document is of another version; 0 if there is none. */
  | {
      /** `conflict`: nothing has changed. */
      readonly status: "conflict";
      /** The document's version; 0 if there is none. */
      readonly version: number;
    };

/** What became of a change: as of `set`, or there is no such document. */
export type UpdateOutcome =
  | SetOutcome
  | {
      /** `not-found`: there is no document with this id. */
      readonly status: "not-found";
    };

/** What became of documents that were put together. */
export interface SetManyOutcome {
  /** How many are new. */
  added: number;
  /** How many took the place of another version. */
  changed: number;
  /** How many were there with the same content. */
  same: number;
}

const MAX_ID_BYTES = 512;
/** Documents, and bytes of payloads, that go in one script. */
const BATCH_DOCUMENTS = 500;
const BATCH_BYTES = 1_000_000;
const REMOVED_AT_ONCE = 20;
const MAX_RENUMBERED = 8;
const MAX_CONFLICTS = 100;

export class Writer {
  readonly #store: Store;
  readonly #keys: IndexKeys;
  readonly #schema: Schema;
  readonly #atOnce: number;
  readonly #large: LargeWrites;
  /** The number that the next new document will probably get. */
  #next = 0;

  /** `atOnce`: how many words one script writes. */
  constructor(store: Store, keys: IndexKeys, schema: Schema, atOnce: number) {
    this.#store = store;
    this.#keys = keys;
    this.#schema = schema;
    this.#atOnce = atOnce;
    this.#large = new LargeWrites(store, keys, schema, atOnce);
  }

  /** `mark` makes its hash unlike that of any other document, with the same content or not. */
  async put(id: string, document: Values, ifVersion: number | undefined, mark = ""): Promise<SetOutcome> {
    const prepared = this.#prepared(id, document);
    const marked = mark === "" ? prepared : { ...prepared, hash: `${prepared.hash}.${mark}` };
    const { outcome: status, version, ripe } = await this.#put(marked, ifVersion);
    await this.#tidy(ripe);
    return { status, version };
  }

  async #put(prepared: Prepared, ifVersion: number | undefined): Promise<DoneWrite> {
    if (!this.#isLarge(prepared)) {
      const written = await this.#store.run(put, this.#putting(prepared, ifVersion));
      if (isDone(written)) return written;
    }
    return this.#large.put(prepared, ifVersion ?? -1);
  }

  #isLarge({ words }: Prepared): boolean {
    return words.length > this.#atOnce;
  }

  #prepared(id: string, document: Values): Prepared {
    checkId(id);
    this.#schema.check(document);
    return prepare(this.#schema, id, document);
  }

  /** `call` is of this call and its repetitions alone. */
  #common(id: string) {
    const { base, meta, docs, words, waste, free, ghosts } = this.#keys;
    const { signature } = this.#schema;
    const document = documentKey(base, id);
    const common = { document, meta, docs, words, waste, free, ghosts, base, signature, call: randomToken() };
    return { ...common, atOnce: this.#atOnce };
  }

  #putting(prepared: Prepared, ifVersion: number | undefined) {
    const { id, hash, stored, entry, blob, columns, words } = prepared;
    const rest: Word[] = [];
    for (const [{ name }, payload] of zipped(this.#schema.columns, columns)) rest.push(name, payload);
    for (const [at, each] of words.entries()) rest.push(each, payloadAt(prepared, at));
    const fields = this.#schema.description;
    const own = { fields, hash, ifVersion: ifVersion ?? -1, stored, entry, blob, columns: columns.length, rest };
    return { ...this.#common(id), ...own };
  }

  // ---------------------------------------------------------------------------------------------- many

  async putMany(
    documents: Iterable<readonly [string, Values]> | AsyncIterable<readonly [string, Values]>,
  ): Promise<SetManyOutcome> {
    const outcome: SetManyOutcome = { added: 0, changed: 0, same: 0 };
    let batch = new Map<string, Prepared>();
    let bytes = 0;
    const words = new Set<string>();
    const flush = async (): Promise<void> => {
      if (batch.size > 0) await this.#flush([...batch.values()], outcome);
      batch = new Map();
      bytes = 0;
      words.clear();
    };
    for await (const [id, document] of documents) {
      const prepared = this.#prepared(id, document);
      // The second of two with one id is a change of the first.
      if (batch.has(id) || this.#isLarge(prepared)) await flush();
      if (this.#isLarge(prepared)) {
        await this.#tidy(this.#count(await this.#put(prepared, undefined), outcome));
        continue;
      }
      for (const each of prepared.words) words.add(each);
      if (words.size > this.#atOnce) {
        await flush();
        for (const each of prepared.words) words.add(each);
      }
      batch.set(id, prepared);
      bytes += prepared.blob.length + prepared.stored.length;
      if (batch.size >= BATCH_DOCUMENTS || bytes >= BATCH_BYTES) await flush();
    }
    await flush();
    return outcome;
  }

  async #flush(batch: readonly Prepared[], outcome: SetManyOutcome): Promise<void> {
    let rest = batch;
    for (let attempt = 0; attempt < MAX_RENUMBERED && rest.length > 1; attempt++) {
      const [answer, ...details] = asList(await this.#store.run(load, this.#loading(rest)));
      if (answer === "loaded") {
        this.#next = Number(details[0]);
        outcome.added += rest.length;
        return;
      }
      if (answer === "there") {
        const there = new Set(details.map(Number));
        await this.#singly(
          rest.filter((_, at) => there.has(at)),
          outcome,
        );
        rest = rest.filter((_, at) => !there.has(at));
        continue;
      }
      this.#next = Number(details[0]);
      // Numbers of removed documents are given to single ones.
      if (Number(details[1]) >= rest.length) break;
    }
    await this.#singly(rest, outcome);
  }

  async #singly(batch: readonly Prepared[], outcome: SetManyOutcome): Promise<void> {
    const answers = await this.#store.pipeline(batch.map((each) => put.with(this.#putting(each, undefined))));
    const ripe = new Set<string>();
    for (const [each, answer] of zipped(batch, answers)) {
      if (answer instanceof ServerError) throw answer;
      const written = isDone(answer) ? answer : await this.#large.put(each, -1);
      for (const name of this.#count(written, outcome)) ripe.add(name);
    }
    await this.#tidy([...ripe]);
  }

  /** Answers which logs are to be written anew. */
  #count(written: DoneWrite, outcome: SetManyOutcome): readonly string[] {
    if (written.outcome !== "conflict") outcome[written.outcome]++;
    return written.ripe;
  }

  /** The batch with numbers from `#next` on, by word. */
  #loading(batch: readonly Prepared[]) {
    const { base, meta, docs, words, waste, free } = this.#keys;
    const byWord = new Map<string, Bytes>();
    const byColumn = new Map<string, Bytes>();
    const entries = new Bytes(batch.length * 32);
    const records: Buffer[] = [];
    const log = (of: Map<string, Bytes>, name: string, number: number): Bytes => {
      let bytes = of.get(name);
      if (bytes === undefined) {
        bytes = new Bytes(16);
        of.set(name, bytes);
      }
      bytes.varint(number);
      return bytes;
    };
    for (const [at, each] of batch.entries()) {
      const number = this.#next + at;
      entries.varint(number);
      entries.bytes(each.entry);
      const { words: said, payloads, ends } = each;
      for (let i = 0; i < said.length; i++) {
        log(byWord, said[i]!, number).bytes(payloads, i === 0 ? 0 : ends[i - 1]!, ends[i]!);
      }
      for (const [i, { name }] of this.#schema.columns.entries()) {
        if (each.columns[i]![0] !== 0) log(byColumn, name, number).bytes(each.columns[i]!);
      }
      const head = Buffer.from(`${number} 1 ${each.hash} ${each.blob.length} -\n`, "latin1");
      records.push(Buffer.concat([head, each.blob, Buffer.from(each.stored, "utf8")]));
    }
    const rest: Word[] = [...records];
    for (const [name, bytes] of byColumn) rest.push(name, bytes.taken());
    for (const [each, bytes] of byWord) rest.push(each, bytes.taken());
    return {
      ...{ meta, docs, words, waste, free, base },
      documents: batch.map(({ id }) => documentKey(base, id)),
      signature: this.#schema.signature,
      fields: this.#schema.description,
      call: randomToken(),
      first: this.#next,
      entries: entries.taken(),
      columns: byColumn.size,
      rest,
    };
  }

  // ---------------------------------------------------------------------------------------------- one, again

  async kept(id: string): Promise<Kept | null> {
    checkId(id);
    const record = asBytesOrNull(await this.#store.callBuffer("GET", documentKey(this.#keys.base, id)));
    return record === null ? null : parseKept(record);
  }

  /** Reads what is kept, and writes if nobody else has in between. */
  async patch(id: string, changes: Values, ifVersion: number | undefined): Promise<UpdateOutcome> {
    const columns = Object.entries(changes).filter(([, value]) => value !== undefined);
    for (const [name, value] of columns) {
      const column = this.#schema.sortable(name);
      if (value !== null) checkValue(column, value);
    }
    for (let attempt = 0; attempt < MAX_CONFLICTS; attempt++) {
      const kept = await this.kept(id);
      if (kept === null) return ifVersion === undefined ? { status: "not-found" } : { status: "conflict", version: 0 };
      if (ifVersion !== undefined && ifVersion !== kept.version) return { status: "conflict", version: kept.version };
      const written = (await this.#store.run(patch, this.#patching(id, kept, columns))) as DoneWrite;
      if (written.outcome === "conflict" && ifVersion === undefined) continue;
      await this.#tidy(written.ripe);
      return { status: written.outcome, version: written.version };
    }
    throw new InputError(`document "${id}" changed in each of ${MAX_CONFLICTS} attempts`);
  }

  #patching(id: string, kept: Kept, columns: readonly (readonly [string, unknown])[]) {
    const before = new Map<string, unknown>(Object.entries(JSON.parse(kept.stored)));
    const rest: Word[] = [];
    for (const [name, value] of columns) {
      if (value === null) before.delete(name);
      else before.set(name, value);
      rest.push(name, columnPayload(this.#schema.sortable(name), value));
    }
    const stored = Object.fromEntries(before);
    const hash = `${kept.hash.split(".")[0]}.${valuesHash(this.#schema, stored)}`;
    return { ...this.#common(id), hash, ifVersion: kept.version, stored: JSON.stringify(stored), rest };
  }

  async remove(ids: readonly string[], ifVersion: number | undefined): Promise<number> {
    for (const id of ids) checkId(id);
    const rest = this.#schema.columns.map(({ name }) => name);
    let removed = 0;
    // A server runs all that it has read of a pipeline before it turns to others.
    for (let from = 0; from < ids.length; from += REMOVED_AT_ONCE) {
      const some = ids.slice(from, from + REMOVED_AT_ONCE);
      const answers = await this.#store.pipeline(
        some.map((id) => remove.with({ ...this.#common(id), ifVersion: ifVersion ?? -1, rest })),
      );
      const ripe = new Set<string>();
      for (const [id, answer] of zipped(some, answers)) {
        if (answer instanceof ServerError) throw answer;
        const isLarge = answer.outcome === "large";
        const done: Removed = isLarge ? await this.#large.remove(id, ifVersion ?? -1) : answer;
        if (done.outcome === "removed") removed++;
        for (const name of done.ripe) ripe.add(name);
      }
      await this.#tidy([...ripe]);
    }
    return removed;
  }

  // ---------------------------------------------------------------------------------------------- logs written anew

  async #tidy(names: readonly string[]): Promise<void> {
    // The write itself is done. A log that stays as it is will be found again by the next one that adds to its waste.
    for (const name of names) await this.tidy(name).catch(() => false);
  }

  /** Writes a log without what no longer counts. False if somebody else just did, or it is gone. */
  async tidy(name: string): Promise<boolean> {
    if (name === "ghosts") {
      await this.#tidy(await this.#large.sweep());
      return true;
    }
    const { base, meta, docs, words, waste } = this.#keys;
    const key = name === "docs" ? docs : name === "words" ? words : this.#keyOf(base, name);
    const [log, wasted] = asTuple(asBytesOrNull, asBytes)(await this.#store.run(forRewrite, { log: key, waste, name }));
    if (log === null) return false;
    const body = name === "words" ? compactedWords(log) : compacted(log, this.#skip(name));
    const generation = log.subarray(0, HEADER_BYTES);
    const params = { log: key, meta, waste, name, generation, length: log.length, wasted: String(wasted), body };
    return Number(await this.#store.run(rewrite, params)) === 1;
  }

  #keyOf(base: string, name: string): string {
    return name.startsWith("w:") ? wordKey(base, name.slice(2)) : columnKey(base, name.slice(2));
  }

  #skip(name: string) {
    if (name === "docs") return skipDocument(this.#schema.text.length);
    if (name.startsWith("w:")) return skipWord(this.#schema.positions);
    return SKIP_VALUE[this.#schema.sortable(name.slice(2)).type];
  }
}

type DoneWrite = Written & { readonly outcome: Exclude<Written["outcome"], "large"> };

function isDone(written: Written): written is DoneWrite {
  return written.outcome !== "large";
}

function checkId(id: string): void {
  word("id", id, MAX_ID_BYTES);
}
