/**
 * Puts what runs in threads and processes of its own, with all that it imports, into one string each in toolkit/dist, so that it also
 * starts in a program that a bundler has made into one file: the thread that renews leases (toolkit/src/leases/thread.ts), and the far
 * side of sandboxes (toolkit/src/components/queues/sandbox/runner.ts). Runs after `tsc`.
 */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const dist = join(dirname(fileURLToPath(import.meta.url)), "../toolkit/dist");

const THREADS = [
  { entry: "leases/worker.js", text: "leases/worker-source.js", name: "WORKER_SOURCE" },
  {
    entry: "components/queues/sandbox/far-side.js",
    text: "components/queues/sandbox/far-side-source.js",
    name: "FAR_SIDE_SOURCE",
  },
];

for (const { entry, text, name } of THREADS) {
  const { outputFiles } = await build({
    entryPoints: [join(dist, entry)],
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    minify: true,
    write: false,
    legalComments: "inline",
    logLevel: "error",
  });
  const source = JSON.stringify(outputFiles[0].text);
  writeFileSync(join(dist, text), `/** Made by scripts/bundle-threads.js. */\nexport const ${name} = ${source};\n`);
}
