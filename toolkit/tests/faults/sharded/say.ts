/** Says a line before anything else happens: what is in the pipe survives its writer. */
import { writeSync } from "node:fs";

export function say(line: unknown): void {
  const bytes = Buffer.from(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      // The pipe is full until the test has read some of it.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
