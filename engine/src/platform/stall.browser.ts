/** Stops the whole thread for a while. A page may not wait for memory that it shares, and most have none: this only looks at the clock. */
export function stall(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
