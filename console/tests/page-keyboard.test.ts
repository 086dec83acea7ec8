/** What people do all day, by the keyboard alone: no test here touches a mouse, or moves the focus by itself. */
import { Queue, Worker } from "cinnabar/queues";
import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { describePages, eventually } from "./pages.ts";

/** Somebody patient: a page has this many places for the focus at most. */
const MOST_TABS = 120;

/** What has the focus: its name for people who do not see it. */
const FOCUSED = `(() => {
  const { activeElement: at } = document;
  if (at === null || at === document.body) return "";
  return (at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent ?? "").trim();
})()`;

describePages("the keyboard", (_name, _label, opened) => {
  let page: Page;
  const call = (...words: (string | number)[]) => opened().backend.store.call(...words);
  const focused = () => page.evaluate(FOCUSED) as Promise<string>;
  const press = (key: string) => page.keyboard.press(key);
  const visit = async (path: string) => {
    await page.goto(`${opened().served.url}/?${Math.random()}#/${path}`);
    await page.locator("main h1").waitFor({ state: "attached" });
  };
  /** Goes on with Tab until the focus is on something of that name. */
  const tabTo = async (name: string | RegExp, key = "Tab") => {
    const seen: string[] = [];
    for (let nth = 0; nth < MOST_TABS; nth++) {
      await press(key);
      const at = await focused();
      if (typeof name === "string" ? at === name : name.test(at)) return;
      seen.push(at);
    }
    throw new Error(`no Tab leads to ${name}, but to: ${seen.join(" | ")}`);
  };
  const isInDialog = () =>
    page.evaluate("document.activeElement?.closest('[role=dialog]') !== null") as Promise<boolean>;

  beforeEach(async () => {
    ({ page } = opened());
    await call("FLUSHALL");
  });

  test("finds a key, edits it, deletes it after a question, and undoes that", async () => {
    await call("HSET", "user:7", "name", "Ann");
    await call("SET", "other", "1");
    await visit("");
    await press("g");
    await press("k");
    await page.locator("h1", { hasText: "Keys" }).waitFor();
    await press("/");
    await page.keyboard.type("user:7");
    await page.locator("a.key", { hasText: "other" }).waitFor({ state: "detached" });
    await tabTo(/^user:/);
    await press("Enter");
    await page.locator("a.key", { hasText: "7" }).waitFor();
    await tabTo(/^7/);
    await press("Enter");
    await page.getByRole("cell", { name: "Ann", exact: true }).waitFor();
    await tabTo("Edit");
    await press("Enter");
    await page.getByRole("dialog", { name: "Field name" }).waitFor();
    await eventually(focused).toBe("Value");
    await press("Control+a");
    await page.keyboard.type("Ben");
    await tabTo("Save");
    await press("Enter");
    await page.getByRole("cell", { name: "Ben", exact: true }).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await eventually(focused).toBe("Edit");
    await tabTo("Delete key", "Shift+Tab");
    await press("Enter");
    await page.getByRole("dialog", { name: "Delete this key?" }).waitFor();
    await eventually(isInDialog).toBe(true);
    await tabTo("Delete key");
    await press("Enter");
    await page.getByText("Deleted user:7.").waitFor();
    expect(await call("EXISTS", "user:7")).toBe(0);
    await press("Control+z");
    await page.getByText("Undone.").waitFor();
    await page.getByRole("cell", { name: "Ben", exact: true }).waitFor();
    expect(await call("HGET", "user:7", "name")).toBe("Ben");
  });

  test("reaches the button that undoes, too", async () => {
    await call("RPUSH", "list", "a", "b");
    await visit("keys?key=list");
    await page.getByRole("cell", { name: "a", exact: true }).waitFor();
    await tabTo("Remove");
    await press("Enter");
    await page.getByText("Element removed.").waitFor();
    await tabTo("Undo");
    await press("Enter");
    await page.getByRole("cell", { name: "a", exact: true }).waitFor();
    expect(await call("LRANGE", "list", 0, -1)).toEqual(["a", "b"]);
  });

  test("goes from queues to a dead job and retries it", async () => {
    const queue = new Queue<unknown, unknown>(opened().backend.store, "mails", { defaults: { attempts: 1 } });
    const { id } = await queue.add({ to: "nobody" });
    const worker = new Worker(queue, async () => {
      throw new Error("550 no such mailbox");
    }).start();
    await queue.waitFor(id, { timeoutMs: 30_000 });
    await worker.stop();
    await visit("");
    await press("g");
    await press("q");
    await page.locator("h1", { hasText: "Queues" }).waitFor();
    await page.getByRole("link", { name: "mails" }).waitFor();
    await tabTo("mails");
    await press("Enter");
    await page.locator("h1", { hasText: "mails" }).waitFor();
    await page.getByRole("button", { name: /^Dead/ }).waitFor();
    await tabTo(/^Dead/);
    await press("Enter");
    await page.getByRole("table", { name: "Jobs" }).getByText("550").waitFor();
    await tabTo(id);
    await press("Enter");
    await page.getByRole("button", { name: "Retry job" }).waitFor();
    await tabTo("Retry job");
    await press("Enter");
    await page.getByText("Waits for a worker").waitFor();
    expect(await queue.counts()).toMatchObject({ dead: 0, waiting: 1 });
  });

  test("opens the palette from anywhere, goes through it by arrows, and comes back to where it was", async () => {
    await visit("keys");
    await tabTo("Import keys");
    await press("Control+k");
    await eventually(focused).toBe("Find pages, keys, queues and actions");
    await press("Escape");
    await eventually(focused).toBe("Import keys");
    await press("Control+k");
    await eventually(focused).toBe("Find pages, keys, queues and actions");
    await page.keyboard.type("con");
    await press("ArrowDown");
    await press("ArrowUp");
    await page.keyboard.type("figuration");
    await press("Enter");
    await page.locator("h1", { hasText: "Configuration" }).waitFor();
    await press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  test("stays inside of a dialog while it is open, and returns to what has opened it", async () => {
    await call("SET", "text", "hello");
    await visit("keys?key=text");
    await page.getByRole("button", { name: "Rename key" }).waitFor();
    for (const name of ["Set time to live", "Rename key", "Edit value", "New key"]) {
      await tabTo(name);
      await press("Enter");
      await page.getByRole("dialog").waitFor();
      await eventually(isInDialog).toBe(true);
      for (const key of ["Tab", "Shift+Tab"]) {
        for (let nth = 0; nth < 8; nth++) {
          await press(key);
          expect(await isInDialog(), `${name}, ${key} ${nth}`).toBe(true);
        }
      }
      await press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await eventually(focused).toBe(name);
    }
  });
});
