/** The marketplace by its API on every kind of store, and its page with two people who want the same thing. */
import { beforeAll, expect, test } from "vitest";
import { NARROW, shoot } from "./browser.ts";
import {
  as,
  describeExample,
  describeScreens,
  eventually,
  type Person,
  type Screen,
  sentBy,
  shiftWhileLoading,
} from "./examples.ts";

const view = async (person: Person) => (await person.get("/marketplace/view")).body;

describeExample("marketplace", (served) => {
  const buy = (person: Person, id: string, item: string, price: number, way = "script") =>
    person.send("POST", "/marketplace/purchases", { id, item, price, way });

  test("people make things, sell them and buy them, by script and by WATCH", async () => {
    const [ann, ben] = [await as(served(), "Ann"), await as(served(), "Ben")];
    expect((await ann.send("POST", "/marketplace/items", { item: " A  vase " })).status).toBe(200);
    expect((await ben.send("POST", "/marketplace/items", { item: "A vase" })).body.code).toBe("EXISTS");
    expect((await view(ann)).inventory).toEqual(["A vase"]);
    expect((await ann.send("POST", "/marketplace/listings", { item: "A vase", price: 1_000 })).status).toBe(200);
    expect((await ann.send("POST", "/marketplace/listings", { item: "A vase", price: 1_000 })).body.code).toBe(
      "ABSENT",
    );
    expect((await buy(ben, "purchase-1", "A vase", 1_000)).body).toMatchObject({
      code: "TOO_DEAR",
      detail: "it costs 10.00, and you have 0.00",
    });
    expect((await ben.send("POST", "/marketplace/allowance")).body).toEqual({ funds: 50_000 });
    expect((await ben.send("POST", "/marketplace/allowance")).body.code).toBe("HAD_IT");
    expect((await buy(ben, "purchase-2", "A vase", 900)).body.code).toBe("PRICE_CHANGED");
    expect((await buy(ann, "purchase-3", "A vase", 1_000)).body.code).toBe("YOURS");
    const bought = await buy(ben, "purchase-4", "A vase", 1_000);
    expect(bought.body).toMatchObject({ status: "bought", price: 1_000, seller: "Ann" });
    expect(sentBy(bought.trace)[0]).toBe("market.buy");
    expect((await buy(ben, "purchase-4", "A vase", 1_000)).body.status).toBe("bought");
    expect(await view(ben)).toMatchObject({ funds: 49_000, inventory: ["A vase"], listings: [] });
    expect(await view(ann)).toMatchObject({ funds: 1_000, latest: [{ item: "A vase", buyer: "Ben" }] });
    expect((await view(ann)).latest).toHaveLength(1);

    await ben.send("POST", "/marketplace/listings", { item: "A vase", price: 500 });
    const back = await buy(ann, "purchase-5", "A vase", 500, "watch");
    expect(back.body.status).toBe("bought");
    expect(sentBy(back.trace)).toContain("WATCH");
    expect((await buy(ben, "purchase-6", "A vase", 500)).body.code).toBe("GONE");
  });

  test("offers are taken back by their sellers only; what makes no sense is refused", async () => {
    const [ann, ben] = [await as(served(), "Ann"), await as(served(), "Ben")];
    await ann.send("POST", "/marketplace/items", { item: "A/b ?" });
    await ann.send("POST", "/marketplace/listings", { item: "A/b ?", price: 5 });
    const path = `/marketplace/listings/${encodeURIComponent("A/b ?")}`;
    expect((await ben.send("DELETE", path)).body.code).toBe("NOT_YOURS");
    expect((await ann.send("DELETE", path)).status).toBe(200);
    expect((await ann.send("DELETE", path)).body.code).toBe("GONE");
    for (const price of [0, -5, 1.5, "x", 1e12]) {
      expect((await ann.send("POST", "/marketplace/listings", { item: "A/b ?", price })).status, String(price)).toBe(
        400,
      );
    }
    expect((await ann.send("POST", "/marketplace/items", { item: "  " })).body.code).toBe("NAME");
    expect((await ann.send("POST", "/marketplace/items", { item: "a\u0000b" })).status).toBe(400);
    expect((await served().get("/api/examples/marketplace/view")).body.code).toBe("NO_NAME");
  });

  test.each(["script", "watch"])("of a crowd that buys by %s, one gets it and no money is lost", async (way) => {
    const ann = await as(served(), "Ann");
    await ann.send("POST", "/marketplace/sample");
    const { body } = await ann.send("POST", "/marketplace/rush", { item: "Small grep", price: 75, buyers: 20, way });
    expect(body.counts).toEqual({ bought: 1, "not-found": 19 });
    expect(body.owner).toBe(body.buyer);
    expect(body.before).toBe(body.after);
    const again = await ann.send("POST", "/marketplace/rush", { item: "Small grep", price: 75, buyers: 3, way });
    expect(again.body.counts).toEqual({ "not-found": 3 });
    const shown = await view(ann);
    expect(shown.listings).toHaveLength(20);
    expect((await ann.get(`/marketplace/view?after=${encodeURIComponent(shown.next)}`)).body.listings).toHaveLength(3);
  });
});

