/** Ways in that need Node.js: their names are there, and say so when they are called. */
import { UnsupportedError } from "../base/errors.ts";

/** For a function or a class. */
export function needsNode(way: string, name: string): new () => never {
  return function unsupported() {
    throw new UnsupportedError(`${name} of ${way} needs Node.js, and this is a browser: use it in your server`);
  } as never;
}
