/** What people with different roles see, the connection and database switcher, the audit log, a store that is down, the embedded keys. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Engine } from "@cinnabar/engine";
import { open, type Store } from "cinnabar";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { full } from "../../scripts/full.ts";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { connectionTo } from "../src/access/routes.ts";
import { consoleFor } from "../src/index.ts";
import { buildPage, hasBrowser, openBrowser, PATIENCE_MS, shoot, WIDE, watch } from "./browser.ts";
import { eventually } from "./pages.ts";
import { serve, temporaryFolder } from "./support.ts";

const folder = temporaryFolder();
const built = join(folder.path, "ui");
let browser: Browser;

async function newPage(): Promise<Page> {
  const page = await browser.newPage({ viewport: WIDE });
  page.setDefaultTimeout(PATIENCE_MS);
  return page;
}

async function startEngine() {
  const engine = await Engine.open();
  const { port } = await engine.listen({ host: "127.0.0.1", port: 0 });
  return { url: `redis://127.0.0.1:${port}`, stop: () => engine.close() };
}

const SERVERS: [string, () => Promise<{ url: string; stop(): Promise<void> }>][] = [["our store", startEngine]];
if (full && installed("redis-server")) SERVERS.push(["redis-server", startRedis]);

describe.runIf(hasBrowser)("the page", () => {
  beforeAll(async () => {
    await buildPage(built);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    folder.remove();
  });

  test("offers people what their role allows, and admins the audit log", async () => {
    const store = await open();
    const users = (["viewer", "admin"] as const).map((role) => ({ name: role, role, password: "pw" }));
    const served = await serve(store, { page: built, users });
    const page = await newPage();
    const offences = watch(page, served.url);
    const signIn = async (name: string) => {
      await page.getByLabel("Name").fill(name);
      await page.getByLabel("Password").fill("pw");
      await page.keyboard.press("Enter");
    };
    await page.goto(`${served.url}/#/config`);
    await page.getByLabel("Name").waitFor();
    await shoot(page, "sign-in-named");
    await signIn("viewer");
    await page.locator(".who", { hasText: "viewer" }).waitFor();
    await page.locator("h1", { hasText: "Configuration" }).waitFor();
    expect(await page.locator("nav a[href='#/audit']").count()).toBe(0);
    await page.goto(`${served.url}/#/files`);
    await page.locator("h1", { hasText: "Snapshots" }).waitFor();
    expect(await page.getByRole("button", { name: /snapshot/i }).count()).toBe(0);
    await page.goto(`${served.url}/#/audit`);
    await page.getByText("needs an admin").waitFor();
    const refused = await page.evaluate(
      `fetch("/api/keys/delete", { method: "POST", headers: { "x-cinnabar": "1", "content-type": "application/json" }, body: '{"keys":["k"]}' }).then(({ status }) => status)`,
    );
    expect(refused).toBe(403);
    await page.getByRole("button", { name: "Sign out" }).click();
    await signIn("admin");
    await page.getByRole("table", { name: "Changes" }).getByText("POST /api/keys/delete").waitFor();
    await page.getByText("refused").first().waitFor();
    await shoot(page, "audit");
    expect(offences).toEqual([]);
    await page.close();
    await served.console.close();
    await store.close();
  });

  test.each(SERVERS)("switches connections and databases, in the address, on %s", async (name, start) => {
    const [one, two] = [await start(), await start()];
    const [first, second] = [await open(one.url), await open(two.url)];
    await first.call("SET", "first", "1");
    await second.call("SET", "second", "2");
    const third = await open(`${one.url.replace(/\/\d*$/, "")}/3`);
    await third.call("SET", "three", "3");
    const own = await open();
    const served = await serve(own, {
      page: built,
      connections: [connectionTo("main", one.url), connectionTo("staging", two.url)],
      allowConnections: true,
    });
    const page = await newPage();
    const offences = watch(page, served.url);
    await page.goto(`${served.url}/#/keys`);
    await page.locator(".key", { hasText: "first" }).waitFor();
    await page.getByLabel("Database").selectOption("3");
    await page.locator(".key", { hasText: "three" }).waitFor();
    expect(new URL(page.url()).search).toBe("?db=3");
    await page.getByLabel("Connection").selectOption("staging");
    await page.locator(".key", { hasText: "second" }).waitFor();
    expect(new URL(page.url()).search).toBe("?connection=staging");
    await shoot(page, `switcher-${name.replace(/\W+/g, "-")}`);
    const link = page.url();
    const other = await newPage();
    await other.goto(link);
    await other.locator(".key", { hasText: "second" }).waitFor();
    await other.close();
    await page.getByLabel("Connection").selectOption("Add connection…");
    const dialog = page.getByRole("dialog", { name: "Add connection" });
    await dialog.getByLabel("Name").fill("third");
    await dialog.getByLabel("URL").fill("redis://127.0.0.1:1");
    await dialog.getByRole("button", { name: "Add connection" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("URL").fill(one.url);
    await dialog.getByRole("button", { name: "Add connection" }).click();
    await page.locator(".key", { hasText: "first" }).waitFor();
    expect(new URL(page.url()).search).toBe("?connection=third");
    expect(offences).toEqual([]);
    await page.close();
    await served.console.close();
    for (const store of [first, second, third, own]) await store.close();
    await one.stop();
    await two.stop();
  });

  test("opens while the store is down, says so, and shows it when it is up", async () => {
    const engine = await startEngine();
    await engine.stop();
    const own = await open();
    const served = await serve(own, { page: built, connections: [connectionTo("main", engine.url)] });
    const page = await newPage();
    await page.goto(`${served.url}/#/keys`);
    await page.getByText("The console cannot reach its store").waitFor();
    await shoot(page, "store-down");
    const again = await Engine.open();
    await again.listen({ host: "127.0.0.1", port: Number(new URL(engine.url).port) });
    await page.locator(".banner").waitFor({ state: "detached" });
    await page.getByText("The store is empty.").waitFor();
    await page.close();
    await served.console.close();
    await own.close();
    await again.close();
  });

  test("shows its keys inside of another page, below the path of another application", async () => {
    const store: Store = await open();
    await store.call("SET", "user:17", "embedded value");
    const mounted = await consoleFor(store, { basePath: "/admin/store", frames: ["self"], page: built });
    const app = createServer((request, response) =>
      mounted.handler(request, response, () => {
        response.setHeader("content-type", "text/html");
        response.end(`<!doctype html><title>shop</title><h1>Shop</h1>
          <script type="module" src="/admin/store/embed.js"></script>
          <cinnabar-keys key="user:17"></cinnabar-keys>
          <script>document.querySelector("cinnabar-keys").addEventListener("navigate", ({ detail }) => window.gone = detail)</script>`);
      }),
    );
    await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
    const page = await newPage();
    const offences = watch(page, url);
    await page.goto(`${url}/shop`);
    const frame = page.frameLocator("cinnabar-keys iframe");
    await frame.locator("pre.string", { hasText: "embedded value" }).waitFor();
    expect(await frame.locator("nav.menu").count()).toBe(0);
    await shoot(page, "embedded-keys");
    await eventually(() => page.evaluate("window.gone")).toEqual({ view: "keys", key: "user:17" });
    // The whole console stands there too, live.
    await page.goto(`${url}/admin/store`);
    await page.locator("h1", { hasText: "Overview" }).waitFor();
    await page.locator(".chart canvas").first().waitFor();
    expect(await page.locator("nav a[href='#/examples']").count()).toBe(0);
    // So do its files and its streams.
    await page.goto(`${url}/admin/store/#/keys?dialog=export`);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download file" }).click();
    expect(readFileSync(await (await downloading).path(), "utf8")).toContain('"key":"user:17"');
    await page.goto(`${url}/admin/store/#/keys?dialog=import`);
    const record = JSON.stringify({ key: "user:18", type: "string", value: "imported" });
    const file = { name: "keys.jsonl", mimeType: "application/jsonl", buffer: Buffer.from(`${record}\n`) };
    await page.getByLabel("File").setInputFiles(file);
    await page.getByRole("button", { name: "Import file" }).click();
    await eventually(() => store.call("GET", "user:18")).toBe("imported");
    await page.goto(`${url}/admin/store/#/profiler`);
    await page.getByRole("button", { name: "Start profiler" }).click();
    await page.getByText(/\d commands\/s/).waitFor();
    await page.goto(`${url}/admin/store/#/analysis`);
    const report = await page.getByRole("link", { name: "Markdown" }).getAttribute("href");
    expect(report).toMatch(/^\/admin\/store\/api\/surveys\//);
    expect(offences).toEqual([]);
    await page.close();
    app.closeAllConnections();
    app.close();
    await mounted.close();
    await store.close();
  });
});
