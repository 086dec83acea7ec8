/** The news: posting, voting, groups and pages by its API on every kind of store; and the page, with two people at once. */
import { beforeAll, expect, test } from "vitest";
import { NARROW, shoot, WIDE } from "./browser.ts";
import {
  as,
  describeExample,
  describeScreens,
  eventually,
  type Screen,
  sentBy,
  shiftWhileLoading,
} from "./examples.ts";
import type { Served } from "./support.ts";

const article = (id: string, title: string, groups: string[] = []) => ({ id, title, url: "", groups });

describeExample("news", (served) => {
  test("people post, vote, change their mind and take articles back", async () => {
    const ann = await as(served(), "Ann");
    const ben = await as(served(), "Ben");
    const posted = await ann.send("POST", "/news/articles", {
      ...article("article-1", "  A   title ", ["science"]),
      url: "https://example.org/a",
    });
    expect(posted.body).toMatchObject({ poster: "Ann", up: 1, fields: { title: "A title" }, groups: ["science"] });
    expect(sentBy(posted.trace)).toEqual(["board.post", "PUBLISH"]);
    expect((await ann.send("POST", "/news/articles", article("article-1", "Again"))).body.fields.title).toBe("A title");
    expect((await ben.send("POST", "/news/articles", article("article-1", "Mine"))).status).toBe(409);

    const vote = (person: typeof ann, direction: string) =>
      person.send("POST", "/news/articles/article-1/vote", { direction });
    expect((await vote(ben, "up")).body).toMatchObject({ status: "changed", up: 2, down: 0 });
    expect((await vote(ben, "down")).body).toMatchObject({ up: 1, down: 1 });
    const seen = await ben.get("/news/articles?by=score");
    expect(seen.body).toMatchObject({ size: 1, cursor: null, items: [{ id: "article-1", myVote: -1 }] });
    expect(sentBy(seen.trace)).toEqual(["board.list", "ZCARD"]);
    expect((await ann.get("/news/articles?by=score")).body.items[0].myVote).toBe(1);
    expect((await vote(ben, "none")).body).toMatchObject({ up: 1, down: 0 });

    expect((await ben.send("DELETE", "/news/articles/article-1")).body).toMatchObject({ code: "NOT_YOURS" });
    expect((await ann.send("DELETE", "/news/articles/article-1")).status).toBe(200);
    expect((await vote(ben, "up")).body).toMatchObject({ code: "NO_ARTICLE" });
  });

  test("an invalid article is refused, with the trace of what was sent before", async () => {
    const ann = await as(served(), "Ann");
    const post = (body: object) => ann.send("POST", "/news/articles", body);
    expect((await post(article("article-2", "   "))).body).toMatchObject({ status: 400, code: "TITLE" });
    expect((await post({ ...article("article-2", "x"), url: "javascript:alert(1)" })).body.code).toBe("URL");
    expect((await post({ ...article("article-2", "x"), url: "nonsense" })).body.code).toBe("URL");
    expect((await post(article("article-2", "x", ["no such group"]))).status).toBe(400);
    const four = ["programming", "science", "design", "history"];
    expect((await post(article("article-2", "x", four))).body.code).toBe("GROUPS");
    expect((await post(article("a b", "x"))).status).toBe(400);
    const gone = await ann.send("POST", "/news/articles/absent/vote", { direction: "up" });
    expect(gone.status).toBe(404);
    expect(sentBy(gone.trace)).toEqual(["board.vote"]);
    const nobody = await served().send("POST", "/api/examples/news/articles", article("article-3", "x"));
    expect(nobody.body).toMatchObject({ status: 401, code: "NO_NAME" });
  });

  test("the sample fills pages by score and by time, and groups", async () => {
    const ann = await as(served(), "Ann");
    expect((await ann.send("POST", "/news/sample")).status).toBe(200);
    const ids = async (query: string) => {
      const found: string[] = [];
      for (let after = ""; ; ) {
        const { body } = await ann.get(
          `/news/articles?limit=10&${query}${after && `&after=${encodeURIComponent(after)}`}`,
        );
        found.push(...body.items.map(({ id }: { id: string }) => id));
        if (body.cursor === null) return found;
        after = body.cursor;
      }
    };
    const best = await ids("by=score");
    expect(new Set(best).size).toBe(36);
    expect(best.indexOf("sample-01")).toBeLessThan(best.indexOf("sample-28"));
    expect((await ids("by=time")).length).toBe(36);
    const games = await ids("by=score&group=games");
    expect(games.length).toBeGreaterThan(5);
    expect(games).toContain("sample-05");
    const both = await ids("by=score&group=games&second=history&match=all");
    expect(both).toEqual(["sample-05"]);
    const either = await ids("by=score&group=games&second=history&match=any");
    const history = await ids("by=score&group=history");
    expect([...either].sort()).toEqual([...new Set([...games, ...history])].sort());
  });
});

