/**
 * For esbuild: where a source has a sibling for browsers (`files.ts`, `files.browser.ts`), that one is taken. TypeScript does the same
 * by `moduleSuffixes` in engine/tsconfig.browser.json.
 *
 * esbuild makes a file for each set of entries that need the same modules: some twenty, which a page would fetch one by one. So what is
 * loaded later is told to need all that is loaded first, and that is one file.
 *
 * What the rows of common commands say for documents moves into a module that is loaded with COMMAND
 * (engine/src/core/parts/texts.browser.ts): it is a tenth of what a page would load first.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ENGINE = join(dirname(fileURLToPath(import.meta.url)), "../engine/src");
const COMMANDS = join(ENGINE, "commands");

/** What is loaded later begins with these. */
const LATER = /(?:core[\\/]parts[\\/](?:bits|geo|scripts|server|sort|streams)\.browser|net[\\/]connection)\.ts$/;

/** The rows that are there at the start. Those of pub/sub are not among them, because PUBSUB HELP is made of them. */
const ROWS =
  /commands[\\/](?:(?:hashes|lists|sets|transactions|zsets)[\\/][\w-]+|strings[\\/]strings|keys[\\/](?:keys|expire)|connection[\\/]connection|server[\\/]server)\.ts$/;
/** A field of a row that is one string, as the formatter leaves it. */
const TEXT = /^ +(?:summary|syntax|complexity|reply):\s+(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'),\n/gm;

async function textsOf() {
  const { outputFiles } = await build({
    entryPoints: [join(COMMANDS, "index.browser.ts")],
    bundle: true,
    format: "esm",
    platform: "browser",
    write: false,
    logLevel: "error",
    plugins: [siblings],
  });
  const { groups } = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`);
  const rows = groups.flatMap((group) => group.rows);
  return Object.fromEntries(
    rows.map(({ name, summary, syntax, complexity }) => [name, { summary, syntax, complexity }]),
  );
}

const siblings = {
  name: "siblings",
  setup({ onResolve }) {
    onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, resolveDir }) => {
      const file = join(resolveDir, path);
      const sibling = file.replace(/(?<!\.browser)\.ts$/, ".browser.ts");
      return { path: existsSync(sibling) ? sibling : file, sideEffects: false };
    });
  },
};

export const browserSources = {
  name: "browser-sources",
  setup(builder) {
    siblings.setup(builder);
    builder.onLoad({ filter: ROWS }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace(TEXT, ""),
      loader: "ts",
    }));
    builder.onLoad({ filter: LATER }, ({ path }) => ({
      contents: `${readFileSync(path, "utf8")}\nexport * as first from ${JSON.stringify(join(ENGINE, "index.browser.ts"))};`,
      loader: "ts",
    }));
    builder.onLoad({ filter: /parts[\\/]texts\.browser\.ts$/ }, async () => ({
      contents: `export const TEXTS = ${JSON.stringify(await textsOf())};`,
      loader: "js",
    }));
  },
};
