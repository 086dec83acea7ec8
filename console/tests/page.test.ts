/** The page in a real browser, on our store and on a real Redis: every view, what people do there, and what goes wrong. */
import { join } from "node:path";
import { Counters } from "cinnabar/counters";
import { Locks } from "cinnabar/locks";
import { Logs } from "cinnabar/logs";
import { Queue, Worker } from "cinnabar/queues";
import { Stats } from "cinnabar/stats";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { buildPage, hasBrowser, NARROW, openBrowser, PATIENCE_MS, shiftOf, shoot, WIDE, watch } from "./browser.ts";
import { type Backend, backends, type Served, serve, temporaryFolder } from "./support.ts";

const folder = temporaryFolder();
const built = join(folder.path, "ui");
const EVIL = `<img src=x onerror="window.ran = 1"><script>window.ran = 1</script>`;
const PATHS = ["", "keys", "command", "slow", "clients", "config", "files", "queues", "locks", "measures"];

let browser: Browser;

describe.runIf(hasBrowser)("the page", () => {
  beforeAll(async () => {
    await buildPage(built);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    folder.remove();
  });

  describe.each(backends(installed("redis-server") ? startRedis : undefined))("on %s", (name, start) => {
    let backend: Backend;
    let served: Served;
    let page: Page;
    let offences: string[];
    const label = name.replace(/\W+/g, "-");
    const call = (...words: (string | number)[]) => backend.store.call(...words);
    const visit = async (path: string) => {
      await page.goto(`${served.url}/#/${path}`);
      await page.locator("main h1").waitFor();
    };
    const cell = (text: string) => page.locator("td", { hasText: text }).first();

    beforeAll(async () => {
      backend = await start();
      await fill(backend);
      served = await serve(backend.store, { page: built });
      page = await browser.newPage({ viewport: WIDE });
      page.setDefaultTimeout(PATIENCE_MS);
      offences = watch(page, served.url);
    });
    afterAll(async () => {
      await page?.close();
      await served?.console.close();
      await backend?.stop();
    });
    afterEach(async () => {
      expect(offences).toEqual([]);
      expect(await page.evaluate("window.ran")).toBeUndefined();
    });

    test("the overview shows figures that move by themselves", async () => {
      await visit("");
      const keys = page.getByLabel(/^Keys: \d/).locator("output");
      await keys.waitFor();
      const before = Number(await keys.textContent());
      await call("SET", "one:more", "1");
      await expect.poll(() => keys.textContent(), { timeout: 8_000 }).toBe(String(before + 1));
      await call("DEL", "one:more");
      expect(await page.locator(".chart canvas").count()).toBe(7);
      expect(await page.locator(".facts").textContent()).toContain("Version");
      expect(await page.evaluate(shiftOf()), "nothing moves while the page loads and lives").toBeLessThan(0.02);
      await page.getByRole("button", { name: "1 hour" }).click();
      await page.getByRole("button", { name: "10 min" }).click();
      await shoot(page, `${label}-overview`);
    });

    test("keys stand in a tree, are filtered, and are seen in every type", async () => {
      await visit("keys");
      await page.getByRole("button", { name: /^user:1:/ }).click();
      await page.getByRole("link", { name: /profile/ }).click();
      await cell("ada@example.org").waitFor();
      await shoot(page, `${label}-keys`);
      await page.keyboard.press("/");
      await page.keyboard.type("every:");
      for (const type of ["string", "hash", "list", "set", "zset", "stream"]) {
        await page.goto(`${served.url}/#/keys?key=every:${type}`);
        await page.locator(".about .tag", { hasText: type }).waitFor();
        await page.getByText(`in ${type}`).first().waitFor();
      }
      await page.getByLabel("Name or pattern").fill("no such key");
      await page.getByText("No key fits.").waitFor();
    });

    test("a key is made, edited, given a time to live, renamed and deleted; wrong input is told", async () => {
      await visit("keys");
      await page.getByRole("button", { name: "New key" }).click();
      await page.getByRole("textbox", { name: "Key" }).fill("made");
      await page.locator("[role=dialog] select").selectOption("hash");
      await page.getByRole("textbox", { name: "Field" }).fill("colour");
      await page.getByRole("textbox", { name: "Value" }).fill("red");
      await page.getByRole("button", { name: "Create key" }).click();
      await page.locator(".name", { hasText: "made" }).waitFor();
      await page.getByRole("button", { name: "Edit" }).click();
      await page.getByRole("textbox", { name: "Value" }).fill("blue");
      await page.getByRole("button", { name: "Save" }).click();
      await cell("blue").waitFor();
      expect(await call("HGET", "made", "colour")).toBe("blue");

      await page.getByRole("button", { name: "Time to live" }).click();
      await page.getByLabel("Seconds").fill("soon");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("is no time").waitFor();
      await page.getByLabel("Seconds").fill("100");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText(/\d+ s to live/).waitFor();

      await page.getByRole("button", { name: "Rename" }).click();
      await page.getByLabel("New name").fill("every:string");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("there is such a key already").waitFor();
      await page.getByLabel("New name").fill("renamed");
      await page.getByRole("button", { name: "Save" }).click();
      await page.locator(".name", { hasText: "renamed" }).waitFor();
      await page.getByRole("button", { name: "Delete" }).click();
      await page.locator("[role=dialog]").getByRole("button", { name: "Delete key" }).click();
      await page.getByText("No key is chosen.").waitFor();
      expect(await call("EXISTS", "renamed", "made")).toBe(0);
    });

    test("what is stored is shown as text and never runs", async () => {
      await page.goto(`${served.url}/#/keys?key=${encodeURIComponent(EVIL)}`);
      await page.locator(".name", { hasText: "onerror" }).waitFor();
      await cell("onerror").waitFor();
      await visit("command");
      await page.getByLabel("Command").fill(`HGETALL '${EVIL}'`);
      await page.keyboard.press("Enter");
      await page.locator(".exchange dd", { hasText: "onerror" }).waitFor();
      await visit("measures");
      await cell("onerror").waitFor();
      expect(await page.locator("main img, main script").count()).toBe(0);
    });

    test("the command line completes, explains, remembers, and asks before harm", async () => {
      await visit("command");
      const line = page.getByLabel("Command");
      const last = page.locator(".exchange").last();
      await line.fill("zrangebys");
      await page.locator(".offers", { hasText: "ZRANGEBYSCORE" }).waitFor();
      await page.keyboard.press("Tab");
      expect(await line.inputValue()).toBe("ZRANGEBYSCORE ");
      await page.locator(".helpline", { hasText: "ZRANGEBYSCORE key min max" }).waitFor();
      await line.fill('SET spaced "a b"');
      await page.keyboard.press("Enter");
      await last.getByText("OK").waitFor();
      expect(await call("GET", "spaced")).toBe("a b");
      await line.fill("HGETALL user:1:profile");
      await page.keyboard.press("Enter");
      await last.locator("dt", { hasText: "mail" }).waitFor();
      await line.fill('GET "open');
      await page.keyboard.press("Enter");
      await last.getByText("not balanced").waitFor();
      await line.fill("BLPOP x 0");
      await page.keyboard.press("Enter");
      await last.getByText("cannot be run here").waitFor();
      await line.fill("GET draft");
      await page.keyboard.press("ArrowUp");
      expect(await line.inputValue()).toBe("BLPOP x 0");
      await page.keyboard.press("ArrowDown");
      expect(await line.inputValue(), "what was being typed comes back").toBe("GET draft");
      await line.fill("FLUSHALL");
      await page.keyboard.press("Enter");
      await page.getByText("deletes everything").waitFor();
      await page.getByRole("button", { name: "Cancel" }).click();
      expect(await call("EXISTS", "spaced")).toBe(1);
      await shoot(page, `${label}-command`);
    });

    test("slow log, clients, configuration and files", async () => {
      await call("CONFIG", "SET", "slowlog-log-slower-than", 0);
      await call("GET", "very:slow");
      await call("CONFIG", "SET", "slowlog-log-slower-than", 10_000);
      await visit("slow?own=1");
      await cell("GET very:slow").waitFor();
      await shoot(page, `${label}-slow`);
      // On a busy machine a command of somebody else's may take ten milliseconds.
      await call("CONFIG", "SET", "slowlog-log-slower-than", 3_600_000_000);
      await page.getByRole("button", { name: "Empty slow log" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Empty slow log" }).click();
      await page.getByText("Nothing was slow.").waitFor();
      await call("CONFIG", "SET", "slowlog-log-slower-than", 10_000);
      await visit("clients");
      await page.locator("table[aria-label=Clients] tbody tr").first().waitFor();
      await shoot(page, `${label}-clients`);
      await visit("config");
      await page.getByLabel("Filter").fill("maxmemory-policy");
      await page.getByRole("button", { name: "Change maxmemory-policy" }).click();
      await page.getByRole("textbox", { name: "maxmemory-policy" }).fill("nonsense");
      await page.getByRole("button", { name: "Set", exact: true }).click();
      await page.locator(".notice").waitFor();
      await page.getByRole("textbox", { name: "maxmemory-policy" }).fill("allkeys-lru");
      await page.getByRole("button", { name: "Set", exact: true }).click();
      await page.getByRole("button", { name: "Change maxmemory-policy" }).waitFor();
      expect(await call("CONFIG", "GET", "maxmemory-policy")).toEqual(["maxmemory-policy", "allkeys-lru"]);
      await shoot(page, `${label}-config`);
      await visit("files");
      await page.getByText("Last snapshot").waitFor();
      if (name === "redis-server") {
        const since = page.locator(".pairs div", { hasText: "Changes since" }).locator("dd");
        expect(Number(await since.textContent())).toBeGreaterThan(0);
        await page.getByRole("button", { name: "Take a snapshot" }).click();
        await expect.poll(() => since.textContent(), { timeout: 10_000 }).toBe("0");
      }
      await shoot(page, `${label}-files`);
    });

    test("a dead job is looked into and run again", async () => {
      await visit("queues");
      await page.getByRole("link", { name: "mails" }).click();
      await page.getByRole("button", { name: /^Dead/ }).click();
      await page.getByRole("table", { name: "Jobs" }).getByRole("link").first().click();
      await page.getByRole("list", { name: "What happened" }).getByText("no route").first().waitFor();
      await page.locator("pre.log", { hasText: "trying" }).waitFor();
      await shoot(page, `${label}-job`);
      await page.getByRole("button", { name: "Retry job" }).click();
      await page.getByText("Waits for a worker").waitFor();
      await page.getByRole("link", { name: "Queue mails" }).click();
      await page.getByRole("button", { name: "Pause queue" }).click();
      await page.getByRole("button", { name: "Resume queue" }).waitFor();
      await shoot(page, `${label}-queue`);
      const queue = new Queue(backend.store, "mails");
      expect(await queue.counts()).toMatchObject({ dead: 0, waiting: 1, paused: true });
    });

    test("locks and measures are shown", async () => {
      await visit("locks");
      await cell("order:17").waitFor();
      await shoot(page, `${label}-locks`);
      await visit("measures");
      await page.getByLabel(/^hits: 5 in all/).waitFor();
      await cell("checkout").waitFor();
      await shoot(page, `${label}-measures`);
    });

    test("the keyboard goes everywhere", async () => {
      await visit("");
      await page.keyboard.press("g");
      await page.keyboard.press("k");
      await page.locator("h1", { hasText: "Keys" }).waitFor();
      await page.keyboard.press("?");
      await page.locator("[role=dialog] h2", { hasText: "Keyboard" }).waitFor();
      await page.keyboard.press("Escape");
      await expect.poll(() => page.locator("[role=dialog]").count()).toBe(0);
      await page.keyboard.press("/");
      expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Name or pattern");
    });

    test("nothing is wider than a telephone, in either theme", async () => {
      await page.setViewportSize(NARROW);
      for (const path of PATHS) {
        await visit(path);
        await page.locator(".loading").first().waitFor({ state: "detached" });
        expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(NARROW.width);
        if (name === "our store") await shoot(page, `narrow-${path || "overview"}`);
      }
      await page.getByRole("button", { name: "Menu" }).click();
      await page.getByRole("button", { name: "Dark" }).click();
      await page.getByRole("link", { name: "Keys" }).click();
      await page.getByRole("button", { name: /^user:1:/ }).click();
      await page.getByRole("link", { name: /profile/ }).click();
      await cell("ada@example.org").waitFor();
      await shoot(page, `${label}-narrow-dark-key`);
      await page.getByRole("link", { name: "← Keys" }).click();
      await page.setViewportSize(WIDE);
      await visit("");
      await page.locator(".chart canvas").first().waitFor();
      await shoot(page, `${label}-dark-overview`);
    });
  });
});

/** Something of everything. */
async function fill({ store }: Backend): Promise<void> {
  await store.call("HSET", "user:1:profile", "name", "Ada", "mail", "ada@example.org");
  for (let nth = 0; nth < 30; nth++) await store.call("SET", `user:1:visit:${nth}`, nth, "EX", 3_600);
  await store.call("SET", "every:string", '{"in string": true}');
  await store.call("HSET", "every:hash", "field", "in hash");
  await store.call("RPUSH", "every:list", "in list", "more");
  await store.call("SADD", "every:set", "in set");
  await store.call("ZADD", "every:zset", 1.5, "in zset");
  await store.call("XADD", "every:stream", "*", "field", "in stream");
  await store.call("HSET", EVIL, EVIL, EVIL);
  const queue = new Queue<unknown, unknown>(store, "mails", { defaults: { attempts: 1 } });
  const { id } = await queue.add({ to: EVIL });
  const worker = new Worker(queue, async (_job, { log }) => {
    await log("trying");
    throw new Error("no route");
  });
  worker.start();
  await queue.waitFor(id, { timeoutMs: 20_000 });
  await worker.stop();
  await new Locks(store).acquire("order:17", { leaseMs: 600_000 });
  await new Counters(store).add("hits", 5);
  await new Stats(store).record("checkout", "items", [1, 2, 3]);
  const logs = new Logs(store);
  logs.write("web", "error", EVIL);
  await logs.flush();
}
