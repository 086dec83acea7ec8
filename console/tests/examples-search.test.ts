/** The search by its API on every kind of store, and its page: typing, narrowing down, voting, changing, two people. */
import { beforeAll, expect, test } from "vitest";
import { readCorpus } from "../src/examples/corpus.ts";
import { NARROW, shoot } from "./browser.ts";
import { as, describeExample, describeScreens, type Screen, sentBy } from "./examples.ts";

const EVIL = `<img src=x onerror="window.ran = 1">`;

describeExample("search", (served) => {
  test("packages are found, marked, counted by section, and paged as they were", async () => {
    const ann = await as(served(), "Ann");
    const find = async (query: string, more = "order=best") =>
      (await ann.get(`/search/packages?${more}&query=${encodeURIComponent(query)}`)).body;
    expect((await find("editor")).count).toBe(0);
    await ann.send("POST", "/search/sample");
    const { packages } = await readCorpus();
    await expect.poll(async () => (await find("")).count, { timeout: 20_000 }).toBe(packages.length);
    const editors = await find("text editor");
    expect(editors.hits[0]).toMatchObject({ id: "linden", document: { section: ["editors"] } });
    expect(editors.hits[0].snippets.summary).toContain("\u0002Text\u0003 \u0002editor\u0003");
    expect((await find("edtior~2")).hits.map(({ id }: { id: string }) => id)).toContain("linden");
    expect((await find("*", "order=name")).hits[0].id).toBe("amber-notes");
    const narrowed = await find("", "order=best&section=editors");
    expect(
      narrowed.hits.every((hit: { document: { section: string[] } }) => hit.document.section[0] === "editors"),
    ).toBe(true);
    expect((await find("the of")).explanation.notes).toEqual(["every word of the query is a stop word"]);

    const all = await find("*", "order=name");
    expect(all.facets.section[0]).toEqual({ value: "doc", count: 42 });
    await ann.send("DELETE", `/search/packages/${encodeURIComponent(all.hits[0].id)}`);
    const { body: second } = await ann.get(`/search/answers/${all.id}?offset=20`);
    expect(second.hits).toHaveLength(20);
    expect(second.hits[0].id > all.hits[19].id).toBe(true);
    expect((await ann.get("/search/answers/absent?offset=0")).body.code).toBe("GONE");
  });

  test("what is written is found at once, votes count in their order, and refusals say why", async () => {
    const [ann, ben] = [await as(served(), "Ann"), await as(served(), "Ben")];
    const find = async (query: string, order = "best") =>
      (await ben.get(`/search/packages?order=${order}&query=${encodeURIComponent(query)}`)).body.hits.map(
        ({ id }: { id: string }) => id,
      );
    const put = (id: string, summary: string) =>
      ann.send("PUT", `/search/packages/${encodeURIComponent(id)}`, { name: id, summary, section: "misc" });
    expect((await put("kettle", "Boils water")).body).toEqual({ status: "added" });
    expect((await put("urn", "Boils much water, and water again")).body).toEqual({ status: "added" });
    expect(await find("boiling water")).toHaveLength(2);
    expect((await put("kettle", "Sings")).body).toEqual({ status: "changed" });
    expect(await find("boils")).toEqual(["urn"]);
    await put("kettle", "Boils water");
    const votes = await Promise.all(Array.from({ length: 5 }, () => ann.send("POST", "/search/packages/kettle/vote")));
    expect(votes.map(({ body }) => body.votes).sort()).toEqual([1, 2, 3, 4, 5]);
    expect(await find("water", "votes")).toEqual(["kettle", "urn"]);
    expect((await ann.send("POST", "/search/packages/absent/vote")).body.code).toBe("NO_PACKAGE");
    expect((await ann.send("DELETE", "/search/packages/absent")).status).toBe(404);
    expect((await ann.get("/search/packages?order=sideways")).status).toBe(400);
    expect((await served().send("POST", "/api/examples/search/packages/kettle/vote")).body.code).toBe("NO_NAME");
    const traced = await ann.get("/search/packages?order=best&query=water");
    expect(sentBy(traced.trace)).toEqual(["search.sync", "search.keep", "MGET"]);
  });
});

describeScreens(
  "the page of search",
  (screens) => {
    let ann: Screen;
    let ben: Screen;
    beforeAll(() => {
      ({ ann, ben } = screens());
    });

    test("is useful when empty, and one click lets packages in, for everybody who looks", async () => {
      await ben.page.getByText("There is nothing to search in.").waitFor();
      await ann.page.locator(".state").getByRole("button", { name: "Make sample data" }).click();
      for (const { page } of [ann, ben]) await page.getByText("210 found").waitFor();
    });

    test("what is typed is found, marked, and narrowed down by section", async () => {
      const { page } = ann;
      await page.keyboard.press("/");
      await page.keyboard.type('"text editor"');
      await page.getByText("5 found").waitFor();
      await expect.poll(() => page.locator(".search-hit mark").allTextContents()).toContain("editor");
      await shoot(page, "examples-search");
      await page.getByLabel("Sections").getByRole("button", { name: "doc" }).click();
      await page.getByText("1 found").waitFor();
      await page.getByRole("button", { name: "× all sections" }).click();
      await page.getByLabel("Search for packages").fill("the");
      await page.getByText("every word of the query is a stop word").waitFor();
      await page.getByRole("button", { name: "databse~" }).click();
      await page.getByRole("button", { name: /vote for basalt$/ }).waitFor();
      await page.getByLabel("Search for packages").fill("");
      await page.getByRole("button", { name: "By name" }).click();
      await page.getByRole("button", { name: /vote for amber-notes$/ }).waitFor();
      await page.getByRole("button", { name: "More" }).click();
      await expect.poll(() => page.locator(".search-hit").count()).toBe(40);
      await page.locator(".request", { hasText: "/search/answers/" }).first().waitFor();
    });

    test("what one adds, votes for and removes, the other sees", async () => {
      await ann.page.getByRole("button", { name: "Add a package" }).click();
      await ann.page.getByLabel("Name", { exact: true }).fill("zither");
      await ann.page.getByLabel("Summary").fill(`Plays the zither ${EVIL}`);
      await ann.page.getByRole("button", { name: "Save" }).click();
      await ben.page.getByLabel("Search for packages").fill("zithers");
      await ben.page.getByText(EVIL).waitFor();
      await ben.page.getByRole("button", { name: /vote for zither$/ }).click();
      await ben.page.getByText("▲ 1").waitFor();
      await ann.page.getByLabel("Search for packages").fill("zither");
      await ann.page.getByText("▲ 1").waitFor();
      await ann.page.getByRole("button", { name: "Remove zither" }).click();
      await ann.page.locator("[role=dialog]").getByRole("button", { name: "Remove package" }).click();
      for (const { page } of [ann, ben]) {
        await page.getByText("Nothing is found.").waitFor();
        expect(await page.evaluate("window.ran")).toBeUndefined();
      }
    });

    test("is not wider than a telephone, and dark", async () => {
      const { page } = ben;
      await page.getByLabel("Search for packages").fill("comp*");
      await page.locator(".search-hit").first().waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(NARROW.width);
      await shoot(page, "examples-search-narrow");
      await ann.page.getByLabel("Search for packages").fill("music player");
      await ann.page.locator(".search-hit").first().waitFor();
      await ann.page.getByRole("button", { name: "Dark" }).click();
      await shoot(ann.page, "examples-search-dark");
    });
  },
  "examples/search",
);
