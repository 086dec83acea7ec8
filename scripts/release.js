/**
 * Everything that a release needs, up to publishing and not further: `npm run release`.
 *
 * It stops at the first thing that is not as it should be: a working tree with changes, a branch other than main, changesets that
 * are not versioned yet, checks that fail. Then it packs, tries what a registry would take with `npm publish --dry-run`, and
 * prints the commands that publish. The release workflow runs these, because provenance can be attested there.
 *
 *   node scripts/release.js             all of it
 *   node scripts/release.js --no-tests  without the suites, which the workflow has run
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const MEMBERS = ["engine", "toolkit", "console"];

const git = (...args) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();

function stop(reason) {
  console.error(`Not ready to release: ${reason}`);
  process.exit(1);
}

function run(command, ...args) {
  console.log(`> ${command} ${args.join(" ")}`);
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: "inherit" });
  if (status !== 0) stop(`${command} ${args.join(" ")} failed`);
}

const manifests = MEMBERS.map((member) => JSON.parse(readFileSync(join(ROOT, member, "package.json"), "utf8")));

if (git("status", "--porcelain") !== "") stop("there are changes that are not committed");
if (git("branch", "--show-current") !== "main") stop("this is not main");
const waiting = readdirSync(join(ROOT, ".changeset")).filter((name) => name.endsWith(".md") && name !== "README.md");
if (waiting.length > 0)
  stop(`${waiting.length} changesets are not in a version yet: npx changeset version, and commit`);
const versions = new Set(manifests.map(({ version }) => version));
if (versions.size > 1) stop(`the packages have different versions: ${[...versions].join(", ")}`);
const [version] = versions;
if (git("tag", "--list", `v${version}`) !== "") stop(`v${version} is released already`);

if (!process.argv.includes("--no-tests")) run("npm", "test");
run("npm", "run", "--silent", "pack");
const tarballs = readdirSync(join(ROOT, ".packages")).filter((name) => name.endsWith(".tgz"));
if (tarballs.length !== MEMBERS.length) stop(`.packages has ${tarballs.length} packages, not ${MEMBERS.length}`);
for (const name of tarballs) run("npm", "publish", "--dry-run", "--access", "public", join(".packages", name));

console.log(
  `\nv${version} is ready. Nothing has been published. In the release workflow, which can attest provenance:\n`,
);
console.log(`  git tag v${version} && git push origin v${version}`);
for (const name of tarballs) console.log(`  npm publish --provenance --access public .packages/${name}`);
