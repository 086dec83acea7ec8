/** All examples in a browser, on our store and on a real Redis: samples, names, the keyboard, a lost console, both widths. */
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { full } from "../../scripts/full.ts";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { EXAMPLES } from "../src/examples/index.ts";
import { openConsole } from "../src/server.ts";
import { buildPage, hasBrowser, NARROW, openBrowser, PATIENCE_MS, shoot, WIDE } from "./browser.ts";
import { eventually, type Screen, screenOf } from "./examples.ts";
import { type Backend, backends, type Served, serve, temporaryFolder } from "./support.ts";
import { violations } from "./violations.ts";

const folder = temporaryFolder();
const built = join(folder.path, "ui");
let browser: Browser;

describe.runIf(hasBrowser)("the examples", () => {
  beforeAll(async () => {
    await buildPage(built);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    folder.remove();
  });

  describe.each(backends(full && installed("redis-server") ? startRedis : undefined))("on %s", (name, start) => {
    let backend: Backend;
    let served: Served;
    let screen: Screen;
    const label = name.replace(/\W+/g, "-");

    beforeAll(async () => {
      backend = await start();
      served = await serve(backend.store, { page: built });
      screen = await screenOf(browser, served.url, "Ann");
    });
    afterAll(async () => {
      await screen?.context.close();
      await served?.console.close();
      await backend?.stop();
    });

    test("one click makes all samples, every page shows its own, one click removes everything", async () => {
      const { page, offences } = screen;
      await backend.store.call("SET", "not:an:example", "1");
      await page.goto(`${served.url}/#/examples`);
      await page.getByRole("button", { name: "Make all sample data" }).click();
      await expect
        .poll(() => page.getByText("sample data is there").count(), { timeout: 3 * PATIENCE_MS })
        .toBe(EXAMPLES.length);
      await shoot(page, `${label}-examples`);
      for (const example of EXAMPLES) {
        await page.setViewportSize(WIDE);
        await page.goto(`${served.url}/#/examples/${example.name}`);
        await page.locator("h1", { hasText: example.title }).waitFor();
        await page
          .getByRole("link", { name: example.title, exact: true })
          .and(page.locator("[aria-current]"))
          .waitFor();
        await page.locator(".request").first().waitFor();
        await page.setViewportSize(NARROW);
        expect(await page.evaluate("document.documentElement.scrollWidth"), example.name).toBeLessThanOrEqual(
          NARROW.width,
        );
      }
      await page.setViewportSize(WIDE);
      await page.goto(`${served.url}/#/examples`);
      await page.getByRole("button", { name: "Remove all data" }).click();
      await page.locator("[role=dialog]").getByRole("button", { name: "Remove data" }).click();
      await expect
        .poll(() => page.getByText("no sample data").count(), { timeout: 3 * PATIENCE_MS })
        .toBe(EXAMPLES.length);
      expect(await backend.store.call("GET", "not:an:example")).toBe("1");
      expect(offences).toEqual([]);
    });

    // What axe-core looks at does not depend on the store behind it.
    test.runIf(name === "our store")("axe-core finds nothing to object to in their looks, light and dark", async () => {
      const { page } = screen;
      for (const example of EXAMPLES) await served.send("POST", `/api/examples/${example.name}/sample`);
      const states = async () =>
        (await served.get("/api/examples")).body.examples.map(
          (each: { sample: { state: string } }) => each.sample.state,
        );
      await expect.poll(states, { timeout: 3 * PATIENCE_MS }).toEqual(EXAMPLES.map(() => "present"));
      const found: Record<string, string[]> = {};
      for (const example of EXAMPLES) {
        await page.goto(`${served.url}/#/examples/${example.name}`);
        await page.locator("h1", { hasText: example.title }).waitFor();
        await page.locator(".request").first().waitFor();
        await expect.poll(() => page.locator(".loading, .example-loading").count()).toBe(0);
        expect(await page.locator(".sample-make").count(), `${example.name} is filled`).toBe(1);
        found[example.name] = await violations(page);
        // People who speak to their computer say what they see.
        const unspoken = await page.locator("main :is(button, a)[aria-label]").evaluateAll((all) =>
          all.flatMap((each) => {
            const [label, seen] = [each.getAttribute("aria-label")!, each.textContent!.trim()];
            return /\w{2}/.test(seen) && !label.toLowerCase().includes(seen.toLowerCase()) ? [`${seen}: ${label}`] : [];
          }),
        );
        found[`${example.name}: visible labels that are not spoken`] = unspoken;
        await page.setViewportSize(NARROW);
        await page.emulateMedia({ colorScheme: "dark" });
        found[`${example.name}, dark`] = await violations(page);
        await page.emulateMedia({ colorScheme: "light" });
        await page.setViewportSize(WIDE);
      }
      expect(Object.entries(found).filter(([, all]) => all.length > 0)).toEqual([]);
      for (const { name } of EXAMPLES.filter((each) => each.name !== "news"))
        await served.send("DELETE", `/api/examples/${name}/sample`);
    });

    test("the data of one example is removed after a question, for everybody who looks", async () => {
      const { page } = screen;
      await served.send("DELETE", "/api/examples/news/sample");
      const other = await screenOf(browser, served.url, "Ben");
      for (const each of [page, other.page]) await each.goto(`${served.url}/#/examples/news`);
      await page.getByText("No news yet.").waitFor();
      await page.locator(".state").getByRole("button", { name: "Make sample data" }).click();
      await other.page.locator(".news-article").first().waitFor();
      await page.getByRole("button", { name: "Remove data" }).click();
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.locator(".news-article").first().waitFor();
      await page.getByRole("button", { name: "Remove data" }).click();
      await page.locator("[role=dialog]").getByRole("button", { name: "Remove data" }).click();
      for (const each of [page, other.page]) await each.getByText("No news yet.").waitFor();
      await other.context.close();
    });

    test("somebody new has a name, may choose another, and is told what is none", async () => {
      const context = await browser.newContext({ viewport: WIDE });
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      await page.goto(`${served.url}/#/examples/news`);
      const mine = page.locator(".visitor b");
      await mine.waitFor();
      expect(await mine.textContent()).toMatch(/^[A-Z][a-z]+ \d\d$/);
      await page.locator(".visitor").click();
      await page.getByLabel("Name").fill("<script>");
      await page.getByRole("button", { name: "Be that" }).click();
      await page.getByText("a name has 1 to 24").waitFor();
      await page.getByLabel("Name").fill("Zoë");
      await page.keyboard.press("Enter");
      await eventually(() => mine.textContent()).toBe("Zoë");
      await page.reload();
      await eventually(() => mine.textContent()).toBe("Zoë");
      await eventually(() => screen.page.locator(".visitor b").textContent()).toBe("Ann");
      expect(await page.evaluate("document.cookie")).toBe("");
      await context.close();
    });

    test("the keyboard goes to every example, and keys for places are not keys of the page", async () => {
      const { page } = screen;
      await page.goto(`${served.url}/#/examples/news`);
      await page.locator(".drawer.open").waitFor();
      for (const [key, title] of [
        ["s", "Shop"],
        ["m", "Marketplace"],
        ["a", "Autocomplete"],
        ["e", "Examples"],
        ["n", "News"],
      ] as const) {
        await page.keyboard.press("e");
        await page.keyboard.press(key);
        await page.locator("h1", { hasText: title }).waitFor();
      }
      await page.keyboard.press("g");
      await page.keyboard.press("t");
      await page.goBack();
      await page.locator(".drawer.open").waitFor();
      await page.keyboard.press("?");
      await page.locator("[role=dialog]", { hasText: "commands that an example sent" }).waitFor();
      await page.keyboard.press("Escape");
    });
  });

  test("a page whose console is lost keeps what it shows, and follows again when it is back", async () => {
    const [, start] = backends(undefined)[0]!;
    const backend = await start();
    const first = await serve(backend.store, { page: built });
    const { page, context } = await screenOf(browser, first.url, "Ann");
    await page.goto(`${first.url}/#/examples/news`);
    await page.locator(".state").getByRole("button", { name: "Make sample data" }).click();
    await page.locator(".news-article").first().waitFor();
    await first.console.close();
    await page.getByText("The console does not answer.").waitFor();
    expect(await page.locator(".news-article").count()).toBe(15);
    await page
      .getByRole("button", { name: /^Vote up/ })
      .first()
      .click();
    await page.locator(".notice", { hasText: "the console does not answer" }).waitFor();
    await shoot(page, "examples-lost");
    const second = await openConsole({ store: backend.store, backend: "test", page: built });
    await second.listen("127.0.0.1", first.port);
    await page.locator(".banner").waitFor({ state: "detached" });
    // From another console on the same store: heard over the stream that came back by itself.
    const other = await serve(backend.store);
    await expect
      .poll(
        async () => {
          await other.send("DELETE", "/api/examples/news/sample");
          return page.getByText("No news yet.").count();
        },
        { timeout: 20_000 },
      )
      .toBe(1);
    await context.close();
    await other.console.close();
    await second.close();
    await backend.stop();
  });
});
