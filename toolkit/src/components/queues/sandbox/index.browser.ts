/** Sandboxes are threads and processes of Node's. */
import { UnsupportedError } from "../../../base/errors.ts";

export type SandboxOptions = object;

export class Sandboxed {
  readonly file: string = "";
}

export function sandboxed(_file: URL | string, _options: SandboxOptions = {}): Sandboxed {
  throw new UnsupportedError("a browser has no sandboxes: give the worker a function, or run it in Node.js");
}
