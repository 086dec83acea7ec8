/** The built site, served by a console as people get it, for tests, figures and screenshots. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "cinnabar";
import { type Served, serve } from "../../console/tests/support.ts";
import { ROOT } from "../pages/routes.ts";
import { SITE } from "../pages/stage.ts";

export const DIST = join(SITE, "dist");

export interface ServedSite {
  /** Of the site: ends with `/docs`. */
  readonly url: string;
  readonly served: Served;
  close(): Promise<void>;
}

export async function serveSite(): Promise<ServedSite> {
  if (!existsSync(join(DIST, "index.html"))) throw new Error("the site is not built: npm run build && npm run site");
  const store = await open();
  const served = await serve(store, { docs: DIST });
  return {
    url: `${served.url}/docs`,
    served,
    close: async () => {
      await served.console.close();
      await store.close();
    },
  };
}

/** Builds the site for a place on its host into a folder. */
export function buildSite(base: string, out: string): void {
  const args = ["--conditions=source", "--import", "tsx", join(ROOT, "site/build.ts")];
  const env = { ...process.env, NODE_ENV: "production", SITE_BASE: base, SITE_OUT: out };
  execFileSync(process.execPath, args, { cwd: ROOT, env });
}

export const pagesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".html"));

/** Links, scripts and pictures of a built site that lead to no file or to no anchor. */
export function brokenLinks(folder: string, base: string): string[] {
  const pages = pagesIn(folder);
  const ids = new Map(
    pages.map((name) => [
      name,
      new Set([...readFileSync(join(folder, name), "utf8").matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id!)),
    ]),
  );
  return pages.flatMap((name) => {
    const text = readFileSync(join(folder, name), "utf8");
    return [...text.matchAll(/\s(?:href|src)="([^"]+)"/g)].flatMap(([, link]) => {
      if (/^(?:https?:|mailto:|data:)/.test(link!)) return [];
      const { pathname, hash } = new URL(link!.replaceAll("&amp;", "&"), `http://x${base}${name}`);
      if (!pathname.startsWith(base)) return [`${name} → ${link}`];
      const path = decodeURIComponent(pathname.slice(base.length)).replace(/(^|\/)$/, "$1index.html");
      if (!existsSync(join(folder, path))) return [`${name} → ${link}`];
      const anchor = decodeURIComponent(hash.slice(1));
      if (anchor === "" || !path.endsWith(".html")) return [];
      return ids.get(path)!.has(anchor) ? [] : [`${name} → ${link}`];
    });
  });
}
