/** Many tabs of one browser: they share one stream of events, all answer, all are live, and none is held while nobody looks. */
import type { BrowserContext, Page } from "playwright-core";
import { expect, test } from "vitest";
import { openConsole } from "../src/server.ts";
import { PATIENCE_MS, WIDE } from "./browser.ts";
import { describePages, eventually } from "./pages.ts";

const TABS = ["", "keys", "examples/jobs", "examples/news", "queues", "clients", "examples/jobs"];

/** Streams that the console serves at this moment. */
const streams = (served: { readonly console: { readonly live: { readonly listeners: number } } }) =>
  served.console.live.listeners;

/** Pretends that the tab went to the background, or came back: headless Chromium shows all of them. */
const show = (page: Page, visible: boolean) =>
  page.evaluate(`{
    Object.defineProperty(document, "hidden", { configurable: true, get: () => ${!visible} });
    document.dispatchEvent(new Event("visibilitychange"));
  }`);

async function openTabs(context: BrowserContext, url: string): Promise<Page[]> {
  const pages: Page[] = [];
  for (const path of TABS) {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(`${url}/#/${path}`);
    await page.locator("main h1").waitFor();
    pages.push(page);
  }
  return pages;
}

describePages("seven tabs", (_name, _label, opened) => {
  test("answer, are live, share one stream, and recover when the console is lost and back", async () => {
    const { page: first, backend, served } = opened();
    const context = await first.context().browser()!.newContext({ viewport: WIDE });
    const own = await openConsole({ store: backend.store, backend: "test", page: served.page! });
    const port = await own.listen("127.0.0.1", 0);
    const url = `http://127.0.0.1:${port}`;
    const pages = await openTabs(context, url);
    await eventually(() => streams({ console: own })).toBe(1);

    // Every one can still ask, and the examples among them hear of each other's changes.
    for (const page of pages) {
      expect(await page.evaluate("fetch('/api/info').then(({ status }) => status)")).toBe(200);
    }
    const jobs = [pages[2]!, pages[6]!];
    await pages[2]!.getByRole("button", { name: "Make sample data" }).first().click();
    for (const page of jobs) await page.locator(".jobs-filters").waitFor();

    await own.close();
    for (const page of pages) await page.getByText("The console does not answer.").waitFor();
    const again = await openConsole({ store: backend.store, backend: "test", page: served.page! });
    await again.listen("127.0.0.1", port);
    for (const page of pages) await page.locator(".banner").waitFor({ state: "detached" });
    await eventually(() => streams({ console: again })).toBe(1);

    // Hidden tabs need no stream; the last one that is seen keeps it.
    for (const page of pages.slice(1)) await show(page, false);
    await eventually(() => streams({ console: again })).toBe(1);
    await show(pages[0]!, false);
    await eventually(() => streams({ console: again })).toBe(0);
    await show(pages[3]!, true);
    await eventually(() => streams({ console: again })).toBe(1);
    await pages[3]!.close();
    await eventually(() => streams({ console: again })).toBe(0);
    await context.close();
    await again.close();
  });
});
