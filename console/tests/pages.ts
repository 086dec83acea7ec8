/** The page in a browser, on our store and on a real Redis, for tests of what operators see. */
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect } from "vitest";
import { full } from "../../scripts/full.ts";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { buildPage, hasBrowser, openBrowser, PATIENCE_MS, WIDE, watch } from "./browser.ts";
import { type Backend, backends, type Served, serve, temporaryFolder } from "./support.ts";

export interface Opened {
  readonly backend: Backend;
  readonly served: Served;
  readonly page: Page;
}

export interface PagesOptions {
  /** Fills the store before the console opens it. */
  readonly fill?: (backend: Backend) => Promise<void>;
}

/** A value that would run if a page took it for markup. */
export const EVIL = `<img src=x onerror="window.ran = 1"><script>window.ran = 1</script>`;

/** Machines may be busy. */
export const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 });

/**
 * Runs a suite on our store, and in the full run on a Redis too. Whatever its tests do, the page asks no other host, throws nothing, and runs nothing that was
 * stored. `opened` is there inside of tests and hooks; `label` is for names of files.
 */
export function describePages(
  title: string,
  suite: (name: string, label: string, opened: () => Opened) => void,
  { fill }: PagesOptions = {},
): void {
  describe.runIf(hasBrowser)(title, () => {
    const folder = temporaryFolder();
    const built = join(folder.path, "ui");
    let browser: Browser;
    beforeAll(async () => {
      await buildPage(built);
      browser = await openBrowser();
    });
    afterAll(async () => {
      await browser?.close();
      folder.remove();
    });
    describe.each(backends(full && installed("redis-server") ? startRedis : undefined))("on %s", (name, start) => {
      let opened: Opened | undefined;
      let offences: string[];
      beforeAll(async () => {
        const backend = await start();
        await fill?.(backend);
        const served = await serve(backend.store, { page: built });
        const page = await browser.newPage({ viewport: WIDE });
        page.setDefaultTimeout(PATIENCE_MS);
        offences = watch(page, served.url);
        opened = { backend, served, page };
      });
      afterAll(async () => {
        await opened?.page.close();
        await opened?.served.console.close();
        await opened?.backend.stop();
      });
      afterEach(async () => {
        expect(offences).toEqual([]);
        expect(await opened!.page.evaluate("window.ran")).toBeUndefined();
      });
      suite(name, name.replace(/\W+/g, "-"), () => opened!);
    });
  });
}
