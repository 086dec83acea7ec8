/** The page when things are not as they should be: a console or a store that is lost, a password, very many keys. */
import { join } from "node:path";
import { open } from "cinnabar";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { openConsole } from "../src/server.ts";
import { buildPage, hasBrowser, openBrowser, PATIENCE_MS, shoot, WIDE, watch } from "./browser.ts";
import { serve, temporaryFolder } from "./support.ts";

const folder = temporaryFolder();
const built = join(folder.path, "ui");
let browser: Browser;

async function newPage(): Promise<Page> {
  const page = await browser.newPage({ viewport: WIDE });
  page.setDefaultTimeout(PATIENCE_MS);
  return page;
}

describe.runIf(hasBrowser)("the page", () => {
  beforeAll(async () => {
    await buildPage(built);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    folder.remove();
  });

  test("tells that the console is lost, and recovers by itself", async () => {
    const store = await open();
    const first = await serve(store, { page: built });
    const page = await newPage();
    await page.goto(`${first.url}/#/keys`);
    await page.getByText("The store is empty.").waitFor();
    await first.console.close();
    await page.getByText("The console does not answer.").waitFor();
    await shoot(page, "lost");
    await store.call("SET", "meanwhile", "1");
    const second = await openConsole({ store, backend: "test", page: built });
    await second.listen("127.0.0.1", first.port);
    await page.locator(".banner").waitFor({ state: "detached" });
    await page.locator(".key", { hasText: "meanwhile" }).waitFor();
    await page.close();
    await second.close();
    await store.close();
  });

  test.runIf(installed("redis-server"))("tells that the store is lost, and recovers by itself", async () => {
    const redis = await startRedis();
    const store = await open(redis.url, { retryMs: 200 });
    const served = await serve(store, { page: built });
    const page = await newPage();
    try {
      await page.goto(`${served.url}/#/`);
      await page.locator(".facts").waitFor();
      await redis.kill();
      await page.getByText("cannot reach its store").waitFor();
      await page.goto(`${served.url}/#/clients`);
      await page.getByText("This could not be loaded.").waitFor();
      await shoot(page, "store-lost");
      await redis.restart();
      await page.locator(".banner").waitFor({ state: "detached" });
      await page.locator("table[aria-label=Clients]").waitFor();
    } finally {
      await page.close();
      await served.console.close();
      await store.close();
      await redis.stop();
    }
  });

  test.runIf(installed("redis-server"))("shows how the circuit of a lost server opens and closes", async () => {
    const redis = await startRedis();
    const store = await open(redis.url, { retryMs: 200, breaker: { openAfterMs: 0, probeEveryMs: 100 } });
    const served = await serve(store, { page: built });
    const page = await newPage();
    const row = page.locator("table[aria-label='Circuit breakers'] tbody tr");
    try {
      await page.goto(`${served.url}/#/`);
      await row.getByText("closed", { exact: true }).waitFor();
      expect(await row.count()).toBe(1);
      await redis.kill();
      await row.locator(".circuit.open, .circuit.half-open").first().waitFor();
      await row.getByText(/ECONNREFUSED|was lost/).waitFor();
      await shoot(page, "circuit-open");
      // The page can also be opened while the server is away.
      await page.reload();
      await row.locator(".circuit.open, .circuit.half-open").first().waitFor();
      await redis.restart();
      await row.getByText("closed", { exact: true }).waitFor();
    } finally {
      await page.close();
      await served.console.close();
      await store.close();
      await redis.stop();
    }
  });

  test("asks for the password, says when it is wrong, and goes on when it is right", async () => {
    const store = await open();
    const served = await serve(store, { page: built, password: "open sesame" });
    const page = await newPage();
    const offences = watch(page, served.url);
    await page.goto(served.url);
    await page.getByLabel("Password").fill("open barley");
    await page.keyboard.press("Enter");
    await page.getByText("that is not the password").waitFor();
    await shoot(page, "sign-in");
    await page.getByLabel("Password").fill("open sesame");
    await page.keyboard.press("Enter");
    await page.locator("h1", { hasText: "Overview" }).waitFor();
    await page.reload();
    await page.locator(".facts").waitFor();
    expect(await page.evaluate("document.cookie")).toBe("");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Password").waitFor();
    expect(await page.evaluate("fetch('/api/info').then(({ status }) => status)")).toBe(401);
    expect(offences).toEqual([]);
    await page.close();
    await served.console.close();
    await store.close();
  });

  test("that is read-only says so, has no examples and offers no changes, and tells what the server refuses", async () => {
    const store = await open();
    await store.call("SET", "kept", "as it is");
    const served = await serve(store, { page: built, readOnly: true });
    const page = await newPage();
    await page.goto(`${served.url}/#/keys?key=kept`);
    await page.locator("pre.string", { hasText: "as it is" }).waitFor();
    await page.locator("nav .badge", { hasText: "read-only" }).waitFor();
    expect(await page.locator("nav a[href='#/examples']").count()).toBe(0);
    for (const name of ["New key", "Edit", "Rename", "Delete"]) {
      expect(await page.getByRole("button", { name, exact: true }).count(), name).toBe(0);
    }
    await page.goto(`${served.url}/#/command`);
    await page.getByLabel("Command", { exact: true }).fill("DEL kept");
    await page.keyboard.press("Enter");
    await page.getByText("this console is read-only").waitFor();
    expect(await store.call("GET", "kept")).toBe("as it is");
    await page.close();
    await served.console.close();
    await store.close();
  });

  test("goes where somebody goes in the moment in which it appears", async () => {
    const store = await open();
    const served = await serve(store, { page: built });
    const page = await newPage();
    // As soon as the frame is there, before the browser has drawn it.
    await page.addInitScript(`new MutationObserver((_, observer) => {
      if (document.querySelector(".frame") === null) return;
      observer.disconnect();
      location.hash = "/clients";
    }).observe(document, { childList: true, subtree: true })`);
    await page.goto(`${served.url}/#/keys`);
    await page.locator("table[aria-label=Clients]").waitFor();
    await page.close();
    await served.console.close();
    await store.close();
  });

  test("in several windows takes one connection of each, of the six that a browser has for one host", async () => {
    const store = await open();
    const served = await serve(store, { page: built });
    const context = await browser.newContext({ viewport: WIDE });
    const pages: Page[] = [];
    for (let nth = 0; nth < 4; nth++) {
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      await page.goto(`${served.url}/#/examples/jobs`);
      await page.getByText("Nobody is looking for anybody.").waitFor();
      pages.push(page);
    }
    await pages[0]!.getByRole("button", { name: "Make sample data" }).first().click();
    for (const page of pages) await page.locator(".jobs-filters").waitFor();
    await context.close();
    await served.console.close();
    await store.close();
  });

  test("browses a million keys with a handful of rows in the document", async () => {
    const store = await open("memory:", { config: { "enable-debug-command": "yes" } });
    await store.call("DEBUG", "POPULATE", 1_000_000, "user", 8);
    await store.call("SET", "needle:in:the:hay", "found");
    const served = await serve(store, { page: built });
    const page = await newPage();
    await page.goto(`${served.url}/#/keys`);
    await page.getByText(/^\d+\+ keys$/).waitFor();
    await page.getByRole("button", { name: "Tree" }).click();
    await page.getByRole("button", { name: "Load 1000 more" }).click();
    await expect
      .poll(async () => Number.parseInt((await page.locator(".left .note").textContent()) ?? "", 10), {
        timeout: 10_000,
      })
      .toBeGreaterThanOrEqual(2_000);
    await page.locator(".key-list").evaluate("(list) => list.scrollTo(0, list.scrollHeight)");
    await page.locator(".key", { hasText: "user:" }).last().waitFor();
    expect(await page.locator(".key").count()).toBeLessThan(80);
    await shoot(page, "million-keys");
    await page.getByRole("button", { name: "Tree" }).click();
    await page.getByRole("button", { name: /^user:/ }).waitFor();
    await page.goto(`${served.url}/#/keys?key=needle:in:the:hay`);
    await page.locator("pre.string", { hasText: "found" }).waitFor();
    await page.close();
    await served.console.close();
    await store.close();
  });
});
