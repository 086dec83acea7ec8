/**
 * The site as static files at the root of a host: built with SITE_BASE=/, served by a server that knows nothing but files. Building takes
 * a minute, so this is for `npm run test:full`.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Browser, hasBrowser, launch } from "../../console/tests/chromium.ts";
import { full } from "../../scripts/full.ts";
import { brokenLinks, buildSite, pagesIn } from "./built.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

/** Files below a folder, by their paths, and `index.html` for folders. */
function serveFiles(folder: string): Server {
  return createServer(({ url = "/" }, response) => {
    const path = join(folder, normalize(decodeURIComponent(new URL(url, "http://x").pathname)));
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    const file = isFolder ? join(path, "index.html") : path;
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) response.writeHead(404).end();
    else {
      const type = TYPES[extname(file)] ?? "application/octet-stream";
      response.setHeader("content-type", type).end(readFileSync(file));
    }
  });
}

describe.runIf(full)("the site as static files", () => {
  const folder = mkdtempSync(join(tmpdir(), "cinnabar-site-"));
  let server: Server;
  let url: string;

  beforeAll(async () => {
    buildSite("/", folder);
    server = serveFiles(folder);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }, 300_000);
  afterAll(() => {
    server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("leads nowhere that is absent", () => {
    expect(brokenLinks(folder, "/")).toEqual([]);
    expect(pagesIn(folder).length).toBeGreaterThan(110);
  });

  test("is served as it is: every page, and everything that pages load", async () => {
    const loaded = new Set(["/run/commands.json", "/run/worker.js"]);
    for (const name of pagesIn(folder)) {
      loaded.add(`/${name}`);
      const text = readFileSync(join(folder, name), "utf8");
      for (const [, link] of text.matchAll(/<(?:script|link|img)[^>]*\s(?:href|src)="([^"]+)"/g)) {
        if (!/^(?:https?|data):/.test(link!)) loaded.add(new URL(link!, `http://x/${name}`).pathname);
      }
    }
    const failed: string[] = [];
    for (const path of loaded) {
      const { ok, status } = await fetch(`${url}${path}`);
      if (!ok) failed.push(`${path}: ${status}`);
    }
    expect(failed).toEqual([]);
    expect(loaded.size).toBeGreaterThan(150);
  });

  test.skipIf(!hasBrowser)("runs its programs", async () => {
    const browser: Browser = await launch();
    const page = await browser.newPage();
    await page.goto(`${url}/components/locks.html`);
    const program = page.locator("[data-live=program]").first();
    await program.getByRole("button", { name: "Run" }).click();
    await program.and(page.locator("[data-state=done]")).waitFor();
    expect(await program.locator(".said").count()).toBeGreaterThan(0);
    await browser.close();
  });
});
