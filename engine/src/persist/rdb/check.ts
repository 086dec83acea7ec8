/**
 * What is in an RDB file, and whether it is sound: for people, in the manner of redis-check-rdb. Every value is read as if it
 * were loaded, so what passes here loads.
 */

import { quoteWord } from "../../lib/quote.ts";
import { Buffer } from "../../platform/bytes.ts";
import { closeSync, openSync, readSync } from "../../platform/files.ts";
import { DEFAULT_LIMITS } from "../../types/collection.ts";
import type { Value } from "../../types/value.ts";
import { RdbError } from "./errors.ts";
import { type KeyAttributes, type RdbHandler, RdbReader } from "./reader.ts";
import { typeLabel, typeName } from "./types.ts";

const READ_BYTES = 1 << 20;

interface DbCount {
  keys: number;
  expires: number;
  /** Keys by the form in which the file has them. */
  readonly forms: Map<number, number>;
}

/** Prints as it reads, and counts. */
class Report implements RdbHandler {
  readonly #print: (line: string) => void;
  readonly #now: number;
  readonly #dbs = new Map<number, DbCount>();
  readonly #modules = new Map<string, number>();
  readonly reader: RdbReader;
  #db = 0;
  #empty = 0;
  #alreadyExpired = 0;
  #functions = 0;
  /** What is being read. */
  #doing = "the head of the file";
  #key: string | undefined;
  #type = 0;

  constructor(print: (line: string) => void, now: number) {
    this.#print = print;
    this.#now = now;
    this.reader = new RdbReader(this, DEFAULT_LIMITS);
  }

  #at(offset: number, text: string): void {
    this.#print(`[offset ${offset}] ${text}`);
  }

  #here(text: string): void {
    this.#at(this.reader.position, text);
  }

  version(version: number): void {
    this.#here(`RDB version ${version}`);
    this.#doing = "what comes next";
  }

  aux(name: string, value: string): void {
    this.#here(`AUX FIELD ${name} = ${quoteWord(value)}`);
  }

  function(source: string): void {
    this.#functions++;
    const [line = source] = source.split("\n", 1);
    this.#here(`FUNCTION LIBRARY of ${source.length} bytes: ${quoteWord(line.slice(0, 80))}`);
  }

  selectDb(index: number): void {
    this.#here(`Selecting DB ID ${index}`);
    this.#db = index;
  }

  beginKey(key: string, type: number): void {
    this.#doing = "a key's value";
    this.#key = key;
    this.#type = type;
  }

  key(_key: string, _value: Value, { deadline }: KeyAttributes, type: number): void {
    let db = this.#dbs.get(this.#db);
    if (db === undefined) {
      db = { keys: 0, expires: 0, forms: new Map() };
      this.#dbs.set(this.#db, db);
    }
    db.keys++;
    db.forms.set(type, (db.forms.get(type) ?? 0) + 1);
    if (deadline !== undefined) {
      db.expires++;
      if (deadline < this.#now) this.#alreadyExpired++;
    }
    this.#doing = "what comes next";
    this.#key = undefined;
  }

  emptyKey(key: string): void {
    this.#empty++;
    this.#here(`An empty collection, which would be left out: ${quoteWord(key)}`);
    this.#key = undefined;
  }

  module(name: string): void {
    this.#modules.set(name, (this.#modules.get(name) ?? 0) + 1);
    this.#key = undefined;
  }

  sound(): void {
    const { offset, checksumVerified } = this.reader;
    this.#at(offset, checksumVerified ? "Checksum OK" : "No checksum: it was turned off when the file was written");
    this.#at(offset, "\\o/ RDB looks OK! \\o/");
    this.#counts();
  }

  bad(error: RdbError): void {
    this.#print("--- RDB ERROR DETECTED ---");
    this.#at(error.offset, `${error.message} (${error.kind})`);
    this.#print(`[additional info] While reading: ${error.kind === "checksum" ? "the checksum" : this.#doing}`);
    if (this.#key !== undefined) {
      this.#print(`[additional info] Reading key ${quoteWord(this.#key)} in db ${this.#db}`);
      this.#print(`[additional info] Reading type ${typeLabel(this.#type)}`);
    }
    this.#counts();
  }

  #counts(): void {
    let keys = 0;
    let expires = 0;
    for (const [index, db] of this.#dbs) {
      keys += db.keys;
      expires += db.expires;
      const forms = [...db.forms].sort((a, b) => b[1] - a[1]).map(([type, count]) => `${count} ${typeName(type)}`);
      this.#print(`[info] db${index}: ${db.keys} keys, ${db.expires} with expiry (${forms.join(", ")})`);
    }
    for (const [name, count] of this.#modules)
      this.#print(`[info] ${count} of the module ${name}: only it can load them`);
    if (this.#functions > 0) this.#print(`[info] ${this.#functions} function libraries`);
    if (this.#empty > 0) this.#print(`[info] ${this.#empty} empty collections`);
    this.#print(`[info] ${keys} keys read`);
    this.#print(`[info] ${expires} expires`);
    this.#print(`[info] ${this.#alreadyExpired} already expired`);
  }
}

/** Reads a whole file and prints what is in it; false if it is not sound. Throws where it cannot be opened. */
export function checkRdb(path: string, now: number, print: (line: string) => void): boolean {
  const descriptor = openSync(path, "r");
  const report = new Report(print, now);
  print(`[offset 0] Checking RDB file ${path}`);
  try {
    const piece = Buffer.allocUnsafeSlow(READ_BYTES);
    for (;;) {
      const length = readSync(descriptor, piece, 0, piece.length, null);
      if (length === 0 || report.reader.feed(piece.subarray(0, length))) break;
    }
    report.reader.end();
    const behind = report.reader.rest().length;
    if (behind > 0) print(`[offset ${report.reader.offset}] Bytes behind the end of the data, which are ignored`);
    report.sound();
    return true;
  } catch (error) {
    if (!(error instanceof RdbError)) throw error;
    report.bad(error);
    return false;
  } finally {
    closeSync(descriptor);
  }
}
