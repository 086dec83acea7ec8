/** The pages of queues in a real browser, on our store and on a real Redis: what an operator does with jobs, schedules and queues. */
import { Queue, Worker } from "cinnabar/queues";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { NARROW, shoot, WIDE } from "./browser.ts";
import { describePages, EVIL, eventually } from "./pages.ts";
import type { Backend, Served } from "./support.ts";

describePages("the pages of queues", (_name, label, opened) => {
  let backend: Backend;
  let served: Served;
  let page: Page;
  let mails: Queue<unknown, unknown>;
  const visit = async (path: string) => {
    await page.goto(`${served.url}/#/${path}`);
    await page.locator("main h1").waitFor();
  };
  const row = (text: string) => page.locator("tbody tr", { hasText: text });
  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: typeof name === "string" });
  const dialog = () => page.getByRole("dialog");
  const hash = () => new URL(page.url()).hash;

  beforeAll(async () => {
    ({ backend, served, page } = opened());
    mails = new Queue<unknown, unknown>(backend.store, "mails", { defaults: { attempts: 2, backoff: 1 } });
  });

  test("without a queue the page says how to make one; a queue that never was, that there is none", async () => {
    await visit("queues");
    await page.getByText("There is no queue.").waitFor();
    await visit("queues?name=never");
    await page.getByText("No queue named never was used in this store.").waitFor();
    expect(await backend.store.call("KEYS", "*never*")).toEqual([]);
  });

  test("a job is added by hand, duplicated, edited, run now and removed", async () => {
    await mails.add({ to: EVIL });
    await visit("queues");
    await page.getByRole("link", { name: "mails" }).click();
    await button("Add job").click();
    await eventually(hash).toContain("dialog=add");
    await dialog().getByLabel("Data (JSON)").fill("{ no json");
    expect(await dialog().getByRole("button", { name: "Add job" }).isDisabled()).toBe(true);
    await dialog().getByLabel("Data (JSON)").fill('{"to":"ann"}');
    await dialog().getByLabel("Delay in seconds").fill("3600");
    await dialog().getByLabel("Name (handler)").fill("welcome");
    await dialog().getByRole("button", { name: "Add job" }).click();
    await page.getByText(/^Job \S+ added$/).waitFor();
    await eventually(() => mails.counts()).toMatchObject({ delayed: 1 });
    await button(/^Delayed/).click();
    await row("welcome").getByRole("link").click();
    await page.getByText("Delayed until").waitFor();
    await button("Edit job…").click();
    await dialog().getByLabel("Data (JSON)").fill('{"to":"ben"}');
    await dialog().getByLabel("Priority (−1000 … 1000)").fill("7");
    await dialog().getByRole("button", { name: "Save job" }).click();
    await page.locator("pre", { hasText: "ben" }).waitFor();
    const [delayed] = (await mails.list("delayed")).items;
    expect(delayed).toMatchObject({ data: { to: "ben" }, priority: 7, name: "welcome" });
    await button("Duplicate job…").click();
    await dialog().getByRole("button", { name: "Add job" }).click();
    await eventually(() => mails.counts()).toMatchObject({ waiting: 2, delayed: 1 });
    await button("Run job now").click();
    await page.getByText("Waits for a worker").waitFor();
    await button("Remove job").click();
    await dialog().getByRole("button", { name: "Remove job" }).click();
    await button(/^Waiting \d/).waitFor();
    expect(await mails.get(delayed!.id)).toBeNull();
  });

  test("a job that failed has a timeline with both attempts, their errors and stacks, its log and progress", async () => {
    await mails.drain({ delayed: true });
    const worker = new Worker(
      mails,
      async ({ attempt }, { log, progress }) => {
        await log(`try ${attempt} ${EVIL}`);
        await progress({ percent: 40 });
        throw new Error(`550 no such mailbox ${EVIL}`);
      },
      { name: "mailer-1" },
    ).start();
    const { id } = await mails.add({ to: "nobody" });
    await mails.waitFor(id, { timeoutMs: 30_000 });
    await visit(`queues?name=mails&job=${encodeURIComponent(id)}`);
    const steps = page.getByRole("list", { name: "What happened" }).getByRole("listitem");
    await steps.getByText("Attempt 2 failed").waitFor();
    expect(await steps.allTextContents()).toEqual([
      expect.stringContaining("Added"),
      expect.stringContaining("Attempt 1 failed"),
      expect.stringContaining("Attempt 2 failed"),
      expect.stringContaining("Dead letter"),
    ]);
    await steps.nth(1).getByText("Stack trace").click();
    await steps.nth(1).locator("pre", { hasText: "page-queues.test.ts" }).waitFor();
    await page.locator("pre.log", { hasText: "try 2" }).waitFor();
    expect(await page.getByRole("progressbar", { name: "40 percent" }).count()).toBe(1);
    await shoot(page, `job-${label}`);
    await visit("queues?name=mails&tab=workers");
    await row("mailer-1").waitFor({ timeout: 30_000 });
    await worker.stop();
  });

  test("jobs are selected and done together; all of a state is asked back for, and what was refused is told", async () => {
    await mails.addMany(Array.from({ length: 60 }, (_, n) => ({ data: { n }, options: { delayMs: 3_600_000 } })));
    await visit("queues?name=mails&state=delayed");
    await page.getByText("1–50 of 60").waitFor();
    await button("Next page").click();
    await page.getByText("51–60 of 60").waitFor();
    await page.reload();
    await page.getByText("51–60 of 60").waitFor();
    await button("Previous page").click();
    await page.getByText("1–50 of 60").waitFor();
    await page.getByLabel("Select this page").check();
    await button("Run now selected").click();
    await page.getByText("50 jobs are due now").waitFor();
    await eventually(() => mails.counts()).toMatchObject({ waiting: 50, delayed: 10 });
    await row('"n":50').getByRole("checkbox").check();
    await button("Remove selected").click();
    await dialog().getByRole("button", { name: "Remove 1 job" }).click();
    await eventually(() => mails.counts()).toMatchObject({ delayed: 9 });
    await visit("queues?name=mails&state=dead");
    await button("Retry all 1").click();
    await dialog().getByRole("button", { name: "Cancel" }).click();
    expect((await mails.counts()).dead).toBe(1);
    await button("Retry all 1").click();
    await dialog().getByRole("button", { name: "Retry 1 job" }).click();
    await eventually(() => mails.counts()).toMatchObject({ dead: 0, waiting: 51 });
    await shoot(page, `queue-jobs-${label}`);
  });

  test("a flow is drawn with its states, and leads to each of its jobs", async () => {
    const parts = new Queue<unknown, unknown>(backend.store, "parts");
    const root = await mails.addFlow({
      data: "whole",
      options: { name: "report" },
      children: [{ queue: parts, data: "a", options: { name: "render" } }],
    });
    await visit(`queues?name=mails&job=${encodeURIComponent(root)}`);
    await page.locator(".flow-node", { hasText: "render" }).click();
    await page.getByRole("link", { name: "Queue parts" }).waitFor();
    await page.locator(".flow-node[aria-current]", { hasText: "render" }).waitFor();
    await page.locator(".flow-node", { hasText: "report" }).click();
    await page.getByRole("link", { name: "Queue mails" }).waitFor();
    await shoot(page, `flow-${label}`);
  });

  test("a schedule is added, shown with its next runs, paused, edited and removed", async () => {
    await visit("queues?name=mails&tab=schedules");
    await page.getByText("This queue has no schedule.").waitFor();
    await button("Add schedule").click();
    await dialog().getByLabel("Name", { exact: true }).fill("digest");
    await dialog().getByLabel("Minute hour day month weekday").fill("no cron");
    await dialog().getByRole("button", { name: "Save schedule" }).click();
    await dialog().getByRole("alert").waitFor();
    await dialog().getByLabel("Minute hour day month weekday").fill("0 7 * * 1-5");
    await dialog().getByRole("button", { name: "Save schedule" }).click();
    await row("digest").waitFor();
    await row("digest").locator("summary").click();
    expect(await row("digest").locator("ol li").count()).toBe(5);
    await button("Pause digest").click();
    await button("Resume digest").click();
    await button("Pause digest").waitFor();
    await button("Edit digest").click();
    await dialog().getByRole("button", { name: "Every so often" }).click();
    await dialog().getByLabel("Seconds between two jobs").fill("90");
    await dialog().getByRole("button", { name: "Save schedule" }).click();
    await row("every 90 s").waitFor();
    await button("Run now digest").click();
    await page.getByText("A job of digest was added").waitFor();
    await shoot(page, `schedules-${label}`);
    await button("Remove digest").click();
    await dialog().getByRole("button", { name: "Remove schedule" }).click();
    await page.getByText("This queue has no schedule.").waitFor();
  });

  test("a queue is paused, drained, cleaned and deleted, each asked back for", async () => {
    const doomed = new Queue<unknown, unknown>(backend.store, "doomed");
    await doomed.addMany([
      { data: 1, options: { group: "g" } },
      { data: 2 },
      { data: 3, options: { delayMs: 600_000 } },
    ]);
    await visit("queues?name=doomed");
    await button("Pause queue").click();
    await button("Resume queue").waitFor();
    expect((await doomed.counts()).paused).toBe(true);
    await button("Groups").click();
    await row("in line").waitFor();
    await button("Clean queue by age…").click();
    await dialog().getByLabel("Jobs that are").selectOption("delayed");
    await dialog().getByLabel("Older than").selectOption("0");
    await dialog().getByRole("button", { name: "Remove jobs" }).click();
    await eventually(() => doomed.counts()).toMatchObject({ delayed: 0, waiting: 2 });
    await button("Drain queue…").click();
    await dialog().getByRole("button", { name: "Drain queue" }).click();
    await eventually(() => doomed.counts()).toMatchObject({ waiting: 0 });
    await button("Delete queue…").click();
    expect(await dialog().getByRole("button", { name: "Delete queue" }).isDisabled()).toBe(true);
    await dialog().getByLabel("Type the name of the queue").fill("doomed");
    await dialog().getByRole("button", { name: "Delete queue" }).click();
    await page.locator("h1", { hasText: "Queues" }).waitFor();
    await row("mails").waitFor();
    expect(await backend.store.call("KEYS", "queue:{doomed}*")).toEqual([]);
    await page.getByLabel("Find queue").fill("nothing");
    await page.getByText("No queue has that in its name.").waitFor();
  });

  test("nothing is wider than a phone", async () => {
    await page.setViewportSize(NARROW);
    const [job] = (await mails.list("waiting")).items;
    for (const path of [
      "queues",
      "queues?name=mails",
      "queues?name=mails&dialog=add",
      "queues?name=mails&tab=schedules&dialog=schedule",
      `queues?name=mails&job=${encodeURIComponent(job!.id)}`,
    ]) {
      await visit(path);
      await expect.poll(() => page.locator(".loading").count()).toBe(0);
      expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(390);
    }
    await page.setViewportSize(WIDE);
  });
});
