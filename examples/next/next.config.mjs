import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

export default {
  cacheComponents: true,
  // `use cache`, and pages that are rendered anew (ISR).
  cacheHandlers: { default: join(here, "use-cache-handler.mjs") },
  cacheHandler: join(here, "isr-handler.mjs"),
  cacheMaxMemorySize: 0,
  serverExternalPackages: ["cinnabar", "@cinnabar/engine"],
  turbopack: { root: join(here, "../..") },
};