describeScreens("the page of the news", (screens) => {
  let served: Served;
  let ann: Screen;
  let ben: Screen;
  beforeAll(() => {
    ({ served, ann, ben } = screens());
  });

  test("is useful when empty, and one click fills it", async () => {
    await ann.page.goto(`${served.url}/#/examples/news`);
    await ann.page.getByText("No news yet.").waitFor();
    await shoot(ann.page, "examples-news-empty");
    await ann.page.locator(".state").getByRole("button", { name: "Make sample data" }).click();
    await ann.page.getByText("36 articles").waitFor();
    await ann.page.locator(".news-article").first().waitFor();
    expect(await ann.page.locator(".news-article").count()).toBe(15);
  });

  test("pages, order and groups are chosen", async () => {
    const { page } = ann;
    const first = () => page.locator(".news-title").first().textContent();
    const best = await first();
    await page.getByRole("button", { name: "Next" }).click();
    await eventually(first).not.toBe(best);
    await page.getByRole("button", { name: "Previous" }).click();
    await eventually(first).toBe(best);
    await page.getByRole("button", { name: "Newest" }).click();
    await eventually(first).toContain("A dictionary of sounds");
    await page.getByLabel("Group").selectOption("games");
    await eventually(() => page.locator(".news-article").count()).toBeLessThan(12);
    await page.getByLabel("Combine with").selectOption("and history");
    await eventually(() => page.locator(".news-article").count()).toBe(1);
    await page.getByLabel("Combine with").selectOption("or history");
    await eventually(() => page.locator(".news-article").count()).toBe(15);
    await page.getByLabel("Group").selectOption("");
    await page.getByRole("button", { name: "Best" }).click();
    await eventually(first).toBe(best);
  });

  test("two people vote and post at once, and see each other's", async () => {
    await ben.page.goto(`${served.url}/#/examples/news`);
    const title = "A sorted set is all the ranking most sites need";
    const votes = (screen: Screen) =>
      screen.page.locator(".news-article", { hasText: title }).locator("output").textContent();
    await eventually(() => votes(ann)).toBe("12");
    await eventually(() => votes(ben)).toBe("12");
    const up = (screen: Screen) => screen.page.getByRole("button", { name: `Vote up: ${title}` });
    await up(ann).click();
    await eventually(() => votes(ben)).toBe("13");
    expect(await up(ben).getAttribute("aria-pressed")).toBe("false");
    await up(ben).click();
    await eventually(() => votes(ann)).toBe("14");
    await up(ben).click();
    await eventually(() => votes(ann)).toBe("13");
    await eventually(() => up(ann).getAttribute("aria-pressed")).toBe("true");

    await ben.page.getByRole("button", { name: "Post article", exact: true }).click();
    await ben.page.getByLabel("Title").fill("<b>From a telephone</b>");
    await ben.page.getByLabel("Address").fill("ftp://example.org");
    await ben.page.locator("[role=dialog]").getByRole("button", { name: "Post" }).click();
    await ben.page.getByText("must begin with http").waitFor();
    await shoot(ben.page, "examples-news-narrow-post");
    await ben.page.getByLabel("Address").fill("");
    await ben.page.getByLabel("design").check();
    await ben.page.locator("[role=dialog]").getByRole("button", { name: "Post" }).click();
    await ben.page.locator(".news-article", { hasText: "<b>From a telephone</b>" }).waitFor();
    await ann.page.getByRole("button", { name: "Show 1 new" }).click();
    await ann.page.getByRole("button", { name: "Newest" }).click();
    await ann.page.locator(".news-article", { hasText: "<b>From a telephone</b>" }).waitFor();
    await ben.page.getByRole("button", { name: "take back" }).click();
    await ben.page.getByRole("button", { name: "Take it back" }).click();
    await eventually(() => ann.page.getByText("<b>From a telephone</b>").count()).toBe(0);
  });

  test("the drawer shows what was sent, by the keyboard too, and remembers how it was left", async () => {
    const { page } = ann;
    await page.getByRole("button", { name: "Best" }).click();
    await eventually(() => page.locator(".news-title").first().textContent()).toContain("A sorted set");
    const newest = page.locator(".request").first();
    await newest.getByText("board.list").waitFor();
    await newest.getByText("ZCARD").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await newest.getByText("board.vote").waitFor();
    await newest.getByText("user=Ann").waitFor();
    expect(await newest.textContent()).toMatch(/2 round trips, [\d.]+ (µs|ms)/);
    await shoot(page, "examples-news");
    expect(await shiftWhileLoading(page, ".news-article")).toBeLessThan(0.02);
    await page.getByRole("button", { name: "Clear" }).click();
    await eventually(() => page.locator(".request").count()).toBe(0);
    await page.keyboard.press("t");
    await eventually(() => page.locator(".drawer.open").count()).toBe(0);
    await page.reload();
    await page.locator(".news-article").first().waitFor();
    expect(await page.locator(".drawer.open").count()).toBe(0);
    await page.keyboard.press("t");
    await page.locator(".drawer.open").waitFor();
  });

  test("is not wider than a telephone, and dark", async () => {
    const { page } = ben;
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(NARROW.width);
    await page.getByRole("button", { name: "Commands sent" }).click();
    await shoot(page, "examples-news-narrow");
    await ann.page.getByRole("button", { name: "Dark" }).click();
    await ann.page.setViewportSize(WIDE);
    await shoot(ann.page, "examples-news-dark");
  });
});
