/** Releases of Node, and Bun and Deno, from the npm registry; kept in node_modules/.cache. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

export const NODES = ["20", "22", "24"];

function installed(folder, packages, program) {
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    const flags = ["--prefix", folder, "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
    const { status } = spawnSync("npm", ["install", ...flags, packages], { stdio: "inherit" });
    if (status !== 0 || !existsSync(program)) throw new Error(`npm cannot install ${packages}`);
  }
  return program;
}

/** The path of that release's program, installed if need be. */
export function nodeOf(release) {
  const folder = resolve("node_modules/.cache/nodes", release);
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const program = join(folder, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node");
  return installed(folder, `${name}@${release}`, program);
}

/** Its package has a script that moves the program of this platform to this place, whatever the platform. */
export function bunProgram() {
  const folder = resolve("node_modules/.cache/bun");
  return installed(folder, "bun@1", join(folder, "node_modules/bun/bin/bun.exe"));
}

export function denoProgram() {
  const folder = resolve("node_modules/.cache/deno");
  const name = `${process.platform}-${process.arch}${process.platform === "linux" ? "-glibc" : ""}`;
  return installed(folder, "deno@2", join(folder, `node_modules/@deno/${name}/deno`));
}
