/** Projects as users have them: a folder with some files that has installed our tarballs, and programs that are run in it. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { nodeOf } from "../runtimes.js";

export const PACKAGES = resolve(".packages");
export const tarballs = readdirSync(PACKAGES).filter((name) => name.endsWith(".tgz"));

const room = mkdtempSync(join(tmpdir(), "cinnabar-packages-"));
export const removeProjects = () => rmSync(room, { recursive: true, force: true });

/** So that programs which are started by their shebang, and workers of tools, run on the same Node. */
export const withNode = (program) => ({ PATH: `${dirname(program)}:${process.env.PATH}` });

export function call(program, args, cwd, env = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: "", ...env },
    timeout: 300_000,
  });
  return { status, stdout: stdout ?? "", output: `${stdout ?? ""}${stderr ?? ""}${error ?? ""}` };
}

/** A folder with these files and packages, beside our tarballs. It is installed by the oldest Node that we support. */
export function project(name, files, packages = []) {
  const folder = join(room, name);
  const manifest = { name, private: true, type: files["main.cjs"] === undefined ? "module" : "commonjs" };
  for (const [file, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...files })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const ours = tarballs.map((file) => join(PACKAGES, file));
  const args = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...ours, ...packages];
  const { status, output } = call("npm", args, folder, withNode(nodeOf("20")));
  if (status !== 0) throw new Error(`${name}: ${output}`);
  // Tools may want a newer Node; ours, and what they bring along, must not.
  if (packages.length === 0 && output.includes("EBADENGINE"))
    throw new Error(`${name}: npm warns of the engine: ${output}`);
  return folder;
}

/** Null is a pass; a text says what went wrong. */
export const passes = (program, args, folder, env) => {
  const { status, output } = call(program, args, folder, env);
  return status === 0 ? null : output.trim().slice(-600) || `ended with ${status}`;
};
export const prints = (expected, program, args, folder, env) => {
  const { status, stdout, output } = call(program, args, folder, env);
  return status === 0 && stdout.includes(expected) ? null : output.trim().slice(-600) || `ended with ${status}`;
};

export function built(folder, program, args) {
  const failed = passes(program, args, folder);
  if (failed !== null) throw new Error(failed);
  return folder;
}

export const inModules = (folder, file) => join(folder, "node_modules", file);
