/** The network of ads by its API on every kind of store, and its page. */
import { beforeAll, expect, test } from "vitest";
import { NARROW, shoot } from "./browser.ts";
import { as, describeExample, describeScreens, type Person, type Screen, sentBy } from "./examples.ts";

const AD = { text: "Buy it.", model: "cpc", bidMicros: 500_000, locations: [], words: [] };

describeExample("ads", (served) => {
  const adsOf = async (person: Person) => (await person.get("/ads/view")).body.ads as Record<string, unknown>[];
  const show = (person: Person, location = "Berlin", page = 0) => person.send("POST", "/ads/show", { location, page });
  const report = (person: Person, impression: string, kind: string) =>
    person.send("POST", "/ads/events", { impression, kind });

  test("an ad is made, shown in one script, clicked and charged once", async () => {
    const ann = await as(served(), "Ann");
    expect((await show(ann)).body).toEqual({ impression: null, candidates: [] });
    const made = await ann.send("POST", "/ads/ads", { id: "Shoes", ...AD, words: ["bicycle"], totalMicros: 1_000_000 });
    expect(made.body).toEqual({ status: "added" });
    const shown = await show(ann);
    expect(shown.body.impression).toMatchObject({ ad: "Shoes", text: "Buy it.", words: ["bicycle"] });
    expect(sentBy(shown.trace)).toEqual(["ads.target", "PUBLISH"]);
    const { id } = shown.body.impression;
    expect((await report(ann, id, "action")).body.code).toBe("NOT_CLICKED");
    // Nobody clicks at once.
    await expect
      .poll(async () => (await report(ann, id, "click")).body, { timeout: 10_000 })
      .toMatchObject({ chargedMicros: 500_000 });
    expect((await report(ann, id, "click")).body).toMatchObject({
      code: "DUPLICATE",
      detail: "that was counted already",
    });
    expect((await report(ann, id, "action")).body).toMatchObject({ status: "counted", chargedMicros: 0 });
    expect((await report(ann, "0.nothing", "click")).status).toBe(409);
    expect(await adsOf(ann)).toMatchObject([
      {
        id: "Shoes",
        spentMicros: 500_000,
        state: "on",
        today: { views: 1, clicks: 1, actions: 1, spentMicros: 500_000 },
      },
    ]);
  });

  test("ads are paused, changed and removed; what makes no sense is refused", async () => {
    const ann = await as(served(), "Ann");
    await ann.send("POST", "/ads/ads", { id: "A/b ?", ...AD });
    const path = `/ads/ads/${encodeURIComponent("A/b ?")}`;
    expect((await ann.send("POST", `${path}/state`, { paused: true })).status).toBe(200);
    expect((await show(ann)).body.impression).toBeNull();
    expect(await adsOf(ann)).toMatchObject([{ state: "paused" }]);
    await ann.send("POST", `${path}/state`, { paused: false });
    expect((await ann.send("POST", "/ads/ads", { id: "A/b ?", ...AD, locations: ["Tokyo"] })).body).toEqual({
      status: "changed",
    });
    expect((await show(ann)).body.impression).toBeNull();
    expect((await show(ann, "Tokyo")).body.impression).toMatchObject({ ad: "A/b ?" });
    expect((await ann.send("DELETE", path)).status).toBe(200);
    expect((await ann.send("DELETE", path)).body.code).toBe("NO_AD");
    expect((await ann.send("POST", `${path}/state`, { paused: true })).body.code).toBe("NO_AD");
    for (const wrong of [
      { model: "x" },
      { bidMicros: 0 },
      { model: "cpm", bidMicros: 5 },
      { totalMicros: 1 },
      { words: ["?"] },
    ]) {
      expect((await ann.send("POST", "/ads/ads", { id: "x", ...AD, ...wrong })).status, JSON.stringify(wrong)).toBe(
        400,
      );
    }
    expect((await show(ann, "Atlantis")).status).toBe(400);
    expect((await served().get("/api/examples/ads/view")).status).toBe(200);
  });

  test("a crowd spends what budgets allow and no more, and the sample can be made again", async () => {
    const ann = await as(served(), "Ann");
    await ann.send("POST", "/ads/sample");
    await ann.send("POST", "/ads/sample");
    expect(await adsOf(ann)).toHaveLength(9);
    await ann.send("POST", "/ads/ads", {
      id: "Rich",
      ...AD,
      model: "cpm",
      bidMicros: 90_000_000,
      totalMicros: 1_800_000,
    });
    const { body } = await ann.send("POST", "/ads/crowd", { visitors: 150, from: 0 });
    expect(body.ads.find(({ id }: { id: string }) => id === "Rich")).toMatchObject({
      shown: 20,
      chargedMicros: 1_800_000,
    });
    expect(body.ads.reduce((sum: number, { shown }: { shown: number }) => sum + shown, 0) + body.nothing).toBe(150);
    const ads = await adsOf(ann);
    expect(ads.find(({ id }) => id === "Rich")).toMatchObject({ spentMicros: 1_800_000, resumesAt: "never" });
    for (const { spentMicros, budget } of ads as { spentMicros: number; budget: { totalMicros?: number } }[]) {
      expect(spentMicros).toBeLessThanOrEqual(budget.totalMicros ?? Number.POSITIVE_INFINITY);
    }
  });
});

