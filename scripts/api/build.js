/**
 * Writes the API reference from the sources into api/, as pages of HTML: `npm run api`. typedoc's own pages are kept, rather than Markdown
 * for the documentation's site, because they have their own search and navigation over some 800 exports, and need no second build.
 *
 * typedoc needs the compiler API of TypeScript 6. npm cannot install that beside TypeScript 7 for it (both would be the peer
 * `typescript`), so package.json overrides the peer and a module hook gives typedoc `typescript6`.
 */
import { readFileSync } from "node:fs";
import { register } from "node:module";
import { join } from "node:path";

register("./typescript6.js", import.meta.url);
const { Application } = await import("typedoc");

const ROOT = join(import.meta.dirname, "../..");

/** From the source of an entry to what a program imports. */
const names = new Map(
  ["engine", "toolkit", "console"].flatMap((directory) => {
    const { name, exports } = JSON.parse(readFileSync(join(ROOT, directory, "package.json"), "utf8"));
    return Object.entries(exports).flatMap(([path, { source }]) =>
      source === undefined || path === "./browser" ? [] : [[join(ROOT, directory, source), join(name, path)]],
    );
  }),
);

const app = await Application.bootstrap({
  name: "Cinnabar",
  entryPoints: [...names.keys()],
  tsconfig: join(ROOT, "tsconfig.json"),
  out: join(ROOT, "api"),
  readme: join(ROOT, "scripts/api/README.md"),
  excludePrivate: true,
  excludeInternal: true,
  excludeExternals: true,
  disableSources: true,
  hideGenerator: true,
  skipErrorChecking: true,
  sort: ["source-order"],
  navigation: { includeGroups: false },
  logLevel: "Warn",
  validation: { notExported: false, invalidLink: true },
});
const entryPoints = app.getEntryPoints() ?? [];
for (const each of entryPoints) each.displayName = names.get(each.sourceFile.fileName);
const project = app.converter.convert(entryPoints);
await app.generateOutputs(project);
console.log(`${project.children.length} entries in ${join(ROOT, "api", "index.html")}`);
if (app.logger.hasErrors()) process.exit(1);
