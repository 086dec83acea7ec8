/**
 * For programs that run from sources: the text of a script that teaches Node TypeScript, then loads a file. Threads and processes that
 * are started from a text begin with it.
 */
export function fromSource(file: string): string {
  return `
    const { createRequire } = require("node:module");
    const { pathToFileURL } = require("node:url");
    const file = ${JSON.stringify(file)};
    const requireThere = createRequire(file);
    const manifest = requireThere.resolve("tsx/package.json");
    const entry = requireThere(manifest).exports["./esm/api"].import.default;
    import(new URL(entry, pathToFileURL(manifest)).href).then(({ register }) => { register(); return import(file); });
  `;
}
