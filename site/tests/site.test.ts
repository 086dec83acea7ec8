/**
 * The built site in Chromium, from a console: addresses and anchors, live parts, search, the playground, and no console errors. Building
 * takes a minute, so this is for `npm run test:full`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Browser, hasBrowser, launch, type Page } from "../../console/tests/chromium.ts";
import { full } from "../../scripts/full.ts";
import { commandGroups, promptsOf } from "../pages/commands.ts";
import { ANSWERS_AN_ERROR } from "../pages/prompts.ts";
import { PAGES, violations } from "./accessibility.ts";
import { brokenLinks, buildSite, DIST, pagesIn, type ServedSite, serveSite } from "./built.ts";

const ready = process.env.SITE_BUILT === "1";
const LONG_MS = 300_000;

describe.runIf((full || ready) && hasBrowser)("the built site", () => {
  let browser: Browser;
  let site: ServedSite;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    if (!ready) buildSite("/docs/", DIST);
    site = await serveSite();
    browser = await launch();
    page = await (await browser.newContext({ permissions: ["clipboard-write"] })).newPage();
    page.on("console", (message) => {
      if (message.type() === "error" && !/404/.test(message.text()))
        complaints.push(`${page.url()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`));
    page.on("request", (request) => {
      if (!/^(?:blob:|data:)/.test(request.url()) && !request.url().startsWith(site.url))
        complaints.push(`asked ${request.url()}`);
    });
  }, LONG_MS);
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  const visit = async (path: string): Promise<void> => {
    await page.goto(`${site.url}/${path}`);
    await page.locator("#app .Layout").waitFor();
  };

  test("leads nowhere that is absent: pages, anchors, files", () => {
    expect(brokenLinks(DIST, "/docs/")).toEqual([]);
    expect(pagesIn(DIST).length).toBeGreaterThan(110);
  });

  test.each(Object.entries(PAGES))("breaks no rule of axe-core on %s", { timeout: LONG_MS }, async (_name, path) => {
    expect(await violations(browser, `${site.url}/${path}`)).toEqual([]);
  });

  test("has no script in its pages, as the policy of the console wants it", () => {
    for (const name of ["index.html", "components/locks.html", "zh/index.html", "api/modules/cinnabar_locks.html"]) {
      const text = readFileSync(join(DIST, name), "utf8");
      expect([...text.matchAll(/<script(?![^>]*\ssrc=)[^>]*>/g)].map(([tag]) => tag)).toEqual([]);
    }
  });

  test("the first program runs on the home page, and shows what it printed, sent and left", async () => {
    await visit("");
    const program = page.locator("[data-live=program]").first();
    await program.getByRole("button", { name: "Run" }).click();
    await program.and(page.locator("[data-state=done]")).waitFor();
    await expect.poll(() => program.locator(".said").allTextContents()).toEqual(["true", "false"]);
    await program.getByRole("tab", { name: /Commands sent/ }).click();
    expect(await program.locator(".sent.script").count()).toBeGreaterThan(1);
    expect(await program.locator(".sent.inside").count()).toBeGreaterThan(1);
    await program.getByRole("tab", { name: /Keys in the store/ }).click();
    expect(await program.locator(".key").count()).toBeGreaterThan(0);
  });

  test("a program can be changed, run, and restored", async () => {
    await visit("components/counters.html");
    const program = page.locator("[data-live=program]").first();
    await program.getByRole("button", { name: "Edit" }).click();
    await program
      .locator(".cm-content")
      .fill('import { open } from "cinnabar";\nconst db = await open();\nconsole.log(await db.incr("n") as number);');
    await program.getByRole("button", { name: "Run" }).click();
    await expect.poll(() => program.locator(".said").allTextContents()).toEqual(["1"]);
    await program.getByRole("button", { name: "Restore" }).click();
    expect(await program.locator("pre").textContent()).toContain("cinnabar/counters");
  });

  test("a program that never ends is stopped", async () => {
    await visit("components/counters.html");
    const program = page.locator("[data-live=program]").first();
    await program.getByRole("button", { name: "Edit" }).click();
    await program.locator(".cm-content").fill("for (;;) {}");
    await program.getByRole("button", { name: "Run" }).click();
    await program.getByRole("button", { name: "Stop" }).click();
    await program.getByRole("button", { name: "Run" }).waitFor();
  });

  test("a program cannot reach the API of the console that serves it", async () => {
    await visit("components/counters.html");
    const program = page.locator("[data-live=program]").first();
    await program.getByRole("button", { name: "Edit" }).click();
    await program
      .locator(".cm-content")
      .fill('console.log(await fetch("/api/overview").then(() => "reached", () => "refused"));');
    complaints.length = 0;
    await program.getByRole("button", { name: "Run" }).click();
    await expect.poll(() => program.locator(".said").allTextContents()).toEqual(["refused"]);
    complaints.length = 0;
  });

  const groups = commandGroups();
  const prompts = promptsOf(groups);

  test.each(groups)("every prompt of $title runs", { timeout: LONG_MS }, async ({ route, entries }) => {
    await visit(`${route.slice(1)}.html`);
    const shown = await page.locator("[data-live=prompt]").all();
    const names = entries.map(({ name }) => name).filter((name) => prompts.has(name));
    expect(shown.length).toBe(names.length);
    for (const [nth, prompt] of shown.entries()) {
      const name = names[nth]!;
      const run = prompt.getByRole("button", { name: "Run" });
      await run.click();
      await prompt.locator(".cli-own input").waitFor();
      await expect.poll(() => run.isEnabled()).toBe(true);
      expect(await prompt.locator("textarea").inputValue()).toBe(prompts.get(name)!.join("\n"));
      expect(await prompt.locator(".cli-reply").count(), name).toBeGreaterThan(0);
      if (ANSWERS_AN_ERROR.test(name)) continue;
      expect([name, await prompt.locator(".cli-reply.error").allTextContents()]).toEqual([name, []]);
    }
  });

  test("the bar fits into the window at every width that it has links or a menu for", async () => {
    for (const start of ["components/locks.html", "zh/components/locks.html", "playground.html"]) {
      await visit(start);
      for (const width of [360, 768, 960, 1100, 1280]) {
        await page.setViewportSize({ width, height: 720 });
        const ends = await page
          .locator(".VPNavBar .content-body > *:visible")
          .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().right));
        expect([start, width, ends.filter((end) => end > width)]).toEqual([start, width, []]);
      }
    }
  });

  test("search finds a component by what it is for, with the keyboard alone", async () => {
    await visit("");
    await page.keyboard.press("/");
    await page.locator("dialog.site-search input").fill("rate limit");
    await page.locator("#search-hits a").first().waitFor();
    const titles = await page.locator("#search-hits strong").allTextContents();
    expect(titles.some((title) => title.startsWith("Rate limits"))).toBe(true);
    await page.keyboard.press("ArrowDown");
    expect(await page.locator("#search-hits [aria-selected=true]").getAttribute("id")).toBe("hit-1");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\.html/);
  });

  test("the playground runs commands, remembers and completes them, and shows the keys", async () => {
    await visit("playground.html");
    const input = page.locator(".cli-own input");
    const type = async (line: string): Promise<void> => {
      await input.fill(line);
      await input.press("Enter");
    };
    const replies = () => page.locator(".cli-reply").allTextContents();
    await type("HSET user:1 name Ann");
    await expect.poll(replies).toEqual(["(integer) 1"]);
    await page.locator(".key-list button", { hasText: "user:1" }).click();
    await expect
      .poll(() => page.locator(".key-detail .cli-reply").allTextContents())
      .toEqual(['1) "name"', '2) "Ann"']);
    await input.fill("hgeta");
    await expect.poll(() => page.locator(".cli-hint").textContent()).toContain("HGETALL");
    await input.press("Tab");
    expect(await input.inputValue()).toBe("HGETALL ");
    await input.fill("");
    await input.press("ArrowUp");
    expect(await input.inputValue()).toBe("HSET user:1 name Ann");
    await type("NOPE");
    await expect
      .poll(async () => (await page.locator(".lab-output[role=log] .cli-reply").allTextContents()).at(-1))
      .toContain("(error) ERR unknown command");
  });

  test("a link brings the commands of a playground to another page, which runs them when asked", async () => {
    await visit("playground.html");
    await page.locator("select").selectOption("game");
    await expect.poll(() => page.locator(".key-list button").count()).toBe(2);
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.waitForURL(/#run=/);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByText("This link brings 6 commands.").waitFor();
    expect(await other.locator(".key-list button").count()).toBe(0);
    await other.getByRole("button", { name: "Run them" }).click();
    await expect
      .poll(() => other.locator(".key-list button").allTextContents())
      .toEqual(["zsetboard", "stringplayers"]);
    await other.close();
  });

  test("leads to the API reference, which runs under the policy of the console and leads back", async () => {
    for (const start of ["", "zh/"]) {
      await visit(start);
      await page.locator(".VPNavBarMenu").getByRole("link", { name: "API" }).click();
      await page.waitForURL(/\/docs\/api\/index\.html/);
    }
    // Its navigation and its search are made by its scripts.
    await page.locator("#tsd-nav-container").getByText("@cinnabar").waitFor();
    expect(await page.locator("html").getAttribute("data-theme")).toBe("os");
    await page.locator("#tsd-search-trigger").click();
    await page.locator("#tsd-search-input").fill("RateLimits");
    await page.locator("#tsd-search-results a").first().click();
    await page.getByRole("heading", { name: "Class RateLimits" }).waitFor();
    await page.locator("#tsd-toolbar-links a", { hasText: "Documentation" }).click();
    await page.locator("#app .Layout").waitFor();
    expect(new URL(page.url()).pathname).toBe("/docs/");
  });

  test("Chinese pages are Chinese, and what is not translated leads to English", async () => {
    await visit("zh/");
    expect(await page.locator("html").getAttribute("lang")).toBe("zh-CN");
    await page.getByRole("button", { name: "运行" }).first().click();
    await expect.poll(() => page.locator(".said").allTextContents()).toContain("你好");
    await page.goto(`${site.url}/zh/guide/operating.html`);
    await page.locator(".absent a", { hasText: "/docs/guide/operating.html" }).waitFor();
  });

  test("nothing complained meanwhile", () => {
    expect(complaints).toEqual([]);
  });
});
