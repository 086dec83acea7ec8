/** The data of modules: nobody but the module can read it, but everybody can read past it. */
import type { Cursor } from "./cursor.ts";

const END = 0;
const SIGNED = 1;
const UNSIGNED = 2;
const FLOAT = 3;
const DOUBLE = 4;
const STRING = 5;

export function skipModuleValue(cursor: Cursor): void {
  for (;;) {
    const kind = cursor.length();
    if (kind === END) return;
    if (kind === SIGNED || kind === UNSIGNED) cursor.length64();
    else if (kind === FLOAT) cursor.skip(4);
    else if (kind === DOUBLE) cursor.skip(8);
    else if (kind === STRING) cursor.blob();
    else throw cursor.corrupt(`module data of kind ${kind}`);
  }
}
