/**
 * The programs that tests start, made into JavaScript once for a run (toolkit/tests/kit/global-setup.ts): loading two hundred files of
 * TypeScript takes a second of processor time for each process, and a run starts hundreds. `nodeWords` of scripts/program.ts finds
 * them.
 *
 * They are below node_modules, where their imports find the packages. `import.meta.url` of a file is that of its source.
 */
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { files, replaceFiles } from "./files.js";
import { inlineTexts } from "./inline-texts.js";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const PROGRAMS = join(ROOT, "node_modules/.cinnabar-programs");

const isSource = (name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !name.endsWith(".d.ts");
const below = (folder, accepts = isSource) => files(join(ROOT, folder), accepts);
/** Those of a folder's files that its tests start. */
const ACTORS = /^(actor|holder|player|member|mover|reader|say|sender|server|worker|worker-process|writer)\.ts$/;

/** With everything of ours in them. */
const FROM_SOURCES = [
  ...["toolkit/tests/kit/farm.ts", "toolkit/src/components/cache/testing/asker.ts"],
  ...["toolkit/src/components/log-files/testing/worker.ts", "console/src/bin.ts"],
  ...["engine/tests/faults/crash/victim.ts", "engine/tests/faults/heap/inside.ts", "engine/src/bin/cinnabar-server.ts"],
].map((file) => join(ROOT, file));

/** They import the packages as users do, and run on what is shipped. */
const ON_PACKAGES = [
  ...below("toolkit/tests/examples"),
  ...below("toolkit/tests/migrating"),
  ...below("toolkit/tests/telemetry"),
];

/** Each file keeps the address of its source. */
const addresses = {
  name: "addresses",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!/import\.meta\.(url|dirname)\b/.test(text)) return undefined;
      const contents = text
        .replaceAll(/import\.meta\.url\b/g, JSON.stringify(pathToFileURL(path).href))
        .replaceAll(/import\.meta\.dirname\b/g, JSON.stringify(dirname(path)));
      return { contents, loader: "ts" };
    });
  },
};

/** Packages of others stay imports. */
const othersStay = {
  name: "others-stay",
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || /^(cinnabar|@cinnabar\/engine)(\/|$)/.test(path) ? undefined : { path, external: true },
    );
  },
};

async function make(entries, folder, options) {
  const outdir = join(PROGRAMS, folder);
  const { outputFiles } = await build({
    entryPoints: entries.map((file) => ({ in: file, out: relative(ROOT, file).replace(/\.ts$/, "") })),
    outdir,
    bundle: true,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    platform: "node",
    target: "node20",
    format: "esm",
    outExtension: { ".js": ".mjs" },
    sourcemap: "linked",
    write: false,
    logLevel: "error",
    ...options,
  });
  replaceFiles(outdir, outputFiles, (file) => folder !== "." || !file.startsWith(join(PROGRAMS, "on-packages")));
}

const actors = below("toolkit/tests/faults", (name) => ACTORS.test(name));
await make([...FROM_SOURCES, ...actors], ".", {
  conditions: ["source"],
  plugins: [inlineTexts, addresses, othersStay],
});
await make(ON_PACKAGES, "on-packages", { packages: "external", plugins: [addresses] });
