/**
 * For esbuild: where a source has a sibling for browsers (`files.ts`, `files.browser.ts`), that one is taken. TypeScript does the same
 * by `moduleSuffixes` in engine/tsconfig.browser.json.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

export const browserSources = {
  name: "browser-sources",
  setup({ onResolve }) {
    onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, resolveDir }) => {
      const file = join(resolveDir, path);
      const sibling = file.replace(/(?<!\.browser)\.ts$/, ".browser.ts");
      return { path: existsSync(sibling) ? sibling : file, sideEffects: false };
    });
  },
};
