/** Writes what VitePress reads: the pages into site/.stage/pages, and what stands beside them into its `public`. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commandGroups, groupPage, overviewPage, promptsOf } from "./commands.ts";
import { type Item, type Navigation, navigation } from "./navigation.ts";
import { documents, fileOf, ROOT, type Route, routeOf } from "./routes.ts";
import { pageFrom, publishedAs } from "./transform.ts";

export const SITE = join(ROOT, "site");
export const STAGE = join(SITE, ".stage");
export const PAGES = join(STAGE, "pages");
export const PUBLIC = join(PAGES, "public");

export interface Staged {
  /** The text of each page, by its route. */
  readonly pages: ReadonlyMap<Route, string>;
  /** Files of the repository that pages lead to. */
  readonly files: ReadonlySet<string>;
  readonly navigation: Navigation;
}

/** All pages, as they are to be written. */
export function gather(): Staged {
  const pages = new Map<Route, string>();
  const files = new Set<string>();
  for (const document of documents()) {
    const page = pageFrom(document, readFileSync(join(ROOT, document), "utf8"));
    pages.set(routeOf(document)!, page.text);
    for (const file of page.files) files.add(file);
  }
  const groups = commandGroups();
  const prompts = promptsOf(groups);
  for (const group of groups) pages.set(group.route, groupPage(group, prompts));
  pages.set("/commands/", overviewPage(groups));
  const commands: Item[] = groups.map(({ title, route }) => ({ text: title, link: route }));
  return { pages, files, navigation: navigation(new Set(pages.keys()), commands) };
}

/** Writes a file unless it says the same already: VitePress's server for writers reloads what has changed. */
function write(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

export function stage(): Staged {
  const staged = gather();
  const expected = new Set([...staged.pages.keys()].map((route) => join(PAGES, fileOf(route))));
  for (const [route, text] of staged.pages) write(join(PAGES, fileOf(route)), text);
  for (const old of readdirSync(PAGES, { recursive: true, encoding: "utf8" })) {
    const path = join(PAGES, old);
    if (old.endsWith(".md") && !expected.has(path)) rmSync(path);
  }
  rmSync(join(PUBLIC, "files"), { recursive: true, force: true });
  for (const file of staged.files) {
    const place = join(PUBLIC, publishedAs(file));
    mkdirSync(dirname(place), { recursive: true });
    cpSync(join(ROOT, file), place);
  }
  write(join(STAGE, "navigation.json"), JSON.stringify(staged.navigation));
  return staged;
}
