import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

export default {
  // Without `cacheComponents`, which refuses the `revalidate` of a page: this is how ISR was before it.
  cacheHandler: join(here, "isr-handler.mjs"),
  cacheMaxMemorySize: 0,
  serverExternalPackages: ["cinnabar", "@cinnabar/engine"],
  turbopack: { root: join(here, "../..") },
};