describeScreens(
  "the page of the marketplace",
  (screens) => {
    let ann: Screen;
    let ben: Screen;
    beforeAll(() => {
      ({ ann, ben } = screens());
    });

    const funds = ({ page }: Screen) => page.locator(".market-funds output").textContent();

    test("is useful when empty: a thing is made, sold, seen by another and bought", async () => {
      await ben.page.getByText("Nothing is for sale.").waitFor();
      await ann.page.getByLabel("A new thing").fill("<i>Vase</i>");
      await ann.page.getByRole("button", { name: "Make", exact: true }).click();
      await ann.page.getByLabel("Price of <i>Vase</i>").fill("nothing");
      await ann.page.getByRole("button", { name: "Sell" }).click();
      await ann.page.getByText("a price is a number such as 12.50").waitFor();
      await ann.page.getByLabel("Price of <i>Vase</i>").fill("120.50");
      await ann.page.getByRole("button", { name: "Sell" }).click();
      await ann.page.getByRole("button", { name: "Take back" }).waitFor();
      await ben.page.getByRole("button", { name: "Buy <i>Vase</i>", exact: true }).click();
      await ben.page.getByText("it costs 120.50, and you have 0.00").waitFor();
      await ben.page.getByRole("button", { name: "Take today's money" }).click();
      await eventually(() => funds(ben)).toBe("€ 500.00");
      await ben.page.getByRole("button", { name: "Buy <i>Vase</i>", exact: true }).click();
      await eventually(() => funds(ben)).toBe("€ 379.50");
      await eventually(() => funds(ann)).toBe("€ 120.50");
      await ann.page.locator(".market-latest", { hasText: "Ann → Ben" }).waitFor();
    });

    test("both buy the same thing at the same moment, and one of them has it", async () => {
      await ann.page.locator(".state").getByRole("button", { name: "Make sample data" }).click();
      const button = ({ page }: Screen) => page.getByRole("button", { name: "Buy Box of semicolons", exact: true });
      await Promise.all([button(ann).waitFor(), button(ben).waitFor()]);
      await ann.page.getByRole("button", { name: "By WATCH" }).click();
      await shoot(ann.page, "examples-marketplace");
      // Both press the button that they saw: the slower one presses a button that may be gone by then.
      const pressed = await Promise.all([ann, ben].map((screen) => button(screen).elementHandle()));
      await Promise.all(pressed.map((each) => each!.dispatchEvent("click")));
      const owns = ({ page }: Screen) => page.getByLabel("Price of Box of semicolons").count();
      await eventually(async () => (await owns(ann)) + (await owns(ben))).toBe(1);
      await eventually(async () => (await button(ann).count()) + (await button(ben).count())).toBe(0);
      const sum = async () => [await funds(ann), await funds(ben)].map((each) => Number(each!.slice(2)));
      await eventually(async () => (await sum())[0]! + (await sum())[1]!).toBeCloseTo(500 - 1.2, 5);
    });

    test("a crowd wants one thing, and the page tells what became of it", async () => {
      const { page } = ann;
      await page.getByRole("button", { name: "Let a crowd buy Small grep" }).click();
      await page.getByLabel("Buyers").selectOption("50");
      await page.getByRole("button", { name: "Let them" }).click();
      await page.getByText("bought it").waitFor();
      const text = await page.locator(".market-result").textContent();
      expect(text).toContain("came too late49");
      expect(text).toMatch(/Money of all, before and after€ [\d.,]+ = € [\d.,]+/);
      await shoot(page, "examples-marketplace-crowd");
      await page.locator("[role=dialog]").getByRole("button", { name: "Close" }).click();
      await page.locator(".request", { hasText: "/marketplace/rush" }).first().waitFor();
      await eventually(() => page.getByRole("button", { name: "Buy Small grep", exact: true }).count()).toBe(0);
      await page.getByRole("button", { name: "Next" }).click();
      await page.getByText("Oberon's crown").waitFor();
      await page.getByRole("button", { name: "Previous" }).click();
      expect(await shiftWhileLoading(page, ".market-item")).toBeLessThan(0.02);
    });

    test("is not wider than a telephone, and dark", async () => {
      expect(await ben.page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(NARROW.width);
      await shoot(ben.page, "examples-marketplace-narrow");
      await ann.page.getByRole("button", { name: "Dark" }).click();
      await shoot(ann.page, "examples-marketplace-dark");
    });
  },
  "examples/marketplace",
);
