/** The guide of every example names its components and keys as they are, and shows its source. */
import { open } from "cinnabar";
import { expect, test } from "vitest";
import { GUIDES } from "../src/examples/guides.ts";
import { EXAMPLES } from "../src/examples/index.ts";
import { shoot } from "./browser.ts";
import { describePages } from "./pages.ts";
import { serve } from "./support.ts";

test.each(EXAMPLES.map((example) => [example.name, example] as const))(
  "%s has a guide whose components are its own, and its source",
  async (name, { components }) => {
    const steps = GUIDES[name] ?? [];
    expect(steps.length).toBeGreaterThan(0);
    for (const { component, keys } of steps) {
      expect(components).toContain(component);
      expect(keys).toMatch(new RegExp(`^example:${name}:\\w`));
    }
    const store = await open();
    const served = await serve(store);
    const { body, status } = await served.get(`/api/examples/${name}/guide`);
    expect(status).toBe(200);
    expect(body.source.code).toContain(`"${name}"`);
    expect((await served.get("/api/examples/..%2Fsample/guide")).status).toBe(404);
    await served.console.close();
    await store.close();
  },
);

describePages("an example", (_name, label, opened) => {
  test("shows how it works, and only its own requests", async () => {
    const { page, served, backend } = opened();
    await page.goto(`${served.url}/#/examples/news`);
    await page.getByRole("button", { name: "Make sample data" }).first().click();
    await page.locator(".news-tools").waitFor();
    await page.goto(`${served.url}/#/examples/chat`);
    await page.getByRole("button", { name: "Make sample data" }).first().waitFor();
    await page.getByRole("button", { name: "How it works" }).click();
    const guide = page.getByRole("dialog", { name: "How Chat works" });
    await guide.getByText("cinnabar/chats").first().waitFor();
    await shoot(page, `${label}-guide`);
    await guide.getByText("console/src/examples/chat.ts").click();
    await guide.getByText("new Chats<Line>").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".request .path", { hasText: "/chat/" }).first().waitFor();
    expect(await page.locator(".request .path", { hasText: "/news/" }).count()).toBe(0);
    // What the guide says of keys is so.
    expect(await backend.store.call("KEYS", "example:news:voting:*")).not.toEqual([]);
  });
});
