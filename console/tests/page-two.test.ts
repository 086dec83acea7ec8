/** Two people at once: each sees what the other has done, or is told plainly that it cannot be done any more. */
import { Queue, Worker } from "cinnabar/queues";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PATIENCE_MS, WIDE } from "./browser.ts";
import { describePages, eventually } from "./pages.ts";

describePages("two people", (_name, _label, opened) => {
  let ann: Page;
  let ben: Page;
  const call = (...words: (string | number)[]) => opened().backend.store.call(...words);
  const visit = async (page: Page, path: string) => {
    await page.goto(`${opened().served.url}/?${Math.random()}#/${path}`);
    await page.locator("main h1").waitFor({ state: "attached" });
  };
  const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
  const agree = (page: Page, name: string) => page.getByRole("dialog").getByRole("button", { name }).click();

  beforeAll(async () => {
    ann = opened().page;
    // Of another browser: nothing is shared with the first.
    const context = await ann.context().browser()!.newContext({ viewport: WIDE });
    ben = await context.newPage();
    ben.setDefaultTimeout(PATIENCE_MS);
  });
  afterAll(() => ben?.context().close());

  test("a job that one retries leaves the other's list and page by itself", async () => {
    const queue = new Queue<unknown, unknown>(opened().backend.store, "mails", { defaults: { attempts: 1 } });
    const { id } = await queue.add({ to: "nobody" });
    const worker = new Worker(queue, async () => {
      throw new Error("550 no such mailbox");
    }).start();
    await queue.waitFor(id, { timeoutMs: 30_000 });
    await worker.stop();
    const job = `queues?name=mails&shards=1&job=${encodeURIComponent(id)}`;
    await visit(ann, "queues?name=mails&state=dead");
    await ann.getByRole("table", { name: "Jobs" }).getByText("550").waitFor();
    await visit(ben, job);
    await press(ben, "Retry job");
    await ben.getByText("Waits for a worker").waitFor();
    await ann.getByRole("table", { name: "Jobs" }).getByText("550").waitFor({ state: "detached" });
    await visit(ann, job);
    await ann.getByText("Waits for a worker").waitFor();
    await press(ben, "Remove job");
    await agree(ben, "Remove job");
    await eventually(() => ann.getByText("Waits for a worker").count()).toBe(0);
    expect(await queue.counts()).toMatchObject({ waiting: 0, dead: 0 });
  });

  test("a value that one changes is not overwritten by the other, who is told so", async () => {
    await call("HSET", "user:7", "name", "Ann");
    for (const page of [ann, ben]) {
      await visit(page, "keys?key=user:7&do=edit:field:name");
      await page.getByRole("textbox", { name: "Value" }).waitFor();
    }
    await ben.getByRole("textbox", { name: "Value" }).fill("Ben");
    await press(ben, "Save");
    await ben.getByRole("cell", { name: "Ben", exact: true }).waitFor();
    await ann.getByRole("textbox", { name: "Value" }).fill("Anna");
    await press(ann, "Save");
    await ann.getByText("somebody has changed this meanwhile; look at it again before you change it").waitFor();
    expect(await call("HGET", "user:7", "name")).toBe("Ben");
  });

  test("a key that one deletes is gone for the other, and is not made again by what they still see", async () => {
    await call("DEL", "user:7");
    await call("HSET", "user:7", "name", "Ann", "mail", "ann@example.org");
    await visit(ann, "keys?key=user:7");
    await ann.getByRole("cell", { name: "Ann", exact: true }).waitFor();
    await ann.getByRole("button", { name: "Edit" }).first().click();
    await ann.getByRole("textbox", { name: "Value" }).waitFor();
    await visit(ben, "keys?key=user:7&do=delete");
    await agree(ben, "Delete key");
    await ben.getByText("Deleted user:7.").waitFor();
    await press(ann, "Save");
    await ann.getByText("somebody has changed this meanwhile").waitFor();
    expect(await call("EXISTS", "user:7")).toBe(0);
    await ann.keyboard.press("Escape");
    await ann.getByRole("button", { name: "Remove" }).first().click();
    await ann.getByText("It was gone already: somebody else has removed it.").waitFor();
    await ann.getByText("This key is gone.").waitFor();
  });
});
