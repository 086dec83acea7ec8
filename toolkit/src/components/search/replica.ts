/**
 * What a process has of an index: the documents' ids and lengths, and of words, columns and the list of words what its queries
 * have touched. `sync` brings what a query needs up to date, in one round trip and as of one moment; then searching is a matter
 * of this process alone.
 *
 * Everything is a log that only grows (log.ts), so each trip carries what was appended since the last. When the index has not
 * changed at all, the answer is its version and nothing else. Word lists are dropped when they take more memory than allowed,
 * the ones longest unused first.
 *
 * That a log has the bytes which are known of it is certain as long as the server is the same. After a failover, or a restart
 * from its files, the last writes may be missing and others in their place: when the connection was lost, or the version has
 * gone back, everything is read anew.
 */

import { asBytes, asList } from "../../base/replies.ts";
import type { Reply } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import { type Column, Documents, type Followed, newColumn } from "./columns.ts";
import { columnKey, type IndexKeys, wordKey } from "./keys.ts";
import { Postings } from "./postings.ts";
import type { Schema } from "./schema.ts";
import { sync } from "./scripts.ts";
import { Vocabulary } from "./vocabulary.ts";

export interface Needs {
  readonly words: ReadonlySet<string>;
  readonly columns: ReadonlySet<string>;
  readonly vocabulary: boolean;
}

interface Entry<T extends Followed = Followed> {
  readonly key: string;
  /** Followed from its beginning; replaced when the log is gone. */
  value: T;
  /** The state of the index that it is known to be of. */
  checked: string;
}

/** More logs than this are not sent along when probably nothing has changed. */
const FEW_LOGS = 16;
const NO_BYTES = Buffer.alloc(0);
/** Of an entry that was never looked up. */
const NEVER = "never";

export class Replica {
  readonly keys: IndexKeys;
  readonly #store: Store;
  readonly #schema: Schema;
  readonly #cacheBytes: number;
  readonly #documents: Entry<Documents>;
  readonly #vocabulary: Entry<Vocabulary>;
  readonly #columns = new Map<string, Entry<Column>>();
  readonly #words = new Map<string, Entry<Postings>>();
  #wordBytes = 0;
  #life = "";
  #version = 0;
  #ghosts: readonly number[] = [];
  /** The server may not be the one that is known. */
  #isDoubtful = false;
  /** Life and version of the index as of the last trip. */
  #state = NEVER;

  constructor(store: Store, keys: IndexKeys, schema: Schema, cacheBytes: number) {
    this.#store = store;
    this.keys = keys;
    this.#schema = schema;
    this.#cacheBytes = cacheBytes;
    this.#documents = { key: keys.docs, value: new Documents(schema.text.length), checked: NEVER };
    this.#vocabulary = { key: keys.words, value: new Vocabulary(), checked: NEVER };
    // The store outlives this, and must not keep it.
    const self = new WeakRef(this);
    const stop = store.on("connection", (state) => {
      const replica = self.deref();
      if (replica === undefined) stop();
      else if (state === "lost") replica.#isDoubtful = true;
    });
  }

  get documents(): Documents {
    return this.#documents.value;
  }

  get vocabulary(): Vocabulary {
    return this.#vocabulary.value;
  }

  /** Changes with every write to the index. */
  get state(): string {
    return this.#state;
  }

