/** Asks V8 to collect garbage now: MEMORY PURGE. A pause in proportion to the heap, for those who ask for it. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

let collect: (() => void) | null = null;

export function collectGarbage(): void {
  if (collect === null) {
    // Node hides the function unless it was started with this flag; a context made after setting it has one.
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  collect();
}
