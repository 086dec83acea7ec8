/** Stands for `node:fs` in browsers. */
import { UnsupportedError } from "../../base/errors.ts";

export function createReadStream(path: string, _options?: object): AsyncIterable<Uint8Array> {
  throw new UnsupportedError(`a browser has no file "${path}": give the bytes, or a stream of them`);
}