  /** What this process keeps in memory of the index. */
  get sizeBytes(): number {
    let bytes = this.#wordBytes + this.documents.sizeBytes + this.vocabulary.sizeBytes;
    for (const { value } of this.#columns.values()) bytes += value.sizeBytes;
    return bytes;
  }

  /** Without ghosts: numbers that are no documents, though words name them (large-scripts.ts). */
  postings(word: string): Postings {
    return this.#words.get(word)!.value.without(this.#ghosts);
  }

  column(name: string): Column {
    return this.#columns.get(name)!.value;
  }

  /** Whether all of it is known as of one and the same moment. */
  has(needs: Needs): boolean {
    const state = this.#state;
    if (this.#documents.checked !== state || (needs.vocabulary && this.#vocabulary.checked !== state)) return false;
    for (const name of needs.columns) if (this.#columns.get(name)?.checked !== state) return false;
    for (const word of needs.words) if (this.#words.get(word)?.checked !== state) return false;
    return state !== NEVER;
  }

  async sync(needs: Needs): Promise<void> {
    if (this.#isDoubtful) {
      this.#isDoubtful = false;
      this.#forget();
    }
    const entries = this.#entries(needs);
    if (entries.length > FEW_LOGS && this.has(needs)) {
      const [life, version] = await this.#ask([], this.#state);
      if (`${life}${version}` === this.#state && !this.#isDoubtful) return;
    }
    const [life, version, ghosts, ...answers] = await this.#ask(entries, this.has(needs) ? this.#state : NEVER);
    const state = `${life}${version}`;
    if (state === this.#state && ghosts === undefined && !this.#isDoubtful) return;
    const isAnother = (String(life) !== this.#life || Number(version) < this.#version) && this.#state !== NEVER;
    this.#life = String(life);
    this.#version = Number(version);
    if (isAnother || this.#isDoubtful) {
      // What is known is of an index that is no more, however alike the generations are.
      this.#forget();
      return this.sync(needs);
    }
    this.#state = state;
    this.#ghosts = asList(ghosts).map(Number);
    for (const [at, entry] of entries.entries()) this.#apply(entry, answers[at]!);
    this.#evict(needs);
  }

  #entries(needs: Needs): Entry[] {
    const entries: Entry[] = [this.#documents];
    if (needs.vocabulary) entries.push(this.#vocabulary);
    for (const name of needs.columns) {
      let entry = this.#columns.get(name);
      if (entry === undefined) {
        entry = { key: columnKey(this.keys.base, name), value: this.#newColumn(name), checked: NEVER };
        this.#columns.set(name, entry);
      }
      entries.push(entry);
    }
    for (const word of needs.words) {
      let entry = this.#words.get(word);
      if (entry === undefined) {
        entry = { key: wordKey(this.keys.base, word), value: this.#newPostings(), checked: NEVER };
        this.#wordBytes += entry.value.sizeBytes;
      } else {
        this.#words.delete(word);
      }
      this.#words.set(word, entry);
      entries.push(entry);
    }
    return entries;
  }

  #newColumn(name: string): Column {
    return newColumn(this.#schema.column(name)!.type);
  }

  #newPostings(): Postings {
    return new Postings({ textFields: this.#schema.text.length, positions: this.#schema.positions });
  }

  async #ask(entries: readonly Entry[], known: string): Promise<Reply[]> {
    const reply = await this.#store.run(sync, {
      meta: this.keys.meta,
      ghosts: this.keys.ghosts,
      logs: entries.map(({ key }) => key),
      signature: this.#schema.signature,
      known,
      rest: entries.flatMap(({ value }) => (value.length === 0 ? [NO_BYTES, 0] : [value.generation, value.length])),
    });
    return asList(reply);
  }

  #apply(entry: Entry, answer: Reply): void {
    entry.checked = this.#state;
    if (answer === 0 || (answer === -1 && entry.value.length === 0)) return;
    const isList = entry.value instanceof Postings;
    const before = isList ? entry.value.sizeBytes : 0;
    if (answer === -1) entry.value = this.#fresh(entry);
    else if (Array.isArray(answer)) entry.value.replace(asBytes(answer[0]));
    else entry.value.append(asBytes(answer));
    if (isList) this.#wordBytes += entry.value.sizeBytes - before;
  }

  /** In the place of a log that is gone. */
  #fresh(entry: Entry): Followed {
    if (entry === this.#documents) return new Documents(this.#schema.text.length);
    if (entry === this.#vocabulary) return new Vocabulary();
    if (entry.value instanceof Postings) return this.#newPostings();
    return this.#newColumn(entry.key.slice(columnKey(this.keys.base, "").length));
  }

  /** Scores that the evaluation keeps with a list count too. */
  grew(bytes: number): void {
    this.#wordBytes += bytes;
  }

  #evict(needs: Needs): void {
    if (this.#wordBytes <= this.#cacheBytes) return;
    for (const [word, { value }] of this.#words) {
      if (this.#wordBytes <= this.#cacheBytes) return;
      if (needs.words.has(word)) continue;
      this.#words.delete(word);
      this.#wordBytes -= value.sizeBytes;
    }
  }

  #forget(): void {
    this.#documents.value = new Documents(this.#schema.text.length);
    this.#documents.checked = NEVER;
    this.#vocabulary.value = new Vocabulary();
    this.#vocabulary.checked = NEVER;
    this.#columns.clear();
    this.#words.clear();
    this.#wordBytes = 0;
    this.#state = NEVER;
    this.#ghosts = [];
  }
}
