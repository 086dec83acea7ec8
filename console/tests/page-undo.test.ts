/** Undoing in the page: what was done is told with a button that undoes it, and nothing of others is overwritten. */
import { beforeEach, expect, test } from "vitest";
import { shoot } from "./browser.ts";
import { describePages, eventually } from "./pages.ts";

describePages("undo", (_name, label, opened) => {
  const call = (...words: (string | number)[]) => opened().backend.store.call(...words);
  const visit = async (path: string) => {
    const { page, served } = opened();
    await page.goto(`${served.url}/?${Math.random()}#/${path}`);
    await page.locator("main h1").waitFor({ state: "attached" });
  };
  const button = (name: string) => opened().page.getByRole("button", { name, exact: true });
  const cell = (text: string) => opened().page.getByRole("cell", { name: text, exact: true });
  const text = (content: string | RegExp) => opened().page.getByText(content);

  beforeEach(() => call("FLUSHALL"));

  test("a removed element comes back; the last one takes the key along, which is told, and brings it back", async () => {
    await call("RPUSH", "list", "a", "b");
    await visit("keys?key=list");
    await button("Remove").first().click();
    await text("Element removed.").waitFor();
    await cell("a").waitFor({ state: "detached" });
    await shoot(opened().page, `undo-${label}`);
    await button("Undo").click();
    await cell("a").waitFor();
    expect(await call("LRANGE", "list", 0, -1)).toEqual(["a", "b"]);
    await call("SADD", "set", "only");
    await visit("keys?key=set");
    await button("Remove").click();
    await text("It was the last one, so the key is deleted too.").waitFor();
    await text("This key is gone.").waitFor();
    await button("Undo").click();
    await cell("only").waitFor();
  });

  test("a deleted key comes back and is shown; of one that is too large, the question says that it does not", async () => {
    await call("HSET", "user:7", "name", "Ann");
    await visit("keys?key=user:7");
    await button("Delete key").click();
    await text("It can be undone for a few seconds.").waitFor();
    await opened().page.getByRole("dialog").getByRole("button", { name: "Delete key" }).click();
    await text("Deleted user:7.").waitFor();
    await eventually(() => call("EXISTS", "user:7")).toBe(0);
    await button("Undo").click();
    await cell("Ann").waitFor();
    expect(await call("HGETALL", "user:7")).toEqual(["name", "Ann"]);
    await call("SET", "large", "x".repeat(2_000_000));
    await visit("keys?key=large");
    await button("Delete key").click();
    await text("this cannot be undone").waitFor();
    await opened().page.getByRole("dialog").getByRole("button", { name: "Delete key" }).click();
    await text("Deleted large.").waitFor();
    expect(await button("Undo").count()).toBe(0);
  });

  test("a value, a time to live and a name come back", async () => {
    const { page } = opened();
    const save = async (field: string, value: string) => {
      await page.getByRole("textbox", { name: field }).fill(value);
      await button("Save").click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    };
    const undone = async () => {
      await button("Undo").last().click();
      await text("Undone.").last().waitFor();
    };
    await call("SET", "greeting", "hello");
    await visit("keys?key=greeting");
    await button("Edit value").click();
    await save("Value", "good bye");
    await page.locator("pre", { hasText: "good bye" }).waitFor();
    await undone();
    await page.locator("pre", { hasText: "hello" }).waitFor();
    await button("Set time to live").click();
    await save("Seconds", "1h");
    await text(/\d.* to live$/).waitFor();
    await undone();
    await text("does not expire").waitFor();
    await button("Rename key").click();
    await save("New name", "other");
    await page.locator(".name", { hasText: "other" }).waitFor();
    await undone();
    await page.locator(".name", { hasText: "greeting" }).waitFor();
    expect(await call("KEYS", "*")).toEqual(["greeting"]);
    expect(await call("GET", "greeting")).toBe("hello");
  });

  test("what somebody else has changed meanwhile is not overwritten, and the page says so", async () => {
    const { page } = opened();
    await call("HSET", "user:7", "name", "Ann");
    await visit("keys?key=user:7");
    await button("Edit").click();
    await page.getByRole("textbox", { name: "Value" }).fill("Ben");
    await button("Save").click();
    await text("Saved.").waitFor();
    await call("HSET", "user:7", "name", "Cem");
    await button("Undo").click();
    await text("Not undone: somebody has changed this meanwhile.").waitFor();
    expect(await call("HGET", "user:7", "name")).toBe("Cem");
  });

  test("a directive comes back, by the keyboard too", async () => {
    const { page } = opened();
    const [, was] = (await call("CONFIG", "GET", "slowlog-max-len")) as string[];
    await visit("config");
    await page.getByLabel("Filter").fill("slowlog-max-len");
    await page.getByRole("button", { name: /^Change slowlog-max-len/ }).click();
    await page.getByRole("textbox", { name: "slowlog-max-len" }).fill("77");
    await page.keyboard.press("Enter");
    await text("Set slowlog-max-len.").waitFor();
    await page.getByRole("button", { name: "Change slowlog-max-len: 77" }).waitFor();
    await page.keyboard.press("Control+z");
    await page.getByRole("button", { name: `Change slowlog-max-len: ${was}` }).waitFor();
  });
});
