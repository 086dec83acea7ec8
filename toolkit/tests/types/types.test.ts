/**
 * Types that depend on what else is in a program: each program here is compiled on its own, against the built declarations (`npm
 * run check` writes them), with those of all libraries checked. Two libraries that declare one property differently are an error that a program with both would show.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { full } from "../../../scripts/full.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PROGRAMS = fileURLToPath(new URL("programs", import.meta.url));
const folder = mkdtempSync(join(PROGRAMS, ".project-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const compilers = (full ? ["typescript", "typescript6"] : ["typescript"]).map((name) => {
  const { resolve } = createRequire(import.meta.url);
  return [name, join(dirname(resolve(`${name}/package.json`)), "bin/tsc")] as const;
});
/** The example is shown in documents, so it has no room for what only tests need. */
const FILES = [...readdirSync(PROGRAMS).filter((name) => name.endsWith(".ts")), "../../../../examples/express.ts"];

test.each(compilers.flatMap(([name, tsc]) => FILES.map((file) => [file, name, tsc] as const)))(
  "%s compiles by itself (%s)",
  (file, name, tsc) => {
    const project = join(folder, `${name}.json`);
    const compilerOptions = { skipLibCheck: false, erasableSyntaxOnly: false, types: ["node"], customConditions: [] };
    writeFileSync(
      project,
      JSON.stringify({
        extends: join(ROOT, "tsconfig.json"),
        compilerOptions,
        include: [],
        files: [join(PROGRAMS, file)],
      }),
    );
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", project], { encoding: "utf8", cwd: ROOT });
    expect(stdout).toBe("");
    expect(status).toBe(0);
  },
  120_000,
);
