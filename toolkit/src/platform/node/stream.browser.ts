/** Stands for `node:stream` in browsers, which have streams of another kind. */
import { UnsupportedError } from "../../base/errors.ts";

export class Writable {
  constructor(_options: {
    readonly decodeStrings: boolean;
    readonly write: (chunk: string | Buffer, encoding: string, done: (error?: Error) => void) => void;
    readonly final: (done: (error?: Error) => void) => void;
  }) {
    throw new UnsupportedError("a browser has no streams of Node.js: call write() for each entry");
  }
}

/** What of a stream the wire uses. */
export interface Duplex {
  // biome-ignore lint/suspicious/noExplicitAny: each event has its own.
  on(event: string, listener: (...values: any[]) => void): unknown;
  write(data: string | Uint8Array, encoding?: string): boolean;
  cork(): void;
  uncork(): void;
  destroy(error?: Error): unknown;
}
