/**
 * Says something to the test that has started this process, before anything else happens: what is in the pipe survives its writer.
 * A pipe that is full until the test has read some of it answers EAGAIN; then this waits.
 */
import { writeSync } from "node:fs";

const sleeping = new Int32Array(new SharedArrayBuffer(4));

export function out(text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(sleeping, 0, 0, 1);
    }
  }
}
