/** Stands for `node:timers/promises` in browsers. */
export const setTimeout = (ms: number): Promise<void> =>
  new Promise((resolve) => void globalThis.setTimeout(resolve, ms));
