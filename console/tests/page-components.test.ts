/** The pages of sessions, caches, rate limits and scripts in a real browser, on our store and on a real Redis. */
import { open } from "cinnabar";
import { Cache } from "cinnabar/cache";
import { RateLimits } from "cinnabar/rate-limits";
import { Sessions } from "cinnabar/sessions";
import { ShardedSet } from "cinnabar/sharded";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { NARROW, shoot, WIDE } from "./browser.ts";
import { describePages, EVIL } from "./pages.ts";
import type { Backend, Served } from "./support.ts";

const PATHS = ["sessions", "caches", "caches?name=pages", "limits", "limits?name=api", "scripts", "shards"];

describePages("the pages of components", (name, label, opened) => {
  let backend: Backend;
  let served: Served;
  let page: Page;
  let sessions: Sessions;
  const visit = async (path: string) => {
    await page.goto(`${served.url}/#/${path}`);
    await page.locator("main h1").waitFor();
  };
  const row = (text: string) => page.locator("tr", { hasText: text });

  beforeAll(() => {
    ({ backend, served, page } = opened());
    sessions = new Sessions(backend.store);
  });

  test("each says what to do while there is nothing", async () => {
    for (const [path, text] of [
      ["sessions", "Nobody has a session."],
      ["caches", "No cache was used"],
      ["limits", "No limit was used"],
      ["scripts", "No library is loaded."],
    ]) {
      await visit(path!);
      await page.locator(".state", { hasText: text! }).waitFor();
    }
    expect((await served.get("/api/caches/absent")).status).toBe(404);
    expect((await served.get("/api/rate-limits/absent")).status).toBe(404);
    expect((await served.send("POST", "/api/sessions/end", { handle: "x" })).status).toBe(400);
  });

  test("sessions are shown without their tokens, and end when somebody ends them", async () => {
    const ann = await sessions.create({ user: "ann" });
    await sessions.create({ user: EVIL });
    const visitor = await sessions.create();
    await visit("sessions");
    await row("ann").waitFor();
    await row("onerror").waitFor();
    await row("not signed in").waitFor();
    const body = JSON.stringify((await served.get("/api/sessions")).body);
    for (const { token } of [ann, visitor]) expect(body).not.toContain(token.slice(13));
    await shoot(page, `sessions-${label}`);
    await page.getByRole("searchbox").fill("ANN");
    await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
    await row("ann").getByRole("button", { name: "Sign out everywhere" }).click();
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await row("ann").waitFor({ state: "detached" });
    expect(await sessions.load(ann.token)).toBeNull();
    await page.getByRole("searchbox").fill("");
    await row("not signed in").getByRole("button", { name: "End session", exact: true }).click();
    await page.locator("[role=dialog]").getByRole("button", { name: "End session" }).click();
    await row("not signed in").waitFor({ state: "detached" });
    expect(await sessions.load(visitor.token)).toBeNull();
  });

  test("a cache shows its hit rate, entries and tags; a tag makes them invalid", async () => {
    const pages = new Cache<string>(backend.store, "pages", { shards: 4 });
    const load = () => "made";
    await pages.get("front", load, { tags: ["news"] });
    for (let n = 0; n < 3; n++) await pages.get("front", load, { tags: ["news"] });
    await pages.get(EVIL, load);
    await visit("caches");
    // The name is there at once; the counts are reported every five seconds.
    await row("pages").waitFor();
    await expect.poll(() => row("pages").textContent()).toContain("60.0 %");
    await shoot(page, `caches-${label}`);
    await page.getByRole("link", { name: "pages" }).click();
    await row("front").waitFor();
    await row("onerror").waitFor();
    await row("front").getByRole("button", { name: "news" }).click();
    await page.locator("[role=dialog]").getByRole("button", { name: "Invalidate tag" }).click();
    await page.getByRole("table", { name: "Invalidated tags" }).getByText("news").waitFor();
    expect(await pages.get("front")).toBeNull();
    await page.getByRole("button", { name: `Delete ${EVIL}` }).click();
    await row("onerror").waitFor({ state: "detached" });
    expect(await pages.get(EVIL)).toBeNull();
    await shoot(page, `cache-${label}`);
  });

  test("who is refused stands first, and can be forgiven", async () => {
    const api = new RateLimits(backend.store, {
      name: "api",
      rules: { limit: 2, windowMs: 3_600_000, algorithm: "fixed" },
    });
    await api.take("10.0.0.1");
    for (let n = 0; n < 3; n++) await api.take("10.0.0.2");
    await visit("limits");
    await page.getByRole("link", { name: "api", exact: true }).click();
    await row("10.0.0.2").waitFor();
    expect(await page.locator("tbody tr").first().textContent()).toContain("10.0.0.2");
    await shoot(page, `limits-${label}`);
    await page.getByRole("button", { name: "Forgive 10.0.0.2" }).click();
    await row("10.0.0.2").waitFor({ state: "detached" });
    expect((await api.take("10.0.0.2")).allowed).toBe(true);
  });

  test("a script is tried, and cannot write unless it may", async () => {
    await backend.store.call("SET", "greeting", "hello");
    await visit("scripts");
    const script = page.getByLabel("Script");
    await script.fill("return {redis.call('GET', KEYS[1]), ARGV[1], #KEYS}");
    await page.getByLabel("Keys").fill("greeting");
    await page.getByLabel("Arguments").fill("you");
    await page.getByRole("button", { name: "Run script" }).click();
    await expect.poll(() => page.locator(".trial-result").textContent()).toContain("hello");
    await script.fill("return redis.call('SET', KEYS[1], 'bye')");
    await page.getByRole("button", { name: "Run script" }).click();
    await expect.poll(() => page.locator(".trial-result").textContent()).toMatch(/write/i);
    expect(await backend.store.call("GET", "greeting")).toBe("hello");
    await page.getByLabel("may write").check();
    await page.getByRole("button", { name: "Run script" }).click();
    await expect.poll(() => page.locator(".trial-result").textContent()).toContain("OK");
    expect(await backend.store.call("GET", "greeting")).toBe("bye");
    await script.fill("this is no Lua");
    await page.getByRole("button", { name: "Run script" }).click();
    await expect.poll(() => page.locator(".trial-result").textContent()).toMatch(/compiling script/);
    await shoot(page, `scripts-${label}`);
  });

  test("a library is loaded, shown and deleted; a wrong one says why", async () => {
    await visit("scripts");
    await page.getByRole("button", { name: "Load library…" }).click();
    const code = page.getByLabel("Code");
    await code.fill("#!lua name=shop\nthis is no Lua");
    await page.locator("[role=dialog]").getByRole("button", { name: "Load library", exact: true }).click();
    await page.locator("[role=dialog] [role=alert]").waitFor();
    await code.fill(
      "#!lua name=shop\nredis.register_function('stock', function(keys) return redis.call('GET', keys[1]) end)",
    );
    await page.locator("[role=dialog]").getByRole("button", { name: "Load library", exact: true }).click();
    const library = page.locator("details", { hasText: "shop" });
    await library.locator("summary").click();
    expect(await library.locator("pre").textContent()).toContain("register_function");
    expect(await backend.store.call("FCALL", "stock", 1, "greeting")).toBe("bye");
    await library.getByRole("button", { name: "Delete" }).click();
    await page.locator("[role=dialog]").getByRole("button", { name: "Delete" }).click();
    await page.locator(".state", { hasText: "No library is loaded." }).waitFor();
  });

  test("a stream shows its groups, their consumers and what nobody has acknowledged", async () => {
    const { store } = backend;
    for (let n = 0; n < 3; n++) await store.call("XADD", "events", `${n + 1}-0`, "n", n);
    await store.call("XGROUP", "CREATE", "events", "mailers", "0");
    await store.call("XREADGROUP", "GROUP", "mailers", EVIL, "COUNT", 2, "STREAMS", "events", ">");
    await visit("keys?key=events");
    const group = page.locator("details", { hasText: "mailers" });
    await group.locator("summary").click();
    expect(await group.textContent()).toContain("2 not acknowledged");
    await group.getByRole("table", { name: "Not acknowledged in mailers" }).getByText("1-0").waitFor();
    await shoot(page, `groups-${label}`);
    await store.call("XACK", "events", "mailers", "1-0");
    await expect.poll(() => group.textContent(), { timeout: 10_000 }).toContain("1 not acknowledged");
  });

  test("sharded structures are looked into and resharded; a fleet shows no password", async () => {
    const set = new ShardedSet(backend.store, "people", { tags: 2 });
    await set.addMany(Array.from({ length: 200 }, (_, at) => `person ${at}`));
    const layout = {
      components: {
        shop: {
          shards: { a: { url: "redis://:secret@10.0.0.1" }, b: { url: "redis://10.0.0.2", leaving: true } },
          slots: [
            { from: 0, to: 9_999, shard: "a" },
            { from: 10_000, to: 16_383, shard: "b" },
          ],
          moving: { from: 16_000, to: 16_383, source: "b", target: "a" },
        },
      },
    };
    await backend.store.call("ZADD", "cinnabar:names:fleet", Date.now(), JSON.stringify(["fleet", "main"]));
    await backend.store.call("HSET", "fleet:{main}", "version", 7, "value", JSON.stringify(layout), "at", Date.now());
    await visit("shards");
    await row("people").waitFor();
    expect(await row("people").textContent()).toContain("200");
    const fleet = page.getByRole("table", { name: "Fleet main" });
    await fleet.getByText("10.0.0.1").waitFor();
    expect(await fleet.textContent()).toContain("16000–16383 away");
    expect(JSON.stringify((await served.get("/api/shards")).body)).not.toContain("secret");
    await shoot(page, `shards-${label}`);
    await row("people").getByRole("button", { name: "Show elements" }).click();
    await page.getByRole("table", { name: "Shards" }).locator("tbody tr").first().waitFor();
    await page.keyboard.press("Escape");
    await row("people").getByRole("button", { name: "Reshard structure" }).click();
    await page.getByLabel("Shards by hash").fill("64");
    await page.getByRole("button", { name: "Change shards" }).click();
    await row("people").getByRole("button", { name: "Move elements" }).click();
    await row("people").getByText("at rest").waitFor();
    expect((await set.shards.inspect()).shards).toBe(64);
    expect(await set.has("person 17")).toBe(true);
  });

  // In this process a script that runs has the console's thread too: there is nobody to show it.
  test.skipIf(name === "our store")("a script that runs too long is shown and ended", async () => {
    const [, port] = (await backend.store.call("CONFIG", "GET", "port")) as string[];
    await backend.store.call("CONFIG", "SET", "busy-reply-threshold", "50");
    const other = await open(`redis://127.0.0.1:${port}`);
    try {
      const running = other.call("EVAL", "while true do end", 0).catch((error: Error) => error.message);
      await visit("scripts");
      await row("a script").getByRole("button", { name: "End script" }).click({ timeout: 20_000 });
      expect(await running).toMatch(/killed/i);
    } finally {
      await other.close();
    }
  });

  test("none of them is wider than a small screen", async () => {
    await page.setViewportSize(NARROW);
    for (const path of PATHS) {
      await visit(path);
      await expect.poll(() => page.locator(".loading").count()).toBe(0);
      expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(390);
      await shoot(page, `${path.replace(/\W+/g, "-")}-narrow-${label}`);
    }
    await page.setViewportSize(WIDE);
  });
});
