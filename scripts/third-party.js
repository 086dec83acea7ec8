/**
 * What others have written and our packages contain: bundlers put it into our files, and its licences go with it. The packages are
 * named by the source maps of what esbuild has made, and by lists beside what Vite has made, which has no maps.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { files } from "./files.js";

/** Where Vite leaves its list, in the folder that it writes. */
export const LIST = "bundled.json";

/**
 * The folder of the package that a file belongs to; undefined for a file of ours. Where a package is bundled itself, its maps name
 * folders as they were when that was made: here what was in them may be further up.
 */
function packageOf(file) {
  const [, above, name] = /^(.*)node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(file) ?? [];
  if (name === undefined) return undefined;
  const folder = join(above, "node_modules", name);
  if (existsSync(join(folder, "package.json"))) return folder;
  const outer = /^(.*)node_modules[\\/]/.exec(above)?.[1];
  if (outer === undefined) throw new Error(`${file} is of a package that is not here`);
  return packageOf(join(outer, "node_modules", name, "file"));
}

/** For Vite: the list of packages whose modules are in the output. */
export function listsPackages(root) {
  return {
    name: "lists-packages",
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap(({ moduleIds = [] }) => moduleIds);
      const folders = new Set(
        modules.map((id) => packageOf(id.replace(/^\0/, ""))).filter((each) => each !== undefined),
      );
      const source = JSON.stringify([...folders].map((folder) => relative(root, folder)).sort());
      this.emitFile({ type: "asset", fileName: LIST, source });
    },
  };
}

/** The folders of all packages that are in the files of a folder, which is in `root`. */
export function bundledIn(folder, root) {
  const mapped = files(folder, (name) => /\.m?js\.map$/.test(name)).flatMap((file) =>
    JSON.parse(readFileSync(file, "utf8")).sources.map((source) => packageOf(resolve(dirname(file), source))),
  );
  const listed = files(folder, (name) => name === LIST).flatMap((file) =>
    JSON.parse(readFileSync(file, "utf8")).map((each) => join(root, each)),
  );
  return [...new Set([...mapped, ...listed])].filter((each) => each !== undefined).sort();
}

/** The text that is shipped; null where nothing of others is inside. Throws where a package does not say under what licence it is. */
export function noticeOf(folders) {
  if (folders.length === 0) return null;
  const entries = new Map();
  for (const folder of folders) {
    const { name, version, license, author, homepage } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)\b/i.test(file));
    if (typeof license !== "string") throw new Error(`${name} does not name its licence`);
    const by = typeof author === "string" ? author : author?.name;
    const facts = [`${name} ${version}`, license, by, homepage].filter((each) => each !== undefined).join(", ");
    const words = texts.map((file) => readFileSync(join(folder, file), "utf8").trim());
    entries.set(`${name} ${version}`, [facts, ...words].join("\n\n"));
  }
  const rule = `\n\n${"-".repeat(80)}\n\n`;
  const sorted = [...entries].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, text]) => text);
  return `The files of this package contain code of the packages below.${rule}${sorted.join(rule)}\n`;
}
