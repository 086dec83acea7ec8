/** Stops the whole process for a while: DEBUG SLEEP, and delays that are asked for to see what waiting does. */
export function stall(ms: number): void {
  if (ms > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
