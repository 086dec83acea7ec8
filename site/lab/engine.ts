/** The builds for browsers as this worker finds them: beside it. */
import type * as engine from "@cinnabar/engine/browser";

/** `from` begins with `./`. Bundlers must not look for it. */
export const at = (from: string): string => new URL(from, self.location.href).href;

export const engineModule = (): Promise<typeof engine> => import(at("./engine/index.js"));
