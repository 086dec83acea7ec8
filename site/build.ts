/**
 * `npm run site`: the documentation's site, from the documents as they are, and the API reference below it, into site/dist; SITE_OUT names another
 * folder, SITE_BASE where the site stands on its host.
 * `npm run build` must have been.
 */
import { execFile } from "node:child_process";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "vitepress";
import { commandHints } from "./pages/commands.ts";
import { BASE, OUT, ROOT } from "./pages/routes.ts";
import { searchParts } from "./pages/search.ts";
import { PUBLIC, SITE, STAGE, stage } from "./pages/stage.ts";
import { bundleRuntime } from "./runtime.ts";

const run = (script: string, args: readonly string[]) => promisify(execFile)(process.execPath, [script, ...args]);
const { pages } = stage();
cpSync(join(SITE, "../console/ui/icon.svg"), join(PUBLIC, "icon.svg"));
await bundleRuntime(join(PUBLIC, "run"));
const write = (name: string, value: unknown): void => writeFileSync(join(PUBLIC, "run", name), JSON.stringify(value));
for (const [language, parts] of Object.entries(searchParts(pages))) write(`search-${language}.json`, parts);
write("commands.json", commandHints());
// The console's key browser, as a document of its own for a frame.
const viteArgs = ["build", "--config", join(ROOT, "console/vite.config.js"), "--mode", "in-page", "--logLevel", "warn"];
await run(join(ROOT, "node_modules/vite/bin/vite.js"), [
  ...viteArgs,
  "--emptyOutDir",
  "--outDir",
  join(PUBLIC, "keys"),
]);
// A process of its own, so that it takes no longer where there are two cores. The build of the pages empties the folder of both.
const reference = join(STAGE, "api");
const referenceArgs = [reference, BASE];
await Promise.all([build(SITE), run(join(ROOT, "scripts/api/build.js"), referenceArgs)]);
cpSync(reference, join(OUT, "api"), { recursive: true });
rmSync(reference, { recursive: true });
// The console serves it from there, and its package has it there.
if (BASE === "/docs/") {
  const served = join(ROOT, "console/dist/docs");
  rmSync(served, { recursive: true, force: true });
  cpSync(OUT, served, { recursive: true });
}
console.log(`${pages.size} pages in ${OUT}`);
