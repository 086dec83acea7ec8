/** The live pages and those of locks, topics and all components in a real browser, on our store and on a real Redis. */
import { Elections } from "cinnabar/elections";
import { Latches } from "cinnabar/latches";
import { Locks } from "cinnabar/locks";
import { DurableTopic } from "cinnabar/topics";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { NARROW, shoot, WIDE } from "./browser.ts";
import { describePages, EVIL, eventually } from "./pages.ts";
import type { Backend, Served } from "./support.ts";

describePages("the live pages", (name, label, opened) => {
  let backend: Backend;
  let served: Served;
  let page: Page;
  const visit = async (path: string) => {
    await page.goto(`${served.url}/#/${path}`);
    await page.locator("main h1").waitFor();
  };
  const row = (text: string) => page.locator("tbody tr", { hasText: text });
  const button = (text: string | RegExp) => page.getByRole("button", { name: text, exact: typeof text === "string" });
  const dialog = () => page.getByRole("dialog");
  const call = (...words: (string | number)[]) => backend.store.call(...words);
  const listeners = async () =>
    String(await call("CLIENT", "LIST"))
      .split("\n")
      .filter((line) => / flags=\S*O| psub=[1-9]/.test(line)).length;

  beforeAll(() => {
    ({ backend, served, page } = opened());
  });

  test("the profiler shows what matches its filters, which are in the address, and stops when it is left", async () => {
    await visit("profiler?own=1&command=set");
    await button("Start profiler").click();
    await page.getByText("running", { exact: true }).waitFor();
    await call("GET", "unseen");
    await call("SET", "profiled", EVIL);
    await page.locator(".live-lines li", { hasText: "profiled" }).waitFor();
    expect(await page.locator(".live-lines").textContent()).not.toContain("unseen");
    await shoot(page, `profiler-${label}`);
    await button("Stop profiler").click();
    await button("Start profiler").click();
    await page.getByText("running", { exact: true }).waitFor();
    await visit("slow");
    await eventually(listeners).toBe(0);
    await visit("profiler?seconds=1");
    await button("Start profiler").click();
    await page.getByText("stopped: it ran for 1 s").waitFor();
  });

  test("messages are heard and published, and channels with subscribers are listed", async () => {
    await visit("pubsub?names=orders:*");
    await button("Start listening").click();
    await page.getByText("listening", { exact: true }).waitFor();
    await page.getByLabel("Publish to channel").fill("orders:17");
    await page.getByLabel("Message").fill(EVIL);
    await button("Publish message").click();
    await page.getByText("Published; 1 heard it").waitFor();
    await page.locator(".live-lines li", { hasText: "onerror" }).waitFor();
    await shoot(page, `pubsub-${label}`);
    await button("Stop listening").click();
    await eventually(listeners).toBe(0);
    const subscription = await backend.store.subscribe("news", () => {});
    await button("Listen to news").click();
    await page.getByText("listening", { exact: true }).waitFor();
    await call("PUBLISH", "news", "hello");
    await page.locator(".live-lines li", { hasText: "hello" }).waitFor();
    await subscription.close();
  });

  test("key events say which setting they need, set it after a question, and are shown", async () => {
    await call("CONFIG", "SET", "notify-keyspace-events", "");
    await visit("events");
    await button("Set notify-keyspace-events to KEA").click();
    await dialog().getByRole("button", { name: "Set KEA" }).click();
    await button("Start listening").click();
    await page.getByText("listening", { exact: true }).waitFor();
    await page.getByLabel("Key", { exact: true }).fill("user:*");
    await call("SET", "other", "1");
    await call("SET", "user:7", "1");
    await call("DEL", "user:7");
    await page.locator(".live-lines li", { hasText: "del" }).waitFor();
    expect(await page.locator(".live-lines li").count()).toBe(2);
    await shoot(page, `events-${label}`);
    await button("Stop listening").click();
    await call("CONFIG", "SET", "notify-keyspace-events", "");
  });

  test("commands have a heat map and a table in any order; counting begins anew after a question", async () => {
    for (let nth = 0; nth < 50; nth++) await call("HSET", "h", "f", nth);
    await visit("commands?sort=calls");
    await page.getByRole("table", { name: "Latency heat map" }).getByText("hset").waitFor();
    await row("hset").first().waitFor();
    await button("Errors").click();
    await eventually(() => new URL(page.url()).hash).toBe("#/commands?sort=errors");
    await shoot(page, `commands-${label}`);
    await button("Reset statistics…").click();
    await dialog().getByRole("button", { name: "Reset statistics" }).click();
    await page.getByText("Counting begins anew").waitFor();
    await eventually(() => page.getByRole("table", { name: "Commands" }).textContent()).not.toContain("hset");
  });

  test("the slow log is grouped by command, and leaves the console's own out", async () => {
    await call("CONFIG", "SET", "slowlog-log-slower-than", "0");
    await call("HGETALL", "h");
    await call("CONFIG", "SET", "slowlog-log-slower-than", "1000000");
    await visit("slow");
    await page.getByText("Nothing was slow.").waitFor();
    await page.getByLabel("This console's commands too").click();
    await page.locator(".bars").getByRole("button", { name: "HGETALL" }).click();
    await row("HGETALL h").waitFor();
    expect(await page.locator("tbody tr").count()).toBe(1);
    await shoot(page, `slow-${label}`);
    await page.getByLabel("This console's commands too").click();
    await page.getByText("Nothing was slow.").waitFor();
  });

  test("clients are found by a word, and the console is marked", async () => {
    await visit("clients");
    await row("this console").first().waitFor();
    const inside = page.locator("tbody tr", { hasText: "local:" });
    expect((await inside.count()) > 0).toBe(name === "our store");
    expect(await inside.getByRole("button").count(), "what has no connection cannot be ended").toBe(0);
    await page.getByLabel("Find client").fill("no such client");
    await page.getByText("No client matches.").waitFor();
    if (name === "our store") return;
    expect(await page.locator("tr", { hasText: "local:" }).count()).toBe(0);
  });

  test("a lock is taken from its holder after a warning that says what may break; a term likewise", async () => {
    const locks = new Locks(backend.store);
    const lease = (await locks.acquire("order:17", { leaseMs: 60_000 }))!;
    const term = (await new Elections(backend.store).campaign("indexer", { id: "one" }))!;
    await visit("locks");
    await row("order:17").getByText("left").waitFor();
    await button("Force release order:17").click();
    await dialog().getByText("two processes may do at the same time what only one should").waitFor();
    await shoot(page, `release-${label}`);
    await page.reload();
    await dialog().getByRole("button", { name: "Release lock" }).click();
    await page.getByText("The lock was released").waitFor();
    expect(await lease.release()).toBe(false);
    await row("indexer").getByText(/^one /).waitFor();
    await button("End term indexer").click();
    await dialog().getByRole("button", { name: "End term" }).click();
    await page.getByText("The term has ended").waitFor();
    expect(await term.resign()).toBe(false);
  });

  test("a topic shows its groups and messages; dead letters are delivered again, and a group is set back", async () => {
    const orders = new DurableTopic<unknown>(backend.store, "orders");
    await orders.createGroup("billing", { from: "start" });
    let isBroken = true;
    const done: unknown[] = [];
    const subscriber = orders
      .subscriber("billing", { attempts: 1 }, ({ data }) => {
        if (isBroken) throw new Error("no account");
        done.push(data);
      })
      .start();
    await orders.publish({ to: EVIL });
    await eventually(async () => (await orders.inspect("billing"))?.dead).toBe(1);
    await visit("topics");
    await page.getByRole("link", { name: "orders" }).click();
    await row("onerror").waitFor();
    isBroken = false;
    await button("Dead letters of billing").click();
    await dialog().getByText("no account").waitFor();
    await dialog().getByRole("button", { name: "Deliver all again" }).click();
    await eventually(() => done.length).toBe(1);
    await page.keyboard.press("Escape");
    await button("Publish message…").click();
    await dialog().getByLabel("Data (JSON)").fill('{"n":2}');
    await dialog().getByRole("button", { name: "Publish message" }).click();
    await eventually(() => done).toContainEqual({ n: 2 });
    await shoot(page, `topic-${label}`);
    await button("Replay billing").click();
    await dialog().getByRole("button", { name: "Replay messages" }).click();
    await eventually(() => done.length).toBeGreaterThanOrEqual(4);
    await subscriber.stop();
    await button("Delete billing").click();
    await dialog().getByRole("button", { name: "Delete group" }).click();
    await page.getByText("No group reads this topic.").waitFor();
  });

  test("all components are listed by kind, with the names of each", async () => {
    await new Latches(backend.store).create("ready", { count: 3 });
    await visit("components");
    await page.getByRole("link", { name: "Latches", exact: true }).click();
    await row("ready").waitFor();
    await row("ready").getByText("closed").waitFor();
    await page.getByRole("link", { name: "All components" }).last().click();
    await page.getByRole("link", { name: "Open page of locks" }).click();
    await page.locator("h1", { hasText: "Locks" }).waitFor();
  });

  test("nothing is wider than a phone", async () => {
    await page.setViewportSize(NARROW);
    for (const path of [
      "profiler",
      "pubsub",
      "events",
      "commands",
      "slow?own=1",
      "clients",
      "locks",
      "topics",
      "topics?name=orders",
      "components",
    ]) {
      await visit(path);
      await expect.poll(() => page.locator(".loading").count()).toBe(0);
      expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(390);
      await shoot(page, `${path.replace(/\W+/g, "-")}-narrow-${label}`);
    }
    await page.setViewportSize(WIDE);
  });
});
