/** What can be seen of the packages without running them. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { files } from "../files.js";
import { bundledIn, noticeOf } from "../third-party.js";
import { PACKAGES, passes, tarballs } from "./projects.js";

const MEMBERS = ["engine", "toolkit", "console"];
const ROOT = process.cwd();

/** publint, and are-the-types-wrong. */
export function lint() {
  const found = [];
  for (const file of tarballs) {
    const tarball = join(PACKAGES, file);
    const publint = passes("npx", ["publint", "run", tarball, "--strict"], ROOT);
    if (publint !== null) found.push(`publint, ${file}: ${publint}`);
    const types = passes("npx", ["attw", tarball, "--profile", "esm-only"], ROOT);
    if (types !== null) found.push(`are-the-types-wrong, ${file}: ${types}`);
  }
  return found;
}

/** Links of shipped documents lead to shipped files, and every package has its licence, and those of what it contains. */
export function checkDocuments() {
  const found = [];
  for (const member of MEMBERS) {
    const folder = join(PACKAGES, member);
    if (!existsSync(join(folder, "LICENSE"))) found.push(`${member} has no LICENSE`);
    const notice = noticeOf(bundledIn(join(ROOT, member, "dist"), ROOT));
    const shipped = join(folder, "THIRD-PARTY.txt");
    if (notice !== (existsSync(shipped) ? readFileSync(shipped, "utf8") : null))
      found.push(`${member}: THIRD-PARTY.txt is not what its bundles contain`);
    for (const file of files(folder, (name) => name.endsWith(".md"))) {
      for (const [, link] of readFileSync(file, "utf8").matchAll(/\]\(([^)#\s]+)(?:#[^)\s]*)?\)/g)) {
        if (!/^[a-z]+:/.test(link) && !existsSync(resolve(dirname(file), link)))
          found.push(`${file}: ${link} is not shipped`);
      }
    }
  }
  return found;
}

/** Source maps have the sources inside, and a file that names a map has it beside it. */
export function checkMaps() {
  const found = [];
  for (const file of files(PACKAGES, (name) => name.endsWith(".map"))) {
    const { sources, sourcesContent = [] } = JSON.parse(readFileSync(file, "utf8"));
    const missing = sources.filter((_source, at) => typeof sourcesContent[at] !== "string");
    if (missing.length > 0) found.push(`${file}: without the text of ${missing.slice(0, 3).join(", ")}`);
  }
  for (const file of files(PACKAGES, (name) => /\.(m?js|css|d\.ts)$/.test(name))) {
    const named = /^(?:\/\/|\/\*)# sourceMappingURL=(\S+?)(?: ?\*\/)?$/m.exec(
      readFileSync(file, "utf8").slice(-500),
    )?.[1];
    if (named !== undefined && !named.startsWith("data:") && !existsSync(resolve(dirname(file), named)))
      found.push(`${file}: names the map ${named}, which is not shipped`);
  }
  return found;
}
