/**
 * Builds the page: console/ui → console/dist/ui, everything from this host, nothing inline. Names of assets have a hash of what is
 * in them, so browsers keep them for ever; beside each stands what is sent instead of it to browsers that read brotli or gzip.
 *
 * With `--mode in-page` it builds the key browser by itself, console/ui/in-page, which the documentation's site has in a frame.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { defineConfig } from "vite";
import { listsPackages } from "../scripts/third-party.js";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const IN_PAGE = "in-page";

/** A file that is smaller than this fits into a packet as it is. */
const LEAST_BYTES = 1_024;

async function compressAll(folder) {
  const names = (await readdir(folder, { recursive: true })).filter((name) => /\.(js|css|svg|html)$/.test(name));
  await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const content = await readFile(path);
      if (content.length < LEAST_BYTES) return;
      const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
      await writeFile(`${path}.br`, await promisify(brotliCompress)(content, { params }));
      await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
    }),
  );
}

/** After everything is written. */
const compressed = () => {
  let folder = "";
  return {
    name: "compressed",
    configResolved: (config) => {
      folder = config.build.outDir;
    },
    writeBundle: { sequential: true, order: "post", handler: () => compressAll(folder) },
  };
};

export default defineConfig(({ mode }) => ({
  root: here(mode === IN_PAGE ? "./ui/in-page" : "./ui"),
  base: "./",
  // A site is sent as the server of the site does it.
  plugins: mode === IN_PAGE ? [] : [compressed(), listsPackages(here(".."))],
  build: {
    outDir: here(`./dist/${mode === IN_PAGE ? IN_PAGE : "ui"}`),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Libraries mark what runs in browsers only; here everything does.
      onLog: (level, log, handle) => log.code !== "MODULE_LEVEL_DIRECTIVE" && handle(level, log),
    },
  },
}));
