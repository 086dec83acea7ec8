/**
 * What the toolkit uses of Node's globals. The bundle for browsers has these in their place (`inject` in scripts/bundle.js), and
 * globals.d.ts tells the compiler. The bytes are the engine's, so that a reply is a Buffer here as well as there.
 */
import { Buffer, soon } from "@cinnabar/engine/browser";

export { Buffer };

// biome-ignore lint/suspicious/noExplicitAny: what is given is what it takes, as in Node.
export function setImmediate(run: (...given: any[]) => void, ...given: unknown[]): void {
  soon(() => run(...given));
}

export const process = {
  platform: "browser",
  /** What tells tabs and workers apart that share a store. */
  pid: crypto.getRandomValues(new Uint32Array(1))[0]! >>> 10,
  nextTick: (run: () => void): void => queueMicrotask(run),
  emitWarning: (text: string, _options?: object): void => console.warn(text),
  hrtime: { bigint: (): bigint => BigInt(Math.round(performance.now() * 1e6)) },
};
