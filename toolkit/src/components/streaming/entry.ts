/**
 * An event of the log as this process holds it: parsed once, judged once, and written out once for each format, for all listeners.
 */
import type { StatusEvent } from "./events.ts";
import { Traits } from "./filters.ts";

export type Format = "ndjson" | "sse";

/** Bytes that are a chunk of an HTTP/1.1 answer as they stand; `start` and `end` say where the payload itself is. */
export interface Frame {
  readonly chunk: Buffer;
  readonly start: number;
  readonly end: number;
}

export function frameOf(payload: string): Frame {
  const size = Buffer.byteLength(payload, "utf8");
  const head = `${size.toString(16)}\r\n`;
  const chunk = Buffer.allocUnsafe(head.length + size + 2);
  chunk.write(head, 0, "latin1");
  chunk.write(payload, head.length, "utf8");
  chunk.write("\r\n", head.length + size, "latin1");
  return { chunk, start: head.length, end: head.length + size };
}

export class Entry {
  readonly cursor: string;
  readonly event: StatusEvent;
  /** About what it takes. */
  readonly sizeBytes: number;
  /** The status was deleted: it is sent to nobody any more. */
  withdrawn = false;
  /** Of a delete: what is known of the status. */
  target: Traits | null = null;
  readonly #json: string;
  #traits: Traits | null = null;
  #ndjson: Frame | null = null;
  #sse: Frame | null = null;

  constructor(cursor: string, json: string) {
    this.cursor = cursor;
    this.#json = json;
    this.event = JSON.parse(json);
    this.sizeBytes = json.length + 64;
  }

  /** Null for other events than statuses. */
  get traits(): Traits | null {
    if (this.event.kind === "status") this.#traits ??= new Traits(this.event);
    return this.#traits;
  }

  frame(format: Format): Frame {
    if (format === "sse") {
      this.#sse ??= frameOf(`id: ${this.cursor}\ndata: {"cursor":"${this.cursor}",${this.#json.slice(1)}\n\n`);
      return this.#sse;
    }
    this.#ndjson ??= frameOf(`{"cursor":"${this.cursor}",${this.#json.slice(1)}\n`);
    return this.#ndjson;
  }
}
