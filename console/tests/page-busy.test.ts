/** While something is being done, nothing else can be begun, and nothing twice; the keyboard stays where it was. */
import { Cache } from "cinnabar/cache";
import { Chats } from "cinnabar/chats";
import { RateLimits } from "cinnabar/rate-limits";
import { SearchIndex } from "cinnabar/search";
import { Sessions } from "cinnabar/sessions";
import { expect, test } from "vitest";
import { describePages, eventually } from "./pages.ts";

/** A view, the button that acts, and the button that agrees where it asks. */
const ACTIONS: [path: string, button: string | RegExp, agree?: string][] = [
  ["caches?name=pages", "Delete front"],
  ["caches?name=pages", "news", "Invalidate tag"],
  ["chats?name=team", "Remove ann", "Remove member"],
  ["config?filter=slowlog-max-len", "Set"],
  ["files", "Take a snapshot"],
  ["indexes?name=books", "Empty index", "Remove documents"],
  ["limits?name=api", "Forgive 10.0.0.2"],
  ["scripts", "Forget cached scripts", "Forget scripts"],
  ["scripts", "Run script"],
  ["sessions?user=ann", "End session", "End session"],
  ["keys?key=h", "Remove"],
  ["examples/news", "Make sample data"],
];

describePages(
  "what is being done",
  (_name, _label, opened) => {
    test.each(ACTIONS)("disables buttons at %s: %s", async (path, name, agree) => {
      const { page, served } = opened();
      const button = page.getByRole("button", { name, exact: typeof name === "string" }).first();
      await page.goto(`${served.url}/?${Math.random()}#/${path}`);
      await page.locator("main h1").waitFor({ state: "attached" });
      if (name === "Set") await page.getByRole("button", { name: /^Change slowlog-max-len/ }).click();
      if (name === "Run script") await page.getByLabel("Script", { exact: true }).fill("return 1");
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      let asked = 0;
      await page.route("**/api/**", async (route) => {
        if (route.request().method() === "GET") return route.fallback();
        asked++;
        await held;
        // What is asked for here is not done: only the page is looked at.
        await route.fulfill({ status: 409, contentType: "application/problem+json", body: '{"detail":"not now"}' });
      });
      try {
        await button.focus();
        await page.keyboard.press("Enter");
        if (agree !== undefined) await page.getByRole("dialog").getByRole("button", { name: agree }).click();
        await eventually(() => asked).toBe(1);
        // A button that gave its place to a bar of progress cannot be pressed either.
        if ((await button.count()) > 0) await eventually(() => button.isDisabled()).toBe(true);
        release();
        await page.getByText("not now").first().waitFor();
        await eventually(() => button.isEnabled()).toBe(true);
        expect(asked).toBe(1);
        if (agree === undefined && !path.startsWith("examples"))
          await eventually(() => button.and(page.locator(":focus")).count()).toBe(1);
      } finally {
        release();
        await page.unroute("**/api/**");
      }
    });
  },
  {
    fill: async ({ store }) => {
      await store.call("HSET", "h", "f", "1", "g", "2");
      const pages = new Cache<string>(store, "pages", { shards: 4 });
      await pages.get("front", () => "made", { tags: ["news"] });
      await new Chats<string>(store).joinMany("team", ["ann", "ben"]);
      const limits = new RateLimits(store, { name: "api", rules: [{ limit: 2, windowMs: 3_600_000 }] });
      for (let nth = 0; nth < 3; nth++) await limits.take("10.0.0.2");
      const books = new SearchIndex(store, "books", { fields: { title: { type: "text" } } });
      await books.set("sand", { title: "The walking dunes" });
      await new Sessions(store).create({ user: "ann" });
    },
  },
);