describeScreens(
  "the page of ads",
  (screens) => {
    let ann: Screen;
    let ben: Screen;
    beforeAll(() => {
      ({ ann, ben } = screens());
    });

    test("is useful when empty: an ad is made, shown to another and clicked", async () => {
      await ben.page.getByText("Nobody advertises yet.").waitFor();
      await ann.page.getByRole("button", { name: "New ad" }).click();
      await ann.page.getByLabel("Advertiser", { exact: true }).fill("<i>Saddles</i>");
      await ann.page.getByLabel("Text").fill("Sit well.");
      await ann.page.getByLabel("Pays €").fill("much");
      await ann.page.getByLabel("Words of pages that it fits").fill("saddle");
      await ann.page.getByRole("button", { name: "Add" }).click();
      await ann.page.getByText("an amount is a number such as 0.25").waitFor();
      await ann.page.getByLabel("Pays €").fill("0.25");
      await ann.page.getByRole("button", { name: "Add" }).click();
      await ben.page.getByRole("button", { name: "<i>Saddles</i>", exact: true }).waitFor();
      await ben.page.getByRole("button", { name: "Open the page" }).click();
      await ben.page.locator(".ads-slot", { hasText: "Sit well." }).waitFor();
      expect(await ben.page.locator(".ads-text mark").textContent()).toBe("saddle");
      await ben.page.getByRole("button", { name: "Buy" }).click();
      await ben.page.getByText("nobody has clicked on it yet").waitFor();
      // A person may be refused for being too fast, and clicks again.
      const click = async () => {
        if ((await ben.page.getByText("charged € 0.25").count()) === 0)
          await ben.page.getByRole("button", { name: "Click on it" }).click();
        return ben.page.getByText("charged € 0.25").count();
      };
      await expect.poll(click, { timeout: 10_000, interval: 250 }).toBe(1);
      await ann.page.locator("td", { hasText: "100.0 %" }).waitFor();
    });

    test("a crowd comes, and the page tells what is learned and why ads are not shown", async () => {
      const { page } = ann;
      await page.getByRole("button", { name: "Make sample data" }).first().click();
      await page.getByRole("button", { name: "Night Train", exact: true }).waitFor();
      // However figures and texts change, nothing moves.
      const heads = () =>
        Promise.all([...Array(6).keys()].map((nth) => page.locator(".ads-main thead tr > *").nth(nth).boundingBox()));
      const before = await heads();
      await page.getByLabel("Page", { exact: true }).selectOption({ label: "Coffee at altitude" });
      const open = async () => {
        await page.getByRole("button", { name: "Open the page" }).click();
        return page.getByText("you have seen it often enough").count();
      };
      // Night Train pays most for a view, and nobody sees it more than three times an hour.
      await expect.poll(open, { timeout: 20_000, interval: 50 }).toBe(1);
      await page.getByRole("button", { name: "Send 200 visitors" }).click();
      await page.getByText(/ads in .* most often/).waitFor();
      expect(await heads()).toEqual(before);
      await shoot(page, "examples-ads");
      await page.getByRole("button", { name: "Pause Night Train" }).click();
      await page.getByRole("button", { name: "Resume Night Train" }).waitFor();
      await page.getByRole("button", { name: "Remove Night Train" }).click();
      await page.locator("[role=dialog]").getByRole("button", { name: "Remove" }).click();
      await ben.page.getByRole("button", { name: "Night Train", exact: true }).waitFor({ state: "detached" });
      await page.locator(".request", { hasText: "/ads/show" }).first().waitFor({ state: "attached" });
    });

    test("is not wider than a telephone, and dark", async () => {
      expect(await ben.page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(NARROW.width);
      await shoot(ben.page, "examples-ads-narrow");
      await ann.page.getByRole("button", { name: "Dark" }).click();
      await ann.page.getByRole("button", { name: "Drip & Daughters", exact: true }).click();
      await shoot(ann.page, "examples-ads-dark");
    });
  },
  "examples/ads",
);
