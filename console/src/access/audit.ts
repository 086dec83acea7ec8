/**
 * What was changed through the console, by whom: one entry for each request that acts, whether it was done or refused. The last
 * thousand are in memory, for the page; with a file, all are appended to it as lines of JSON, and the file is rotated, so that it
 * never takes more than five times its limit.
 *
 * Entries name what was changed (keys, names, ids), never the values: those may be secrets.
 */
import { appendFile, rename, stat } from "node:fs/promises";
import { messageOf } from "../values.ts";
import type { Role } from "./user.ts";

/** One line of the audit log: a request through the console that acts, or an attempt to sign in. */
export interface AuditEntry {
  /** When it happened, as an ISO 8601 date in UTC. */
  readonly at: string;
  /** The name of the user, or the one that was given to sign in. */
  readonly user: string;
  /** The role of the user at that time. */
  readonly role: Role;
  /** The IP address that the request came from. */
  readonly address: string;
  /** The connection and database, as people know them. */
  readonly store: string;
  /** `PUT /api/key`, or the name of the command. */
  readonly action: string;
  /** What it was done to: keys, names, ids. */
  readonly target: string;
  /** `refused`: the user may not do it (status 401 or 403). `failed`: any other status from 400 on. */
  readonly outcome: "done" | "refused" | "failed";
  /** The HTTP status of the answer. */
  readonly status: number;
}

const KEPT = 1_000;
const MOST_TARGET = 300;
const MOST_FILES = 5;
const MOST_FILE_BYTES = 10 * 1024 * 1024;

/** Fields of requests that say what is meant. Others (values, data, code) are left out. */
const TELLING =
  /^(?:keys?|kind|to|from|name|names|id|ids|action|state|what|type|field|member|members|index|ttlMs|pattern|match|tag|prefix|consumer|group|row|shards|library|url|db)$/;

/** What a request is about, in a line. */
export function targetOf(...parts: readonly unknown[]): string {
  const words = parts.flatMap((part) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.entries(part).flatMap(([name, value]) =>
          TELLING.test(name) && value !== "" ? [`${name}=${told(name, value)}`] : [],
        )
      : [],
  );
  return shortened(words.join(" "));
}

function told(name: string, value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return shortened(name === "url" ? text.replace(/\/\/[^/@]*@/, "//") : text, 120);
}

export const shortened = (text: string, most = MOST_TARGET): string =>
  text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…`;

/** Where the audit log is kept besides memory, which has the last 1 000 entries. */
export interface AuditOptions {
  /** The file that entries are appended to, as lines of JSON. None by default. */
  readonly file?: string | undefined;
  /** The size from which the file is rotated (default 10 MiB); four older files are kept. */
  readonly maxFileBytes?: number;
}

export class Audit {
  readonly #entries: AuditEntry[] = [];
  readonly #file: string | undefined;
  readonly #maxFileBytes: number;
  #writing: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor({ file, maxFileBytes = MOST_FILE_BYTES }: AuditOptions = {}) {
    this.#file = file;
    this.#maxFileBytes = maxFileBytes;
  }

  note(entry: AuditEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length > KEPT) this.#entries.shift();
    if (this.#file !== undefined) this.#writing = this.#writing.then(() => this.#append(entry));
  }

  /** The newest first. */
  list({ user, limit }: { readonly user?: string | undefined; readonly limit: number }): readonly AuditEntry[] {
    const found = user === undefined ? this.#entries : this.#entries.filter((each) => each.user === user);
    return found.slice(-limit).reverse();
  }

  get file(): string | null {
    return this.#file ?? null;
  }

  /** Waits until everything is in the file. */
  close(): Promise<void> {
    return this.#writing;
  }

  async #append(entry: AuditEntry): Promise<void> {
    try {
      await this.#rotate();
      await appendFile(this.#file!, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) console.error(`cinnabar: the audit log cannot be written: ${messageOf(error)}`);
      this.#hasFailed = true;
    }
  }

  async #rotate(): Promise<void> {
    const size = await stat(this.#file!).then(
      (found) => found.size,
      () => 0,
    );
    if (size < this.#maxFileBytes) return;
    for (let nth = MOST_FILES - 1; nth > 0; nth--) {
      const from = nth === 1 ? this.#file! : `${this.#file}.${nth - 1}`;
      await rename(from, `${this.#file}.${nth}`).catch(() => {});
    }
  }
}
