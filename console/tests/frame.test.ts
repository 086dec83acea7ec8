/** The frame around all views: what it weighs, how it is kept, the menu, the palette, addresses, and what axe-core says of each view. */
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { NARROW, WIDE } from "./browser.ts";
import { type Filled, fill } from "./filled.ts";
import { describePages, eventually } from "./pages.ts";
import { serve } from "./support.ts";
import { violations } from "./violations.ts";

/** Scripts and styles of the first view together, as gzip sends them. */
const MOST_BYTES = 250_000;

const VIEWS = [
  ...["", "command", "scripts", "slow", "clients", "config", "files", "workbench", "audit", "analysis"],
  ...["profiler", "pubsub", "events", "commands"],
  ...["keys?key=list", "keys?key=set", "keys?key=zset", "keys?key=text&do=edit", "keys?key=text&do=delete"],
  ...["caches?name=pages", "limits?name=api", "chats?name=team", "indexes?name=books"],
  ...["keys", "keys?key=hash", "keys?key=stream", "keys?key=text", "keys?key=hash&element=field:field"],
  ...["keys?sizeFrom=1&select=on", "keys?select=all&dialog=rename", "keys?select=all&dialog=delete"],
  ...["keys?dialog=export", "keys?dialog=import"],
  ...["queues", "queues?name=mails&shards=1", "queues?name=mails&state=dead", "queues?name=mails&tab=schedules"],
  ...["queues?name=mails&tab=groups", "queues?name=mails&tab=workers", "queues?name=mails&dialog=add"],
  ...["locks", "sessions", "caches", "limits", "chats", "timelines", "indexes", "shards", "measures"],
  ...["components", "components?kind=latches", "topics", "topics?name=orders", "examples", "nowhere"],
];

/** Opens a dialog by its address, and tells what it is called when it comes. */
const FIRST_NAME = `new Promise((resolve) => {
  new MutationObserver((_, observer) => {
    const dialog = document.querySelector("[role=dialog]");
    if (dialog === null) return;
    observer.disconnect();
    resolve(dialog.getAttribute("aria-label"));
  }).observe(document.body, { childList: true, subtree: true });
  location.hash = "#/keys?dialog=export";
})`;

let release = async (): Promise<void> => {};
let jobs: Filled["jobs"];

