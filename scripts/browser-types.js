/**
 * Declarations of the engine for browsers, in engine/dist/browser. What a file for browsers declares stands where the sibling that it
 * replaces would: who imports the package has not told the compiler of `.browser.ts`.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { files } from "./files.js";

const ENGINE = join(dirname(fileURLToPath(import.meta.url)), "../engine");
const OUT = join(ENGINE, "dist/browser");

const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
const options = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--rootDir", join(ENGINE, "src")];
execFileSync(process.execPath, [compiler, "-p", join(ENGINE, "tsconfig.browser.json"), ...options, "--outDir", OUT], {
  stdio: "inherit",
});
for (const file of files(OUT, (name) => name.endsWith(".browser.d.ts"))) {
  copyFileSync(file, file.replace(/\.browser\.d\.ts$/, ".d.ts"));
}
