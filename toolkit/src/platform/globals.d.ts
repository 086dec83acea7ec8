/** Node's globals as browsers get them: for toolkit/tsconfig.browser.json alone. */
import type * as given from "./globals.browser.ts";

declare global {
  type Buffer = import("@cinnabar/engine/browser").Buffer;
  const Buffer: typeof given.Buffer;
  const setImmediate: typeof given.setImmediate;
  const process: typeof given.process;
}
