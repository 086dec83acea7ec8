/** The shop: sessions, carts, cached pages, rows and orders by its API on every kind of store; and the page, with two people. */
import type { Browser } from "playwright-core";
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
import type { Served } from "./support.ts";

const quantities = ({ lines }: { lines: { item: string; quantity: number }[] }) =>
  Object.fromEntries(lines.map(({ item, quantity }) => [item, quantity]));

describeExample("shop", (served) => {
  const signIn = (person: Person, user: string, password: string) =>
    person.send("POST", "/shop/sign-in", { user, password });
  const put = (person: Person, item: string, by = 1) => person.send("POST", `/shop/cart/${item}`, { by });

  test("a page is made once, then kept, until its price changes", async () => {
    const ann = await as(served(), "Ann");
    await ann.send("POST", "/shop/sample");
    const first = await ann.get("/shop/products/teapot");
    expect(first.body).toMatchObject({ product: { name: "Teapot", price: 4_200 }, cache: { state: "miss" } });
    expect(sentBy(first.trace)).toContain("HGET");
    const second = await ann.get("/shop/products/teapot");
    expect(second.body.cache.state).toBe("hit");
    expect(sentBy(second.trace)).not.toContain("HGET");
    expect(sentBy(second.trace)).toContain("cache.read");

    expect((await ann.get("/shop/products")).body).toMatchObject({ cache: { state: "miss" } });
    expect((await ann.get("/shop/products")).body.products).toHaveLength(24);
    expect((await ann.send("PUT", "/shop/products/teapot/price", { price: 1 })).body.price).toBe(1);
    expect((await ann.get("/shop/products/teapot")).body).toMatchObject({
      product: { price: 1 },
      cache: { state: "miss" },
    });
    expect((await ann.get("/shop/products")).body).toMatchObject({ cache: { state: "miss" } });
    expect((await ann.get("/shop/products/nothing")).body).toMatchObject({ status: 404, code: "NO_PRODUCT" });
    expect((await ann.send("PUT", "/shop/products/teapot/price", { price: 0 })).status).toBe(400);
    expect((await ann.send("PUT", "/shop/products/nothing/price", { price: 5 })).status).toBe(404);
  });

  test("what is viewed is remembered and counted; stock comes from rows that are read again by themselves", async () => {
    const ann = await as(served(), "Ann");
    await ann.send("POST", "/shop/sample");
    expect((await ann.get("/shop/session")).body).toMatchObject({ user: null, viewed: [], cart: { lines: [] } });
    for (const id of ["compass", "umbrella", "compass"]) await ann.get(`/shop/products/${id}`);
    expect((await ann.get("/shop/session")).body.viewed).toEqual(["compass", "umbrella"]);
    const top = (await ann.get("/shop/products")).body.top;
    expect(top[0].item).toBe("fountain-pen");
    for (let nth = 0; nth < 20; nth++) await ann.get("/shop/products/wool-blanket");
    expect((await ann.get("/shop/products")).body.top[0]).toMatchObject({ item: "wool-blanket", rank: 0 });
    await expect
      .poll(async () => (await ann.get("/shop/products/wool-blanket/stock")).body.row?.stock, { timeout: 20_000 })
      .toBe(4);
  });

  test("a cart goes along at sign-in, and the token before it is worth nothing", async () => {
    const ann = await as(served(), "Ann");
    await ann.send("POST", "/shop/sample");
    expect(quantities((await put(ann, "teapot", 2)).body)).toEqual({ teapot: 2 });
    const before = new Map(ann.cookies);
    const signedIn = await signIn(ann, "Ann", "correct horse");
    expect(signedIn.body).toEqual({ user: "Ann", isNew: true });
    expect(JSON.stringify(signedIn.trace)).not.toContain("correct horse");
    const cookie = [...ann.cookies].find(([name]) => name.includes("shop"))![1];
    expect(JSON.stringify(signedIn.trace)).not.toContain(cookie);
    expect(cookie).not.toBe([...before].find(([name]) => name.includes("shop"))![1]);
    expect(quantities((await ann.get("/shop/session")).body.cart)).toEqual({ teapot: 2 });

    const elsewhere = await as(served(), "Ann");
    await put(elsewhere, "teapot", 1);
    await put(elsewhere, "dice-five", 5);
    expect((await signIn(elsewhere, "Ann", "wrong")).body).toMatchObject({ status: 401, code: "PASSWORD" });
    expect((await signIn(elsewhere, "Ann", "correct horse")).body).toEqual({ user: "Ann", isNew: false });
    const now = (await elsewhere.get("/shop/session")).body;
    expect(quantities(now.cart)).toEqual({ teapot: 3, "dice-five": 5 });
    expect(now.sessions).toHaveLength(2);
    expect((await elsewhere.send("POST", "/shop/sign-out-elsewhere")).body).toEqual({ ended: 1 });
    expect((await ann.get("/shop/session")).body.user).toBeNull();
    await elsewhere.send("POST", "/shop/sign-out");
    expect((await elsewhere.get("/shop/session")).body).toMatchObject({ user: null, cart: { lines: [] } });
    for (const user of ["", "<b>", "x".repeat(30)]) expect((await signIn(ann, user, "p")).status).toBe(400);
    expect((await signIn(ann, "Ann", "")).status).toBe(400);
  });

  test("wrong passwords are limited", async () => {
    const ann = await as(served(), "Ann");
    await signIn(ann, "Ann", "right");
    // At once: a password takes long to check, and the limit is for a minute.
    const tries = await Promise.all(Array.from({ length: 12 }, (_, nth) => signIn(ann, "Ann", `wrong ${nth}`)));
    const times = (wanted: number) => tries.filter(({ status }) => status === wanted).length;
    expect(times(401)).toBeGreaterThanOrEqual(5);
    expect(times(429)).toBeGreaterThanOrEqual(1);
    expect(times(401) + times(429)).toBe(12);
  });

  test("of two who order the last one, one gets it; an order sent twice is one", async () => {
    const [ann, ben] = [await as(served(), "Ann"), await as(served(), "Ben")];
    await ann.send("POST", "/shop/sample");
    expect((await ann.send("POST", "/shop/orders", { id: "order-000" })).body.code).toBe("SIGN_IN_FIRST");
    for (const person of [ann, ben]) {
      await signIn(person, person.name, "password");
      await put(person, "wool-blanket", 3);
    }
    const orders = await Promise.all(
      [ann, ben].map((person) => person.send("POST", "/shop/orders", { id: `order-of-${person.name}` })),
    );
    expect(orders.map(({ status }) => status).sort()).toEqual([200, 409]);
    const [winner, loser] = orders[0]!.status === 200 ? [ann, ben] : [ben, ann];
    const refused = orders.find(({ status }) => status === 409)!;
    expect(refused.body).toMatchObject({ code: "SOLD_OUT" });
    expect(refused.body.detail).toContain("only 1");
    expect(sentBy(refused.trace)).toContain("WATCH");
    expect(quantities((await loser.get("/shop/session")).body.cart)).toEqual({ "wool-blanket": 3 });
    await put(winner, "candle-beeswax", 1);
    const again = await winner.send("POST", "/shop/orders", { id: `order-of-${winner.name}` });
    expect(again.body.lines).toEqual([{ item: "wool-blanket", name: "Wool blanket", quantity: 3, price: 9_800 }]);
    expect((await winner.send("PUT", "/shop/cart/candle-beeswax", { quantity: 0 })).body.lines).toEqual([]);
    expect((await winner.send("POST", "/shop/orders", { id: "order-empty" })).body.code).toBe("EMPTY");
    expect((await put(winner, "nothing")).body.code).toBe("NO_PRODUCT");
    expect((await put(winner, "teapot", 100)).status).toBe(400);
  });
});

