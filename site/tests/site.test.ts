/**
 * The built site in Chromium, from a console: addresses and anchors, live parts, search, the playground, and no console errors. Building
 * takes a minute, so this is for `npm run test:full`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Browser,
  hasBrowser,
  launch,
  NARROW,
  type Page,
  type Request,
  WIDE,
} from "../../console/tests/chromium.ts";
import { violations as violationsIn } from "../../console/tests/violations.ts";
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
    await expect.poll(() => page.locator(".key-list button").allTextContents()).toEqual(["hashuser:1"]);
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

  describe("the console's key browser in the playground", () => {
    const input = () => page.locator(".cli-own input");
    const type = async (line: string): Promise<void> => {
      await input().fill(line);
      await input().press("Enter");
    };
    const lastReply = async () => (await page.locator(".lab-output[role=log] .cli-reply").allTextContents()).at(-1);
    const keys = () => page.frameLocator("iframe.key-browser");
    const open = () => page.getByRole("button", { name: "Browse and edit keys" }).click();

    test("is loaded when it is opened, and not before", async () => {
      const asked: string[] = [];
      const note = (request: Request): unknown => asked.push(new URL(request.url()).pathname);
      page.on("request", note);
      await visit("playground.html");
      await type("SET greeting hello");
      await expect.poll(() => page.locator(".key-list button").count()).toBe(1);
      const ofBrowser = () => asked.filter((path) => /keys\/|keys-server|key-browser|run\/toolkit/.test(path));
      expect(ofBrowser()).toEqual([]);
      await open();
      await keys().getByRole("link", { name: "greeting" }).waitFor();
      expect(ofBrowser()).toEqual(expect.arrayContaining(["/docs/keys/index.html", "/docs/run/keys-server.js"]));
      page.off("request", note);
    });

    test("shows keys with type and time to live, edits and deletes them, and the prompt sees it", async () => {
      await visit("playground.html");
      await type("SET greeting hello EX 600");
      await type("HSET user:1 name Ann");
      await open();
      const greeting = keys().getByRole("link", { name: /greeting/ });
      await expect.poll(() => greeting.textContent()).toMatch(/^greeting.*10 min.*string$/);
      await greeting.click();
      await expect.poll(() => keys().locator("pre.string").textContent()).toBe("hello");
      await keys().getByRole("button", { name: "Edit value" }).click();
      await keys().getByRole("textbox", { name: "Value" }).fill("good morning");
      await keys().getByRole("button", { name: "Save" }).click();
      await expect.poll(() => keys().locator("pre.string").textContent()).toBe("good morning");
      await type("GET greeting");
      await expect.poll(lastReply).toBe('"good morning"');
      await keys().getByRole("button", { name: "Delete key" }).click();
      await keys().getByRole("dialog").getByRole("button", { name: "Delete key" }).click();
      await greeting.waitFor({ state: "detached" });
      await type("EXISTS greeting user:1");
      await expect.poll(lastReply).toBe("(integer) 1");
      await page.getByRole("button", { name: "Close key browser" }).click();
      await expect.poll(() => page.locator(".key-list button").allTextContents()).toEqual(["hashuser:1"]);
    });

    test("follows the prompt: its commands, its database, another store", async () => {
      await visit("playground.html");
      await type("RPUSH tasks one");
      await page.locator(".key-list button", { hasText: "tasks" }).click();
      await expect.poll(() => keys().locator("tbody tr").count()).toBe(1);
      await type("RPUSH tasks two");
      await expect.poll(() => keys().locator("tbody tr").count()).toBe(2);
      await type("SET later 1");
      await keys().getByRole("link", { name: "later" }).waitFor();
      await type("DEL tasks");
      await keys().getByText("This key is gone.").waitFor();
      await type("SELECT 1");
      await type("SET elsewhere 1");
      await keys().getByRole("link", { name: "elsewhere" }).waitFor();
      expect(await keys().getByRole("link", { name: "later" }).count()).toBe(0);
      await page.getByRole("button", { name: "Empty the store" }).click();
      await keys().getByText("The store is empty.").waitFor();
      await type("SET anew 1");
      await keys().getByRole("link", { name: "anew" }).waitFor();
    });

    test("finds keys, makes them, and tells what the store refuses", async () => {
      await visit("playground.html");
      await page.locator("select").selectOption("shop");
      await open();
      await keys().getByRole("searchbox", { name: "Pattern" }).fill("product");
      await expect.poll(() => keys().locator(".key.folder .label").allTextContents()).toEqual(["product:"]);
      const make = async (name: string): Promise<void> => {
        await keys().getByRole("button", { name: "New key" }).click();
        await keys().getByRole("dialog").getByLabel("Key", { exact: true }).fill(name);
        await keys().getByRole("dialog").getByRole("button", { name: "Create key" }).click();
      };
      await make("product:4");
      await keys().getByRole("heading", { name: "product:4" }).waitFor();
      await make("product:1");
      await keys().getByText("there is such a key already").waitFor();
    });

    test("finds keys by their time to live with a scan in the worker", async () => {
      await visit("playground.html");
      await page.locator("select").selectOption("shop");
      await open();
      await keys().getByRole("button", { name: "More filters" }).click();
      await keys().getByRole("combobox", { name: "Expiry" }).selectOption("some");
      await keys().getByText("1 key fits").waitFor();
      await expect.poll(() => keys().locator(".key.folder .label").allTextContents()).toEqual(["cart:"]);
    });

    test("shows values in their forms: JSON, compressed, MessagePack, bytes", async () => {
      const quoted = (bytes: Buffer): string => `"${bytes.toString("hex").replace(/../g, "\\x$&")}"`;
      const forms: Readonly<Record<string, readonly [value: Buffer, form: string]>> = {
        json: [Buffer.from('{"tea":1}'), "JSON"],
        packed: [gzipSync('{"tea":1}'), "gzip → JSON"],
        deflated: [deflateSync("tea"), "deflate → Text"],
        message: [Buffer.from([0x81, 0xa3, 0x74, 0x65, 0x61, 0xd2, 0xff, 0xff, 0xff, 0xff]), "MessagePack"],
        bytes: [Buffer.from([0xff, 0xfe, 0x00]), "Hexadecimal"],
      };
      await visit("playground.html");
      for (const [name, [value]] of Object.entries(forms)) await type(`SET ${name} ${quoted(value)}`);
      await open();
      for (const [name, [, form]] of Object.entries(forms)) {
        await keys().getByRole("link", { name }).click();
        await keys()
          .getByRole("option", { name: `Automatic: ${form}` })
          .waitFor({ state: "attached" });
      }
    });

    test("is used with the keyboard alone", async () => {
      await visit("playground.html");
      await type("SET greeting hello");
      await page.locator(".key-list button").waitFor();
      await page.locator(".key-list button").focus();
      await page.keyboard.press("Enter");
      await keys().locator("h2.name").waitFor();
      await expect.poll(() => page.evaluate("document.activeElement.className")).toBe("key-browser");
      await page.keyboard.press("/");
      expect(await keys().locator(":focus").getAttribute("type")).toBe("search");
      await page.keyboard.press("Escape");
      await keys().getByRole("button", { name: "Delete key" }).focus();
      await page.keyboard.press("Enter");
      await keys().getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await keys().getByRole("dialog").waitFor({ state: "detached" });
    });

    test("breaks no rule of axe-core, light and dark, wide and narrow", { timeout: LONG_MS }, async () => {
      for (const viewport of [WIDE, NARROW]) {
        for (const colorScheme of ["light", "dark"] as const) {
          const context = await browser.newContext({ viewport, colorScheme, bypassCSP: true });
          const own = await context.newPage();
          await own.goto(`${site.url}/playground.html`);
          await own.locator("select").selectOption("shop");
          await own.locator(".key-list button").nth(1).click();
          await own.frameLocator(".key-browser").locator("td").first().waitFor();
          const frame = own.frames().find((each) => each.url().includes("/keys/"))!;
          expect(await frame.locator("html").getAttribute("data-theme")).toBe(colorScheme);
          const found = [await violationsIn(own), await violationsIn(frame)];
          expect([viewport.width, colorScheme, found]).toEqual([viewport.width, colorScheme, [[], []]]);
          const width = await frame.evaluate("document.documentElement.scrollWidth - innerWidth");
          expect(width).toBeLessThanOrEqual(0);
          await context.close();
        }
      }
    });
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
