/**
 * The toolkit for browsers: one file for each way in of `cinnabar`, and shared chunks. Sources have siblings (`x.browser.ts`) where
 * they need sockets, threads or files; modules of Node's are those in toolkit/src/platform/node, and its globals those in
 * toolkit/src/platform/globals.browser.ts. toolkit/tsconfig.browser.json compiles the same without Node's types.
 *
 * A way in that cannot work there (NODE_ONLY) has its names too: whatever is called of it throws an UnsupportedError that says so.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { browserSources } from "./browser-sources.js";

const TOOLKIT = join(dirname(fileURLToPath(import.meta.url)), "../toolkit");
const ENGINE = "@cinnabar/engine/browser";

/** Requests and responses of Node's, frameworks, files, servers. */
const NODE_ONLY = /\/http\.ts$|\/integrations\/|\/log-files\/|\/testing\/|\/opentelemetry\/|\/replication\//;

/** Every way in: what programs write, its source, the file for browsers, and whether it works there. */
export function browserWays() {
  const { exports } = JSON.parse(readFileSync(join(TOOLKIT, "package.json"), "utf8"));
  return Object.entries(exports).map(([way, { source }]) => ({
    name: way.replace(/^\./, "cinnabar"),
    source: join(TOOLKIT, source),
    file: way === "." ? "index" : way.slice(2),
    runs: !NODE_ONLY.test(source),
  }));
}

/** Under the address of each folder, what a page's import map says. */
export const importMap = (toolkit, engine) => ({
  imports: {
    [ENGINE]: engine,
    ...Object.fromEntries(browserWays().map(({ name, file }) => [name, `${toolkit}/${file}.js`])),
  },
});

const NEEDS = [
  [/\bsandbox/, "worker threads"],
  [/\bredis(s|\+\w+)?:\/\/|URL_|\bnew Redis\(|\bFleet\b/, "servers"],
  [/\.(listen|stream|attach)\(/, "sockets"],
  [/"\.\/[\w/]+"|\bprocess\.(argv|exit|on)\b/, "a folder or a terminal"],
];

/** What a program has to have that a page has not, as a noun; undefined for one that runs there. Programs are known by their text. */
export function whyNode(program) {
  const ways = browserWays();
  for (const [, name] of program.matchAll(/\bfrom\s+"([^"]+)"|\bimport\s*\(?"([^"]+)"/g)) {
    if (name === undefined || name === "@cinnabar/engine" || name === ENGINE) continue;
    const way = ways.find((each) => each.name === name);
    if (way?.runs) continue;
    return name.startsWith("node:") || way !== undefined ? `Node (${name})` : `the package ${name}`;
  }
  const code = program.replace(/(^|\s)\/\/.*$/gm, "$1");
  return NEEDS.find(([pattern]) => pattern.test(code))?.[1];
}

/** For esbuild: what stands for modules of Node's, and the engine by its name. */
export const nodeModules = {
  name: "node-modules",
  setup({ onResolve }) {
    onResolve({ filter: /^node:/ }, ({ path, importer }) => {
      const file = join(TOOLKIT, "src/platform/node", `${path.slice("node:".length)}.browser.ts`);
      if (existsSync(file)) return { path: file, sideEffects: false };
      return { errors: [{ text: `${path} has no part for browsers; ${relative(TOOLKIT, importer)} needs a sibling` }] };
    });
    onResolve({ filter: /^@cinnabar\/engine(\/browser)?$/ }, () => ({ path: ENGINE, external: true }));
  },
};

/** Ways in that only Node has: the same names, each of which says so when it is called. */
function nodeOnly(ways) {
  const found = new Map(ways.map((way) => [way.source, way]));
  return {
    name: "node-only",
    setup({ onLoad }) {
      onLoad({ filter: NODE_ONLY }, async ({ path }) => {
        const way = found.get(path);
        if (way === undefined) return undefined;
        const { metafile } = await build({
          entryPoints: [path],
          bundle: true,
          packages: "external",
          platform: "node",
          format: "esm",
          outdir: TOOLKIT,
          write: false,
          metafile: true,
        });
        const names = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint !== undefined).exports;
        const needs = join(TOOLKIT, "src/platform/needs-node.browser.ts");
        const lines = names.map((name) => `export const ${name} = needsNode("${way.name}", "${name}");`);
        return {
          contents: [`import { needsNode } from ${JSON.stringify(needs)};`, ...lines].join("\n"),
          resolveDir: dirname(path),
          loader: "ts",
        };
      });
    },
  };
}

/** What is to be written, as esbuild has it. */
export async function bundleToolkit(outdir, { minify = true } = {}) {
  const ways = browserWays();
  const { outputFiles } = await build({
    bundle: true,
    platform: "browser",
    target: "es2023",
    format: "esm",
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    sourcemap: true,
    legalComments: "inline",
    logLevel: "error",
    minify,
    write: false,
    entryPoints: ways.map(({ source, file }) => ({ in: source, out: file })),
    outdir,
    inject: [join(TOOLKIT, "src/platform/globals.browser.ts")],
    plugins: [nodeModules, nodeOnly(ways.filter(({ runs }) => !runs)), browserSources],
  });
  return outputFiles;
}