describeScreens("the page of the shop", (screens) => {
  let served: Served;
  let browser: Browser;
  let ann: Screen;
  let ben: Screen;
  beforeAll(() => {
    ({ served, browser, ann, ben } = screens());
  });

  test("is useful when empty, and one click fills the shelves", async () => {
    const { page } = ann;
    await page.goto(`${served.url}/#/examples/shop`);
    await page.getByText("The shelves are empty.").waitFor();
    await page.locator(".state").getByRole("button", { name: "Make sample data" }).click();
    await page.getByRole("link", { name: "Teapot" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("games");
    await eventually(() => page.locator("table[aria-label=Products] tbody tr").count()).toBe(3);
    await page.getByLabel("Find a product").fill("no such thing");
    await page.getByText("Nothing is called that.").waitFor();
    await page.getByLabel("Find a product").fill("");
  });

  test("a product's page comes from the database once and then from the cache", async () => {
    const { page } = ann;
    await page.getByRole("link", { name: "Teapot" }).click();
    await page.locator("h2", { hasText: "Teapot" }).waitFor();
    await page.locator(".shop-product .tag", { hasText: "MISS" }).waitFor();
    await page.getByRole("button", { name: "Load the page again" }).click();
    await page.locator(".shop-product .tag", { hasText: "HIT" }).waitFor();
    await page.getByText(/row read .* ago/).waitFor({ timeout: 30_000 });
    await page.locator(".card", { hasText: "You looked at" }).getByRole("link", { name: "Teapot" }).waitFor();
    await page.getByLabel("New price").fill("nonsense");
    await page.getByRole("button", { name: "Change, and" }).click();
    await page.getByText("a price is a number such as 12.50").waitFor();
    await page.getByLabel("New price").fill("45.50");
    await page.getByRole("button", { name: "Change, and" }).click();
    await page.getByText("€ 45.50").first().waitFor();
    await shoot(page, "examples-shop-product");
    expect(await shiftWhileLoading(page, ".shop-product")).toBeLessThan(0.02);
  });

  test("two people fill their carts, sign in and order; one gets the last", async () => {
    for (const [screen, name] of [
      [ann, "Ann"],
      [ben, "Ben"],
    ] as const) {
      const { page } = screen;
      await page.goto(`${served.url}/#/examples/shop`);
      await page.getByRole("button", { name: "Add Wool blanket to the cart" }).click();
      const many = page.getByLabel("How many of Wool blanket");
      await many.waitFor();
      await many.fill("3");
      await many.press("Enter");
      await page.getByText("€ 294.00").first().waitFor();
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.getByLabel("Name").fill(name);
      await page.getByLabel("Password").fill(`password of ${name}`);
      await page.locator("[role=dialog]").getByRole("button", { name: "Sign in" }).click();
      await page.locator(".shop-user", { hasText: name }).waitFor();
      await page.getByText("€ 294.00").first().waitFor();
    }
    await shoot(ann.page, "examples-shop");
    await ann.page.getByRole("button", { name: "Order" }).click();
    await ann.page.getByText("Ordered 3 for € 294.00.").waitFor();
    await ben.page.getByRole("button", { name: "Order" }).click();
    await ben.page.getByText("there is only 1").waitFor();
    await shoot(ben.page, "examples-shop-narrow-sold-out");
    await ben.page.getByLabel("How many of Wool blanket").fill("1");
    await ben.page.getByLabel("How many of Wool blanket").press("Enter");
    await ben.page.getByText("€ 98.00").first().waitFor();
    await ben.page.getByRole("button", { name: "Order" }).click();
    await ben.page.getByText("Ordered 1 for € 98.00.").waitFor();
    const other = await browser.newContext();
    const again = await other.newPage();
    await again.goto(`${served.url}/#/examples/shop`);
    await again.getByRole("button", { name: "Sign in", exact: true }).click();
    await again.getByLabel("Name").fill("Ann");
    await again.getByLabel("Password").fill("not hers");
    await again.locator("[role=dialog]").getByRole("button", { name: "Sign in" }).click();
    await again.getByText("that is not the password of Ann").waitFor();
    await other.close();
  });

  test("a password is in no trace, and nothing is wider than a telephone", async () => {
    const { page } = ben;
    await page.getByRole("button", { name: "Commands sent" }).click();
    await page.locator(".request").first().waitFor();
    expect(await page.locator(".drawer").textContent()).not.toContain("password of Ben");
    for (const path of ["examples", "examples/shop", "examples/shop?product=teapot"]) {
      await page.goto(`${served.url}/#/${path}`);
      await page.locator("main h1").waitFor();
      await page.locator(".loading").first().waitFor({ state: "detached" });
      expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(NARROW.width);
    }
    await shoot(page, "examples-shop-narrow-product");
    await page.goto(`${served.url}/#/examples`);
    await page.getByRole("link", { name: "Shop" }).first().waitFor();
    await shoot(page, "examples-narrow");
    await ann.page.getByRole("button", { name: "Dark" }).click();
    await ann.page.goto(`${served.url}/#/examples/shop`);
    await ann.page.getByRole("link", { name: "Teapot" }).first().waitFor();
    await shoot(ann.page, "examples-shop-dark");
    await ann.page.goto(`${served.url}/#/examples`);
    await ann.page.getByText("sample data is there").first().waitFor();
    await shoot(ann.page, "examples-dark");
  });
});
