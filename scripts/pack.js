/**
 * What is published: a folder for each package in `.packages`, and its tarball beside it. `npm run pack` builds first.
 *
 * A package stands by itself. It has the licence and the documents that concern it, with links to what it contains and none to what
 * it does not; the bundles and the declarations that its ways in need, and nothing that is only for tests; no conditions that lead
 * to sources which are not there; and the licences of what bundlers have put into it (THIRD-PARTY.txt).
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { files } from "./files.js";
import { bundledIn, LIST, noticeOf } from "./third-party.js";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const OUT = join(ROOT, ".packages");

/** Which documents go where: the place in the repository → the place in the package. */
const guides = (...names) => Object.fromEntries(names.map((name) => [`docs/${name}.md`, `docs/${name}.md`]));
const components = () => {
  const folder = join(ROOT, "toolkit/src/components");
  const named = readdirSync(folder).filter((name) => existsSync(join(folder, name, "README.md")));
  return Object.fromEntries(named.map((name) => [`toolkit/src/components/${name}/README.md`, `docs/${name}.md`]));
};
const DOCUMENTS = {
  engine: guides("engine", "commands", "differences", "cluster", "tls", "moving-to-redis"),
  toolkit: {
    ...guides(
      "toolkit",
      "testing",
      "connections",
      "vocabulary",
      "growth",
      "clocks",
      "upgrading",
      "scale",
      "frameworks",
      "telemetry",
    ),
    ...components(),
  },
  console: guides("console", "examples", "command-line"),
};

/** Sources that a package reads while it runs: the console shows those of its examples. */
const SOURCES = { engine: [], toolkit: [], console: ["src/examples"] };

/** The declarations that are reachable from the ways in. */
function declarations(dist, entries) {
  const found = new Set();
  const visit = (file) => {
    if (found.has(file) || !existsSync(file)) return;
    found.add(file);
    for (const specifier of importsOf(readFileSync(file, "utf8"))) {
      visit(resolve(dirname(file), specifier.replace(/\.ts$/, ".d.ts")));
    }
  };
  for (const entry of entries) visit(entry);
  return [...found].filter((file) => file.startsWith(dist));
}

const SPECIFIER = /(\bfrom |\bimport\(|\bimport )"(\.[^"]*)\.ts"/g;
const importsOf = (text) => [...text.matchAll(SPECIFIER)].map(([, , path]) => `${path}.ts`);

/** Not every TypeScript takes `.ts` for the declarations of a file. */
const withJs = (text) => text.replace(SPECIFIER, (_all, before, path) => `${before}"${path}.js"`);

/** TypeScript before 5.7 knows these without parameters; without them they mean the same. */
const PARAMETERS = /\b(Buffer|DataView|(?:Big)?(?:Uint|Int|Float)\d+(?:Clamped)?Array)<ArrayBuffer(?:Like)?>/g;
const forOlder = (text) => text.replace(PARAMETERS, "$1");

function cleaned(manifest) {
  const exports = Object.fromEntries(
    Object.entries(manifest.exports ?? {}).map(([way, { source: _source, ...conditions }]) => [way, conditions]),
  );
  const { devDependencies: _development, scripts: _scripts, files: _files, ...kept } = manifest;
  return { ...kept, ...(manifest.exports && { exports: { ...exports, "./package.json": "./package.json" } }) };
}

/** A document with the links that its package can follow; elsewhere the words stay, without a link. */
function relinked(text, from, to, places) {
  return text.replace(/(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)/g, (all, isImage, words, path, anchor = "") => {
    if (path === "" || /^[a-z]+:/.test(path)) return all;
    const place = places.get(relative(ROOT, resolve(ROOT, dirname(from), path)));
    if (place === undefined) return isImage === "" ? words : "";
    const link = relative(dirname(to), place);
    return `${isImage}[${words}](${link.startsWith(".") ? link : `./${link}`}${anchor})`;
  });
}

function stage(member) {
  const source = join(ROOT, member);
  const target = join(OUT, member);
  mkdirSync(target, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  writeFileSync(join(target, "package.json"), `${JSON.stringify(cleaned(manifest), null, 2)}\n`);
  cpSync(join(ROOT, "LICENSE"), join(target, "LICENSE"));
  if (existsSync(join(source, "bin"))) cpSync(join(source, "bin"), join(target, "bin"), { recursive: true });

  const dist = join(source, "dist");
  const entries = Object.values(manifest.exports ?? {}).map(({ types }) => join(source, types));
  const shipped = [
    ...files(dist, (name) => !/\.d\.ts$|\.tsbuildinfo$/.test(name) && name !== LIST),
    ...declarations(dist, entries),
    ...SOURCES[member].flatMap((folder) => files(join(source, folder), (name) => !name.endsWith(".test.ts"))),
  ];
  for (const file of shipped) {
    const place = join(target, relative(source, file));
    mkdirSync(dirname(place), { recursive: true });
    if (file.endsWith(".d.ts")) writeFileSync(place, forOlder(withJs(readFileSync(file, "utf8"))));
    else cpSync(file, place);
  }

  const notice = noticeOf(bundledIn(dist, ROOT));
  if (notice !== null) writeFileSync(join(target, "THIRD-PARTY.txt"), notice);

  const places = new Map([...Object.entries(DOCUMENTS[member]), [`${member}/README.md`, "README.md"]]);
  for (const [from, to] of places) {
    mkdirSync(dirname(join(target, to)), { recursive: true });
    writeFileSync(join(target, to), relinked(readFileSync(join(ROOT, from), "utf8"), from, to, places));
  }
  return target;
}

rmSync(OUT, { recursive: true, force: true });
for (const member of ["engine", "toolkit", "console"]) {
  const target = stage(member);
  const [{ filename, files: all, unpackedSize }] = JSON.parse(
    execFileSync("npm", ["pack", "--json", "--pack-destination", OUT], { cwd: target, encoding: "utf8" }),
  );
  console.log(`${basename(filename)}: ${all.length} files, ${Math.round(unpackedSize / 1024)} KB unpacked`);
}
