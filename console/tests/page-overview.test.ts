/** The overview says whether all is well; its charts share pointer and zoom; and looking around writes nothing. */
import { Queue, Worker } from "cinnabar/queues";
import { expect, test } from "vitest";
import { describePages, eventually } from "./pages.ts";

/** Every view that looks at the store itself. */
const VIEWS = [
  ...["", "keys", "keys?key=none", "command", "scripts", "slow", "clients", "config", "files", "queues", "locks"],
  ...[
    "queues?name=none&shards=1",
    "sessions",
    "caches",
    "limits",
    "chats",
    "timelines",
    "indexes",
    "shards",
    "measures",
  ],
];

describePages("the overview", (_name, _label, opened) => {
  const visit = async (path: string) => {
    const { page, served } = opened();
    await page.goto(`${served.url}/#/${path}`);
    await page.locator("main h1").waitFor();
  };
  const changes = async () =>
    /rdb_changes_since_last_save:(\d+)/.exec(String(await opened().backend.store.call("INFO")))?.[1];

  test("looking at every view of an empty store writes nothing", async () => {
    const { page, backend } = opened();
    const before = await changes();
    for (const path of VIEWS) {
      await visit(path);
      await page.locator(".loading").first().waitFor({ state: "detached" });
    }
    expect(await backend.store.call("DBSIZE")).toBe(0);
    expect(await changes()).toBe(before);
  });

  test("charts show the values under the pointer, and zoom together", async () => {
    const { page } = opened();
    await visit("");
    await page.locator(".chart output", { hasText: /\d/ }).first().waitFor();
    const box = (await page.locator(".chart .u-over").first().boundingBox())!;
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width - 2, y);
    // The pointer is in one chart, its moment in all.
    await eventually(() => page.locator(".legend time").count()).toBe(7);
    await page.mouse.move(box.x + box.width * 0.4, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.9, y, { steps: 5 });
    await page.mouse.up();
    await page.getByRole("button", { name: "Reset zoom" }).click();
    await eventually(() => page.getByRole("button", { name: "Reset zoom" }).count()).toBe(0);
  });

  test("the health line tells of dead jobs, and leads to them", async () => {
    const { page, backend } = opened();
    await visit("");
    await page.getByRole("region", { name: "Health" }).waitFor();
    expect(await page.getByText(/\d dead job/).count()).toBe(0);
    const queue = new Queue<string, unknown>(backend.store, "letters", { defaults: { attempts: 1 } });
    const { id } = await queue.add("to nobody");
    const worker = new Worker(queue, async () => {
      throw new Error("no such address");
    }).start();
    await queue.waitFor(id, { timeoutMs: 30_000 });
    await worker.stop();
    await page.getByRole("link", { name: "1 dead job in queue letters." }).click();
    await page.locator("h1", { hasText: "letters" }).waitFor();
    await page.getByRole("button", { name: /^Dead/ }).click();
    await page.getByRole("table", { name: "Jobs" }).getByRole("link").first().click();
    await page.locator("h1", { hasText: `Job ${id}` }).waitFor();
    // The address has the open job: a link shows the same.
    await page.reload();
    await page.locator("h1", { hasText: `Job ${id}` }).waitFor();
  });

  test("removing the last element says that the key is gone; CRLF survives editing", async () => {
    const { page, backend, served } = opened();
    await backend.store.call("RPUSH", "one", "last");
    await page.goto(`${served.url}/#/keys?key=one`);
    const badge = (await page.locator(".about .tag.list").boundingBox())!;
    expect(badge.height).toBeLessThan(30);
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByText("This key is gone.").waitFor();
    await backend.store.call("SET", "lines", "one\r\ntwo\r\n");
    await page.goto(`${served.url}/#/keys?key=lines`);
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Value" }).fill("one\ntwo\nthree\n");
    await page.getByRole("button", { name: "Save" }).click();
    await eventually(() => backend.store.call("GET", "lines")).toBe("one\r\ntwo\r\nthree\r\n");
  });
});
