/**
 * What runs in threads and processes of its own, with all that it imports, as the text of one script: a program that a bundler has
 * made into one file has nothing beside it to start. Each has a file that holds the text where a build puts it, and null while
 * developing.
 */
import { dirname, join } from "node:path";
import { build } from "esbuild";

const TEXTS = [
  // toolkit/src/leases/thread.ts
  { holder: /leases[\\/]worker-source\.ts$/, entry: "worker.ts", name: "WORKER_SOURCE" },
  // toolkit/src/components/queues/sandbox/runner.ts
  { holder: /sandbox[\\/]far-side-source\.ts$/, entry: "far-side.ts", name: "FAR_SIDE_SOURCE" },
];

async function moduleOf({ entry, name }, path) {
  const { outputFiles } = await build({
    entryPoints: [join(dirname(path), entry)],
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    minify: true,
    write: false,
    logLevel: "error",
    legalComments: "inline",
  });
  return `export const ${name} = ${JSON.stringify(outputFiles[0].text)};`;
}

/** For esbuild. */
export const inlineTexts = {
  name: "inline-texts",
  setup({ onLoad }) {
    for (const text of TEXTS)
      onLoad({ filter: text.holder }, async ({ path }) => ({ contents: await moduleOf(text, path) }));
  },
};

/**
 * For Vite: the thread that renews leases loads one script in tests, in place of two hundred files of TypeScript. A sandbox loads its
 * far side from the sources, and learns TypeScript with that: handlers of tests are written in it.
 */
export const inlineTextsInVite = {
  name: "inline-texts",
  enforce: "pre",
  async load(id) {
    const [renewal] = TEXTS;
    return renewal.holder.test(id) ? moduleOf(renewal, id) : undefined;
  },
};
