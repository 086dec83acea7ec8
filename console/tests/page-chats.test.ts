/** The Operate page of chats and mailboxes, in a browser, on our store and on a real Redis. */
import { Chats, Mailboxes } from "cinnabar/chats";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { NARROW, shoot, WIDE } from "./browser.ts";
import { describePages, EVIL, eventually } from "./pages.ts";
import type { Backend, Served } from "./support.ts";

describePages("the page of chats", (_name, label, opened) => {
  let backend: Backend;
  let served: Served;
  let page: Page;
  let chats: Chats<string>;
  let mailboxes: Mailboxes<string>;
  const row = (text: string) => page.locator("tr", { hasText: text });

  beforeAll(() => {
    ({ backend, served, page } = opened());
    chats = new Chats<string>(backend.store, { maxMessages: 5 });
    mailboxes = new Mailboxes<string>(backend.store);
  });

  test("says what to do while there is nothing, by the menu and by the keyboard", async () => {
    await page.goto(`${served.url}/#/`);
    await page.locator("main h1").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await page.locator(".state", { hasText: "There is no chat." }).waitFor();
    await page.locator(".state", { hasText: "There is no mailbox." }).waitFor();
    expect((await served.get("/api/chats/absent")).body.code).toBe("NOT_FOUND");
    expect((await served.send("POST", "/api/chats/absent/delete")).status).toBe(404);
    expect((await served.send("POST", "/api/chats/absent/remove", { member: "ann" })).status).toBe(404);
    expect((await served.send("POST", "/api/mailboxes/absent/delete")).status).toBe(404);
  });

  test("chats show what is kept and who is behind; the member who holds it up is taken out", async () => {
    await chats.joinMany("team/1", ["ann", "ben", EVIL]);
    await chats.join(EVIL, "ann");
    for (let nth = 0; nth < 8; nth++) await chats.send("team/1", "ann", `text ${nth}`);
    const { lastId } = (await chats.inspect("team/1"))!;
    for (const member of ["ann", EVIL]) await chats.acknowledge("team/1", member, lastId);
    await chats.arrive("team/1", "ann");
    await row("team/1").waitFor();
    await row("onerror").waitFor();
    expect(await row("team/1").locator("td").allTextContents()).toEqual(["team/1", "3", "1", "5", "165 B", "8"]);
    await shoot(page, `chats-${label}`);
    await page.getByRole("searchbox").fill("TEAM");
    await eventually(() => page.locator("tbody tr").count()).toBe(1);
    await page.getByRole("link", { name: "team/1" }).click();
    await row("ben").waitFor();
    const cells = await row("ben").locator("td").allTextContents();
    expect(cells.slice(2, 4)).toEqual(["5", "3"]);
    expect(await row("ann").textContent()).toContain("present");
    // What was said is nobody's business here.
    expect(JSON.stringify((await served.get("/api/chats/team%2F1")).body)).not.toContain("text 7");
    await shoot(page, `chat-${label}`);
    await page.getByRole("button", { name: "Remove ben" }).click();
    await page.locator("[role=dialog]").getByRole("button", { name: "Remove member" }).click();
    await row("ben").waitFor({ state: "detached" });
    expect(await chats.inspect("team/1")).toMatchObject({ members: 2, messages: 0 });
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.locator("[role=dialog]").getByRole("button", { name: "Delete chat" }).click();
    await page.getByRole("heading", { name: "Chats" }).waitFor();
    await row("team/1").waitFor({ state: "detached" });
    expect(await chats.inspect("team/1")).toBeNull();
  });

  test("mailboxes show what their owners have not seen, and are deleted", async () => {
    await mailboxes.send("zoe", "ann", "secret");
    await mailboxes.send("zoe", "ben", "secret");
    await row("zoe").waitFor();
    expect((await row("zoe").locator("td").allTextContents()).slice(0, 2)).toEqual(["zoe", "2"]);
    await page.getByRole("button", { name: "Delete the mailbox of zoe" }).click();
    await page.locator("[role=dialog]").getByRole("button", { name: "Delete mailbox" }).click();
    await row("zoe").waitFor({ state: "detached" });
    expect(await mailboxes.inspect("zoe")).toBeNull();
  });

  test("is not wider than a small screen", async () => {
    await page.setViewportSize(NARROW);
    for (const path of ["chats", `chats?${new URLSearchParams({ name: EVIL })}`]) {
      await page.goto(`${served.url}/#/${path}`);
      await page.locator("main h1").waitFor();
      await eventually(() => page.locator(".loading").count()).toBe(0);
      expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(NARROW.width);
    }
    await shoot(page, `chat-narrow-${label}`);
    await page.setViewportSize(WIDE);
  });
});