describePages(
  "the frame",
  (name, _label, opened) => {
    const visit = async (path: string) => {
      const { page, served } = opened();
      await page.goto(`${served.url}/#/${path}`);
      // On a phone, a key that is open takes the place of the list and of its heading.
      await page.locator("main h1").waitFor({ state: "attached" });
    };

    test("the first view is light, compressed, and kept for ever by its hash", async () => {
      const { page, served } = opened();
      let total = 0;
      const seen: Promise<void>[] = [];
      const heard = (response: Awaited<ReturnType<Page["waitForResponse"]>>) => {
        if (!["script", "stylesheet"].includes(response.request().resourceType())) return;
        seen.push(
          response.body().then((body) => {
            total += gzipSync(body).length;
            expect(response.headers()).toMatchObject({ "cache-control": "public, max-age=31536000, immutable" });
            if (body.length >= 1_024)
              expect(response.headers()["content-encoding"], response.url()).toMatch(/^(br|gzip)$/);
          }),
        );
      };
      page.on("response", heard);
      await page.goto(served.url);
      await page.locator(".chart canvas").first().waitFor();
      page.off("response", heard);
      await Promise.all(seen);
      expect(seen.length).toBeGreaterThan(2);
      expect(total).toBeGreaterThan(50_000);
      expect(total).toBeLessThanOrEqual(MOST_BYTES);
      expect((await served.get("/")).headers.get("cache-control")).toBe("no-cache");
    });

    test("the palette finds pages, keys, queues and actions", async () => {
      const { page } = opened();
      const search = page.getByLabel("Find pages, keys, queues and actions");
      await visit("");
      await page.keyboard.press("Control+k");
      await search.fill("slow l");
      await page.keyboard.press("Enter");
      await page.locator("h1", { hasText: "Slow log" }).waitFor();
      await page.getByRole("button", { name: "Find anything" }).click();
      await search.fill("zse");
      await page.getByRole("button", { name: /^zset/ }).click();
      await eventually(() => new URL(page.url()).hash).toBe("#/keys?key=zset");
      await page.keyboard.press("Control+k");
      await search.fill("mails");
      await page.getByRole("button", { name: /^mails Queue/ }).click();
      await page.locator("h1", { hasText: "mails" }).waitFor();
      await page.keyboard.press("Control+k");
      await search.fill("dark");
      await page.keyboard.press("Enter");
      await eventually(() => page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
      await page.getByRole("button", { name: "Light theme" }).click();
      await page.keyboard.press("Control+k");
      await search.fill("no such thing");
      await page.getByText("Nothing has that in its name.").waitFor();
      await page.keyboard.press("Escape");
      await eventually(() => search.count()).toBe(0);
    });

    test("groups fold, the menu becomes a rail, and the browser remembers both", async () => {
      const { page } = opened();
      await visit("keys");
      const links = page.locator("nav .links a[href='#/config']");
      await page.getByRole("button", { name: "Server", exact: true }).click();
      await eventually(() => links.count()).toBe(0);
      await page.getByRole("button", { name: "Narrow the menu" }).click();
      await page.reload();
      await page.getByRole("button", { name: "Widen the menu" }).click();
      expect(await links.count()).toBe(0);
      await page.getByRole("button", { name: "Server", exact: true }).click();
      await links.waitFor();
    });

    test("an unknown address says so and leads back", async () => {
      const { page } = opened();
      await visit("nowhere/at/all");
      await page.getByText("This console has no page at “nowhere/at/all”.").waitFor();
      await page.getByRole("link", { name: "Open overview" }).click();
      await page.locator("h1", { hasText: "Overview" }).waitFor();
    });

    test("the keyboard help opens at its beginning, and no two views have one letter", async () => {
      const { page } = opened();
      await visit("keys");
      await page.keyboard.press("?");
      const help = page.getByRole("dialog", { name: "Keyboard" });
      await help.waitFor();
      const keys = await help.locator("tr, li, dt, p").evaluateAll((rows) =>
        rows.flatMap((row) => {
          const keys = [...row.querySelectorAll("kbd")].map((key) => key.textContent);
          return keys.length === 2 && /^[ge]$/.test(keys[0] ?? "") ? [keys.join(" ")] : [];
        }),
      );
      expect(keys.length).toBeGreaterThan(30);
      expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
      expect(await page.evaluate("document.querySelector('[role=dialog]').scrollTop")).toBe(0);
      await page.keyboard.press("Escape");
    });

    test("a dialog has its name from the first moment, when it takes the focus", async () => {
      const { page } = opened();
      await visit("keys");
      // One that is just closing is not the one that comes.
      await page.locator("[role=dialog]").waitFor({ state: "detached" });
      expect(await page.evaluate(FIRST_NAME)).toBe("Export keys");
    });

    // What axe-core looks at does not depend on the store behind it.
    describe.runIf(name === "our store")("axe-core finds nothing to object to", () => {
      const look = async (path: string) => {
        await visit(path);
        await opened().page.locator(".loading").first().waitFor({ state: "detached" });
        expect(await violations(opened().page)).toEqual([]);
      };

      test.each(VIEWS)("at /%s", look);

      test("at jobs: dead, delayed, and in a flow", async () => {
        for (const id of Object.values(jobs)) {
          await visit(`queues?name=mails&shards=1&job=${encodeURIComponent(id)}`);
          await opened().page.getByRole("list", { name: "What happened" }).waitFor();
          expect(await violations(opened().page)).toEqual([]);
        }
      });

      test("with the palette, the help and what can be undone open", async () => {
        const { page } = opened();
        await visit("keys?key=list");
        await page.keyboard.press("Control+k");
        await page.getByLabel("Find pages, keys, queues and actions").fill("con");
        await page.getByRole("button", { name: /^Configuration/ }).waitFor();
        expect(await violations(page), "the palette").toEqual([]);
        await page.keyboard.press("Escape");
        await page.getByLabel("Find pages, keys, queues and actions").waitFor({ state: "detached" });
        await page.keyboard.press("?");
        await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
        expect(await violations(page), "the help").toEqual([]);
        await page.keyboard.press("Escape");
        await page.getByRole("dialog").waitFor({ state: "detached" });
        await page.getByRole("button", { name: "Remove" }).last().click();
        await page.getByRole("button", { name: "Undo" }).waitFor();
        expect(await violations(page), "what can be undone").toEqual([]);
        await page.getByRole("button", { name: "Undo" }).click();
        await page.getByText("Undone.").waitFor();
      });

      test.each(["one password", "names"])("where somebody signs in with %s, light and dark", async (what) => {
        const { backend, served, page } = opened();
        const context = await page.context().browser()!.newContext({ viewport: WIDE });
        const users = [{ name: "ann", role: "admin" as const, password: "pw" }];
        const locked = await serve(backend.store, {
          page: served.page!,
          ...(what === "names" ? { users } : { password: "pw" }),
        });
        const other = await context.newPage();
        for (const colorScheme of ["light", "dark"] as const) {
          await other.emulateMedia({ colorScheme });
          await other.goto(locked.url);
          await other.getByRole("button", { name: "Sign in" }).waitFor();
          expect(await violations(other), colorScheme).toEqual([]);
        }
        await context.close();
        await locked.console.close();
      });

      test("in the dark", async () => {
        const { page } = opened();
        await visit("");
        await page.getByRole("button", { name: "Dark theme" }).click();
        for (const path of [
          "",
          "queues?name=mails&shards=1",
          "queues?name=mails&state=dead",
          "commands",
          "locks",
          "keys",
        ])
          await look(path);
        await page.getByRole("button", { name: "Light theme" }).click();
      });

      test("on a phone", async () => {
        const { page } = opened();
        await page.setViewportSize(NARROW);
        // Dialogs look the same at any width but this: some of them suffice.
        for (const path of VIEWS.filter((each) => !/dialog|tab=/.test(each))) await look(path);
        await page.setViewportSize(WIDE);
        await release();
      });
    });
  },
  {
    fill: async ({ store }) => {
      ({ release, jobs } = await fill(store));
    },
  },
);
