/** The files in deploy/ and the release script: what of them can be tried without a container, systemd and a registry. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EmbeddedEngine } from "../../src/embed/embedded.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const read = (name: string): string => readFileSync(join(ROOT, name), "utf8");
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cinnabar-deploy-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** `--port 6379 --bind 127.0.0.1` as directives. */
function directivesOf(words: readonly string[]): Record<string, string> {
  const config: Record<string, string> = {};
  for (let at = 0; at < words.length; at += 2) config[words[at]!.replace(/^--/, "")] = words[at + 1]!;
  return config;
}

test.each([
  ["deploy/cinnabar.service", /^ExecStart=\/usr\/bin\/env cinnabar-server (.*)$/m],
  ["deploy/Dockerfile", /^ENTRYPOINT \["cinnabar-server", (.*)\]$/m],
])("the flags in %s are directives that the server takes", async (file, line) => {
  const flags = line.exec(read(file))?.[1] ?? "";
  const config = directivesOf(flags.replaceAll(/[",]/g, "").split(" "));
  expect(Object.keys(config)).toContain("appendonly");
  // An unknown directive or value is refused.
  const engine = await EmbeddedEngine.open({ config: { ...config, dir: folder } });
  expect(await engine.connect().call("CONFIG", "GET", "bind")).toEqual(["bind", config.bind]);
  await engine.close();
  await expect(EmbeddedEngine.open({ config: { ...config, appendnever: "yes" } })).rejects.toThrow();
});

const hasSystemd = existsSync("/usr/bin/systemd-analyze");

test.skipIf(!hasSystemd)("systemd takes the unit", () => {
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", join(ROOT, "deploy/cinnabar.service")], {
    encoding: "utf8",
  });
  expect(stderr.split("\n").filter((each) => each.includes("cinnabar.service"))).toEqual([]);
  expect(status).toBe(0);
});

test("what the Dockerfile copies and runs is there", () => {
  const dockerfile = read("deploy/Dockerfile");
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  for (const [, name] of dockerfile.matchAll(/npm run (\w+)/g)) expect(scripts).toHaveProperty(name!);
  const { bin, name } = JSON.parse(read("engine/package.json")) as { bin: object; name: string };
  expect(bin).toHaveProperty("cinnabar-server");
  expect(dockerfile).toContain(`${name.slice(1).replace("/", "-")}-*.tgz`);
});

test("a release stops before anything is published, at the first thing that is not as it should be", () => {
  for (const name of ["scripts", ".changeset", "engine", "toolkit", "console"]) mkdirSync(join(folder, name));
  cpSync(join(ROOT, "scripts/release.js"), join(folder, "scripts/release.js"));
  for (const name of ["engine", "toolkit", "console"])
    writeFileSync(join(folder, name, "package.json"), '{"version":"1.0.0"}');
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: folder, encoding: "utf8" });
  const release = () => {
    const { status, stderr } = spawnSync(process.execPath, ["scripts/release.js"], { cwd: folder, encoding: "utf8" });
    return [status, stderr.trim()];
  };
  git("init", "--quiet", "--initial-branch", "work");
  expect(release()).toEqual([1, "Not ready to release: there are changes that are not committed"]);
  git("add", "-A");
  git("commit", "--quiet", "--message", "Begin");
  expect(release()).toEqual([1, "Not ready to release: this is not main"]);
  git("checkout", "--quiet", "-b", "main");
  writeFileSync(join(folder, ".changeset/one.md"), "one");
  git("add", "-A");
  git("commit", "--quiet", "--message", "Change");
  expect(release()[1]).toContain("1 changesets are not in a version yet");
  git("rm", "--quiet", ".changeset/one.md");
  mkdirSync(join(folder, ".changeset"), { recursive: true });
  writeFileSync(join(folder, ".changeset/config.json"), "{}");
  git("add", "-A");
  git("commit", "--quiet", "--message", "Version");
  git("tag", "v1.0.0");
  expect(release()[1]).toContain("v1.0.0 is released already");
});
