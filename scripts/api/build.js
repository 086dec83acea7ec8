/**
 * Writes the API reference from the sources into api/, as pages of HTML: `npm run api`. typedoc's own pages are kept, rather than Markdown
 * for the documentation's site, because they have their own search and navigation over some 800 exports, and need no second build. The
 * site has them beside its pages: `npm run site` gives another folder, and the address of its start, to which the pages lead back.
 *
 * typedoc needs the compiler API of TypeScript 6. npm cannot install that beside TypeScript 7 for it (both would be the peer
 * `typescript`), so package.json overrides the peer and a module hook gives typedoc `typescript6`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { register } from "node:module";
import { join } from "node:path";

register("./typescript6.js", import.meta.url);
const { Application, Converter, PageEvent, RendererEvent, UnknownType } = await import("typedoc");

const ROOT = join(import.meta.dirname, "../..");
const [out = join(ROOT, "api"), home] = process.argv.slice(2);

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
  out,
  navigationLinks: home === undefined ? {} : { Documentation: home },
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

// The compiler multiplies the alternatives of a command's options: GEOSEARCH alone would take 1.7 MB. The source says it in four lines.
app.converter.on(Converter.EVENT_CREATE_SIGNATURE, (_context, { parameters = [] }, declaration) => {
  for (const [at, parameter] of parameters.entries()) {
    const type = declaration?.parameters?.[at]?.type?.getText().replace(/\s+/g, " ");
    if (parameter.flags.isRest && /^\[ ?\.\.\./.test(type ?? ""))
      parameter.type = new UnknownType(type.replace("[ ", "[").replace(/,? \]$/, "]"));
  }
});

// The console's policy refuses scripts in pages: the one that chooses light or dark before the page shows stands in a file.
let first = "";
app.renderer.on(PageEvent.END, (page) => {
  page.contents = page.contents?.replace(/<script>([\s\S]*?)<\/script>/, (_all, code) => {
    first = code;
    return `<script src="${"../".repeat(page.url.split("/").length - 1)}assets/first.js"></script>`;
  });
});
app.renderer.on(RendererEvent.END, () => writeFileSync(join(out, "assets/first.js"), first));

const entryPoints = app.getEntryPoints() ?? [];
for (const each of entryPoints) each.displayName = names.get(each.sourceFile.fileName);
const project = app.converter.convert(entryPoints);
await app.generateOutputs(project);
console.log(`${project.children.length} entries in ${join(out, "index.html")}`);
if (app.logger.hasErrors()) process.exit(1);
