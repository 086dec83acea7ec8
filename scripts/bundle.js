/**
 * The JavaScript of the packages, as it is shipped: one file for each way in, and shared chunks for what several need. Loading two
 * hundred files one by one took three times as long as running what is in them. Each class exists once, whichever ways in a
 * program uses. Declarations come from `tsc --build`, which runs first.
 *
 * Packages of others stay imports, except in the console, which has its web server inside (docs/decisions.md says why). Vite builds
 * its page.
 *
 * For browsers there are two more folders. engine/dist/browser/index.js is `@cinnabar/engine/browser`. toolkit/dist/browser has a
 * file for each way in of `cinnabar` (index.js, locks.js, cache/http.js …) and shared chunks; all of them import
 * `@cinnabar/engine/browser`, so that a page has one engine. Bundlers find them by the condition `browser`; a page without a
 * bundler maps the names:
 *
 *   <script type="importmap">{ "imports": {
 *     "@cinnabar/engine/browser": "/engine/index.js", "cinnabar": "/toolkit/index.js", "cinnabar/": "/toolkit/"
 *   } }</script>
 *
 * With "cinnabar/" a page writes `import { Locks } from "cinnabar/locks.js"`; `importMap` of scripts/browser-toolkit.js makes a map
 * that has every name as programs write it.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { browserSources } from "./browser-sources.js";
import { bundleToolkit } from "./browser-toolkit.js";
import { files, replaceFiles } from "./files.js";
import { inlineTexts } from "./inline-texts.js";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");

const BROWSER = join(ROOT, "engine/dist/browser");
const TOOLKIT_BROWSER = join(ROOT, "toolkit/dist/browser");
/** What other builds make. */
const ELSEWHERE = [BROWSER, TOOLKIT_BROWSER, join(ROOT, "console/dist/ui"), join(ROOT, "console/dist/docs")];

const COMMON = { bundle: true, platform: "node", target: "node20", logLevel: "error", legalComments: "inline" };

/** Made by another build. */
const isForBrowsers = (source) => String(source).endsWith(".browser.ts");

/** From the ways in of a package to their sources: `dist/components/locks/index.js` is made of `src/components/locks/index.ts`. */
function entriesOf(member, { exports = {} }) {
  const ways = Object.values(exports).flatMap(({ source = [] }) => (isForBrowsers(source) ? [] : source));
  const programs = files(join(ROOT, member, "src/bin"), (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  const program = join(ROOT, member, "src/bin.ts");
  return [...ways.map((way) => join(ROOT, member, way)), ...programs, ...(existsSync(program) ? [program] : [])];
}

/** CommonJS inside of an ES module asks for modules of Node's in its own way. */
const REQUIRE =
  'import { createRequire as createRequireHere } from "node:module"; const require = createRequireHere(import.meta.url);';

/** A package whose own maps lead to sources that it does not ship is mapped to its files as they are. */
const wholeMaps = {
  name: "whole-maps",
  setup({ onLoad }) {
    onLoad({ filter: /node_modules.*\.[cm]?js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const [comment, name] = /^\/\/# sourceMappingURL=(\S+\.map)\s*$/m.exec(text) ?? [];
      const map = join(dirname(path), name ?? "");
      if (name === undefined || !existsSync(map)) return undefined;
      const { sources, sourcesContent = [] } = JSON.parse(readFileSync(map, "utf8"));
      if (sources.every((_source, at) => typeof sourcesContent[at] === "string")) return undefined;
      return { contents: text.replace(comment, ""), loader: "js" };
    });
  },
};

const OTHERS = {
  engine: { packages: "external", plugins: [inlineTexts] },
  toolkit: { packages: "external", plugins: [inlineTexts] },
  console: {
    external: ["@cinnabar/engine", "cinnabar", "cinnabar/*"],
    banner: { js: REQUIRE },
    plugins: [wholeMaps],
  },
};

for (const member of ["engine", "toolkit", "console"]) {
  const manifest = JSON.parse(readFileSync(join(ROOT, member, "package.json"), "utf8"));
  const outdir = join(ROOT, member, "dist");
  const { outputFiles } = await build({
    ...COMMON,
    entryPoints: entriesOf(member, manifest).map((file) => ({
      in: file,
      out: relative(join(ROOT, member, "src"), file).replace(/\.ts$/, ""),
    })),
    outdir,
    write: false,
    format: "esm",
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    ...OTHERS[member],
    sourcemap: true,
    minifySyntax: true,
    minifyWhitespace: true,
  });
  replaceFiles(outdir, outputFiles, (file) => !ELSEWHERE.some((folder) => file.startsWith(folder)));
}

const { outputFiles } = await build({
  ...COMMON,
  platform: "browser",
  target: "es2023",
  entryPoints: [{ in: join(ROOT, "engine/src/index.browser.ts"), out: "index" }],
  outdir: BROWSER,
  write: false,
  format: "esm",
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  sourcemap: true,
  minify: true,
  plugins: [browserSources],
});
replaceFiles(BROWSER, outputFiles, () => true);
replaceFiles(TOOLKIT_BROWSER, await bundleToolkit(TOOLKIT_BROWSER), () => true);
