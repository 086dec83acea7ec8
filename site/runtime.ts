/**
 * What live parts of pages load when they are used, into one folder: the worker, and the builds of the engine and the toolkit for
 * browsers. The toolkit's files name the engine as a package; a worker has no import map, so they get its address.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build, type Plugin } from "esbuild";
import { browserSources } from "../scripts/browser-sources.js";
import { nodeModules } from "../scripts/browser-toolkit.js";
import { ROOT } from "./pages/routes.ts";

const ENGINE = /(["'])@cinnabar\/engine\/browser\1/g;

/** `open` notes the store in this page; everything else is the toolkit's. */
const CINNABAR = `import { open as openStore } from "./toolkit/index.js";
export * from "./toolkit/index.js";
export const open = (...given) => globalThis.cinnabarOpen(openStore, ...given);
`;

const scripts = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".js"));

export async function bundleRuntime(target: string): Promise<void> {
  const [engine, toolkit] = ["engine", "toolkit"].map((member) => join(ROOT, member, "dist/browser"));
  if (!existsSync(join(engine!, "index.js")) || !existsSync(join(toolkit!, "index.js")))
    throw new Error("the engine and the toolkit are not built for browsers: npm run build");
  rmSync(target, { recursive: true, force: true });
  for (const [from, to] of [
    [engine!, join(target, "engine")],
    [toolkit!, join(target, "toolkit")],
  ] as const) {
    for (const name of scripts(from)) {
      const place = join(to, name);
      const address = relative(dirname(place), join(target, "engine/index.js"));
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, withoutMap(readFileSync(join(from, name), "utf8")).replace(ENGINE, `"${address}"`));
    }
  }
  writeFileSync(join(target, "cinnabar.js"), CINNABAR);
  const common = {
    outdir: target,
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2023",
    minify: true,
    logLevel: "error",
  } as const;
  await build({
    ...common,
    entryPoints: [join(ROOT, "site/lab/worker.ts")],
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
  });
  await build({
    ...common,
    entryPoints: [join(ROOT, "site/lab/keys-server.ts")],
    inject: [join(ROOT, "toolkit/src/platform/globals.browser.ts")],
    plugins: [besideWorker, nodeModules, browserSources],
  });
}

/** Routes of the console share the engine and the toolkit with whatever else is in the worker: a Buffer is of one class. */
const besideWorker: Plugin = {
  name: "beside-worker",
  setup({ onResolve }) {
    onResolve({ filter: /^cinnabar$/ }, () => ({ path: "./toolkit/index.js", external: true }));
    onResolve({ filter: /^@cinnabar\/engine\/browser$/ }, () => ({ path: "./engine/index.js", external: true }));
  },
};

/** Maps of sources are not published, so nobody asks for them. */
const withoutMap = (text: string): string => text.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, "\n");
