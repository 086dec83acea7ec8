/**
 * Puts the thread that renews leases, with all that it imports, into one string in toolkit/dist/leases/worker-source.js, so
 * that it also starts in a program that a bundler has made into one file. Runs after `tsc`; see toolkit/src/leases/thread.ts.
 */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const leases = join(dirname(fileURLToPath(import.meta.url)), "../toolkit/dist/leases");
const { outputFiles } = await build({
  entryPoints: [join(leases, "worker.js")],
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
writeFileSync(
  join(leases, "worker-source.js"),
  `/** Made by scripts/bundle-lease-thread.js. */\nexport const WORKER_SOURCE = ${source};\n`,
);
