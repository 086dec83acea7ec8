/** Which documents of the repository are pages of the site, and where: the one list of both. Paths are from the repository's root. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

/** Where the site stands on its host. */
export const BASE = process.env.SITE_BASE ?? "/docs/";

/** Where the build puts it. */
export const OUT = process.env.SITE_OUT ?? join(ROOT, "site/dist");

/** Without `.html`; a route that ends with `/` is the `index` of its folder. */
export type Route = string;

/** The site has pages of its own for what these say. */
const REPLACED: Readonly<Record<string, Route>> = {
  "README.md": "/",
  "README.zh-CN.md": "/zh/",
  "docs/commands.md": "/commands/",
  "docs/start.md": "/start",
  "docs/zh/start.md": "/zh/start",
  "docs/zh/README.md": "/zh/guide/",
};

const PATTERNS: readonly (readonly [RegExp, (name: string) => Route])[] = [
  [/^site\/content\/(.+)\.md$/, (name) => `/${name.replace(/(^|\/)index$/, "$1")}`],
  [/^docs\/zh\/components\/([\w-]+)\.md$/, (name) => `/zh/components/${name}`],
  [/^docs\/zh\/([\w-]+)\.md$/, (name) => `/zh/guide/${name}`],
  [/^docs\/migrating\/README\.md$/, () => "/migrating/"],
  [/^docs\/migrating\/([\w-]+)\.md$/, (name) => `/migrating/${name}`],
  [/^docs\/comparisons\/([\w-]+)\.md$/, (name) => `/comparisons/${name}`],
  [/^docs\/([\w-]+)\.md$/, (name) => `/guide/${name}`],
  [/^toolkit\/src\/components\/([\w-]+)\/README\.md$/, (name) => `/components/${name}`],
  [/^(engine|toolkit|console|examples)\/README\.md$/, (name) => `/packages/${name}`],
  [/^([A-Z]+)\.md$/, (name) => `/project/${name.toLowerCase()}`],
  [/^((?:engine|toolkit)\/(?:src|tests)\/\w+)\/README\.md$/, (name) => `/project/${name.replaceAll("/", "-")}`],
];

/** The page of a document; undefined for files that have none. */
export function routeOf(document: string): Route | undefined {
  const replaced = REPLACED[document];
  if (replaced !== undefined) return replaced;
  for (const [pattern, route] of PATTERNS) {
    const match = pattern.exec(document);
    if (match !== null) return route(match[1] ?? "");
  }
  return undefined;
}

/** Whether the page's text is the document's. */
export const isTaken = (document: string): boolean =>
  routeOf(document) !== undefined && !["README.md", "README.zh-CN.md", "docs/commands.md"].includes(document);

/** The file of a page among those that VitePress reads. */
export const fileOf = (route: Route): string => `${route.replace(/\/$/, "/index").slice(1)}.md`;

/** The page of such a file. */
export const routeOfFile = (file: string): Route => `/${file.replace(/(^|\/)index\.md$|\.md$/, "$1")}`;

/**
 * Where the switch of languages leads from a page: to the same page in the other language where there is one, otherwise to the start
 * page of that language. Pages in Chinese stand below `/zh/`, at the places of the English ones.
 */
export function inOtherLanguage(route: Route, exists: (route: Route) => boolean): Route {
  const isChinese = route.startsWith("/zh/");
  const counterpart = isChinese ? route.slice("/zh".length) : `/zh${route}`;
  if (exists(counterpart)) return counterpart;
  return isChinese ? "/" : "/zh/";
}

/** Every document of the repository that is a page. */
export function documents(): string[] {
  const folders = ["docs", "engine", "toolkit", "console", "examples", "site/content"];
  const below = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  );
  return [...readdirSync(ROOT), ...below]
    .filter((name) => name.endsWith(".md") && !/(^|\/)(node_modules|dist|data|\.next)\//.test(name) && isTaken(name))
    .sort();
}
