/** The Operate page of search indexes, in a browser, on our store and on a real Redis. */
import { analyser, SearchIndex } from "cinnabar/search";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { NARROW, shoot } from "./browser.ts";
import { describePages, EVIL, eventually } from "./pages.ts";
import type { Backend, Served } from "./support.ts";

describePages("the page of indexes", (_name, label, opened) => {
  let backend: Backend;
  let served: Served;
  let page: Page;
  const row = (text: string) => page.locator("tr", { hasText: text });

  beforeAll(() => {
    ({ backend, served, page } = opened());
  });

  test("says what to do while there is nothing, by the menu and by the keyboard", async () => {
    await page.goto(`${served.url}/#/`);
    await page.locator("main h1").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("b");
    await page.locator(".state", { hasText: "There is no search index." }).waitFor();
    expect((await served.get("/api/indexes/absent")).body.code).toBe("NOT_FOUND");
    expect((await served.send("POST", "/api/indexes/absent/clear")).status).toBe(404);
  });

  test("an index shows its size, fields and words, answers, and is emptied", async () => {
    const books = new SearchIndex(backend.store, "books", {
      fields: { title: { type: "text", weight: 2 }, year: { type: "number" } },
    });
    await books.set(EVIL, { title: "The walking dunes", year: 1998 });
    await books.set("tides", { title: "Tides and dunes", year: 2011 });
    const own = analyser({ stem: { name: "whole", stem: (word) => word } });
    await new SearchIndex(backend.store, "own", { fields: { text: { type: "text" } }, analyser: own }).set("a", {
      text: "x",
    });
    await row("books").waitFor();
    await row("own").waitFor();
    expect((await row("books").locator("td").allTextContents())[1]).toBe("2");
    await page.getByRole("searchbox").fill("BOOK");
    await eventually(() => page.locator("tbody tr").count()).toBe(1);
    await page.getByRole("link", { name: "books" }).click();
    await row("year").waitFor();
    expect(await page.getByRole("table", { name: "Longest lists" }).locator("td").first().textContent()).toBe("dune");
    await page.getByLabel("Words that begin with").fill("ti");
    await eventually(() => page.getByRole("table", { name: "Words", exact: true }).locator("tbody tr").count()).toBe(1);
    await page.getByLabel("Ask the index").fill("dune year:[1990 TO 2000]");
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: "Found" }).getByText(EVIL).waitFor();
    await shoot(page, `indexes-${label}`);
    await page.getByRole("button", { name: "Empty index" }).click();
    await page.locator("[role=dialog]").getByRole("button", { name: "Remove documents" }).click();
    await page.getByRole("heading", { name: "Indexes" }).waitFor();
    await row("books").waitFor({ state: "detached" });
    expect(await books.count()).toBe(0);
  });

  test("an index whose analyser is somebody's own can be looked into all the same", async () => {
    await page.goto(`${served.url}/#/indexes?name=own`);
    await page.getByText("an analyser that the console does not have").waitFor();
    await page.getByRole("table", { name: "Words", exact: true }).getByText("x").waitFor();
    expect((await served.get("/api/indexes/own/search?query=x")).body.code).toBe("ANALYSER");
  });

  test("is not wider than a small screen", async () => {
    await page.setViewportSize(NARROW);
    for (const path of ["indexes", "indexes?name=own"]) {
      await page.goto(`${served.url}/#/${path}`);
      await page.locator("main h1").waitFor();
      await eventually(() => page.locator(".loading").count()).toBe(0);
      expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(NARROW.width);
    }
  });
});
