/** The keys page and the analysis in a browser: what people do there all day. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Store } from "cinnabar";
import { afterAll, beforeEach, expect, test } from "vitest";
import { NARROW, shoot, WIDE } from "./browser.ts";
import { describePages, EVIL, eventually } from "./pages.ts";
import { temporaryFolder } from "./support.ts";

const MANY = 1_500;

async function fill(store: Store): Promise<void> {
  await store.call("FLUSHALL");
  const visits = Array.from({ length: MANY }, (_, nth) => ["SET", `visit:${nth % 3}:${nth}`, "x", "EX", 5_000]);
  await store.pipeline(visits);
  for (let nth = 0; nth < 20; nth++) await store.call("SET", `user/${nth}/name`, `person ${nth}`);
  await store.call("SET", "large", "y".repeat(20_000));
  await store.call("SET", EVIL, EVIL);
}

const folder = temporaryFolder();
afterAll(() => folder.remove());

describePages("keys", (_name, label, opened) => {
  const call = (...words: (string | number | Buffer)[]) => opened().backend.store.call(...words);
  const visit = async (path: string) => {
    const { page, served } = opened();
    // Another address each time, so that nothing of the last test is left.
    await page.goto(`${served.url}/?${Math.random()}#/${path}`);
    await page.locator("main h1").waitFor({ state: "attached" });
  };
  const row = (text: string) => opened().page.locator(".key-row", { hasText: text });
  const hash = () => decodeURIComponent(new URL(opened().page.url()).hash);

  beforeEach(async () => {
    await fill(opened().backend.store);
  });

  test("the tree has true counts and memory, by any separator, of keys that are not loaded too", async () => {
    const { page } = opened();
    await visit("keys");
    await page.getByText(`${MANY + 22} keys,`).waitFor();
    await row("visit:").getByText(String(MANY)).waitFor();
    await page.getByRole("button", { name: /^visit:/ }).click();
    await row("1:")
      .getByText(String(MANY / 3))
      .waitFor();
    await shoot(page, `${label}-keys-tree`);
    // Keys that no page has brought yet come with their folder.
    await page.getByRole("button", { name: /^2:/ }).click();
    const more = page.getByRole("button", { name: /Load keys of visit:2: / });
    if ((await more.count()) > 0) await more.click();
    await eventually(() => more.count()).toBe(0);
    await page.getByRole("button", { name: "More filters" }).click();
    await page.getByLabel("Separator").fill("/");
    await page.getByRole("button", { name: /^user\// }).waitFor();
    await eventually(hash).toContain("sep=/");
    await page.reload();
    await page.getByRole("button", { name: /^user\// }).waitFor();
  });

  test("keys are found by time to live and size, and the address has the search", async () => {
    const { page } = opened();
    await visit("keys?filters=open");
    await page.getByLabel("Size from").fill("10KB");
    await page.getByText("1 key fits").waitFor();
    await row("large").waitFor();
    expect(await page.locator(".key").count()).toBe(1);
    await page.getByLabel("Size from").fill("nonsense");
    await page.getByText("is no size").waitFor();
    await page.getByLabel("Size from").fill("");
    await page.getByLabel("Expiry").selectOption("none");
    await page.getByText("22 keys fit").waitFor();
    await eventually(hash).toContain("ttl=none");
    await page.reload();
    await page.getByText("22 keys fit").waitFor();
    await page.getByLabel("Time to live from").fill("2d");
    await page.getByText("No key fits.").waitFor();
  });

  test("many keys are selected, given a time to live and deleted, after a question with their number", async () => {
    const { page } = opened();
    await visit("keys?match=user/*&view=list");
    await page.getByRole("button", { name: "Select", exact: true }).click();
    await page.getByLabel("Select user/3/name").check();
    await page.getByLabel("Select user/4/name").check();
    await page.getByRole("button", { name: "Expire …" }).click();
    await page.getByLabel("Time to live").fill("2h");
    await page.getByRole("button", { name: "Expire 2 keys" }).click();
    await page.getByText("Set the time to live of 2 keys.").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    expect(Number(await call("TTL", "user/3/name"))).toBeGreaterThan(7_000);
    expect(await call("TTL", "user/5/name")).toBe(-1);
    await page.getByRole("button", { name: "Select all that match" }).click();
    await page.getByRole("button", { name: "Delete …" }).click();
    await page.getByRole("button", { name: "Delete 20 keys" }).click();
    await page.getByText("Deleted 20 keys.").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByText("No key fits.").waitFor();
    expect(await call("DBSIZE")).toBe(MANY + 2);
  });

  test("keys are renamed by a pattern, with conflicts shown before", async () => {
    const { page } = opened();
    await call("SET", "member/7", "taken");
    await visit("keys?match=user/*&select=all&dialog=rename");
    await page.getByLabel("Pattern", { exact: true }).fill("user/*/name");
    await page.getByLabel("New name").fill("member/*");
    await page.getByText("1 conflict").waitFor();
    await page.locator("[role=dialog] tr", { hasText: "user/7/name" }).getByText("taken").waitFor();
    await shoot(page, `${label}-keys-rename`);
    await page.getByRole("button", { name: "Rename 19 keys" }).click();
    await page.getByText("Renamed 19 keys. 1 skipped").waitFor();
    expect(await call("GET", "member/7")).toBe("taken");
    expect(await call("GET", "member/8")).toBe("person 8");
  });

  test("keys go into a file and come back from it", async () => {
    const { page } = opened();
    await visit("keys?match=user/*&dialog=export");
    await page.getByLabel("Format").selectOption("csv");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download file" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("keys.csv");
    const path = join(folder.path, `${label}.csv`);
    await download.saveAs(path);
    expect(readFileSync(path, "utf8").trim().split("\r\n")).toHaveLength(21);
    await page.getByText("Exported 20 keys").waitFor();
    await call("FLUSHALL");
    await visit("keys?dialog=import");
    await page.locator("input[type=file]").setInputFiles(path);
    await page.getByRole("button", { name: "Import file" }).click();
    await page.getByText("Imported 20 keys.").waitFor();
    expect(await call("GET", "user/7/name")).toBe("person 7");
  });

  test("a value is shown as what it is, without losing a digit, and as what the reader chooses", async () => {
    const { page } = opened();
    await call("SET", "json", gzipSync('{"2":12345678901234567890,"1":1.10,"deep":{"list":[1,2,3]}}'));
    await visit("keys?key=json");
    await page.locator(".json-number", { hasText: "12345678901234567890" }).waitFor();
    await page.locator(".json-number", { hasText: "1.10" }).waitFor();
    expect(await page.locator(".json > li > ul > li > .json-name").allTextContents()).toEqual(["2", "1"]);
    await page.getByRole("option", { name: "Automatic: gzip → JSON" }).waitFor({ state: "attached" });
    await page.getByLabel("Format").selectOption("hex");
    await page.locator("pre.hex", { hasText: "1f 8b" }).waitFor();
    await eventually(hash).toContain("as=hex");
    await page.reload();
    await page.locator("pre.hex").waitFor();
    await page.getByLabel("Format").selectOption("");
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByText("Stored compressed (gzip).").waitFor();
    await page.getByRole("textbox", { name: "Value" }).fill('{"new":98765432109876543210}');
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".json-number", { hasText: "98765432109876543210" }).waitFor();
    const stored = (await opened().backend.store.send(["GET", "json"], { buffers: true })) as Buffer;
    expect(stored.subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
  });

  test("bytes survive editing", async () => {
    const { page } = opened();
    await call("HSET", "bytes", "f", Buffer.from([0xff, 0x0d, 0x0a, 0x00]));
    await visit("keys?key=bytes");
    await page.getByRole("button", { name: "Edit" }).click();
    const field = page.getByRole("textbox", { name: "Value" });
    expect(await field.inputValue()).toBe("ff0d0a00");
    await field.fill("ff0d0a00 01");
    await page.getByRole("button", { name: "Save" }).click();
    await eventually(() => opened().backend.store.send(["HGET", "bytes", "f"], { buffers: true })).toEqual(
      Buffer.from([0xff, 0x0d, 0x0a, 0x00, 0x01]),
    );
    await page.getByRole("button", { name: "View" }).click();
    await page.locator("[role=dialog] pre.hex", { hasText: "ff 0d 0a 00 01" }).waitFor();
    await eventually(hash).toContain("element=field:f");
  });

  test("a list is searched, and takes an item anywhere", async () => {
    const { page } = opened();
    for (let nth = 0; nth < 300; nth++) await call("RPUSH", "list", `item ${nth}`);
    await visit("keys?key=list");
    await page.getByLabel("Search elements").fill("item 222");
    await page.getByRole("cell", { name: "item 222" }).waitFor();
    await eventually(() => page.locator("table[aria-label=Value] tbody tr").count()).toBe(1);
    await page.getByRole("button", { name: "Insert before" }).click();
    await page.getByRole("textbox", { name: "Value" }).fill("between");
    await page.getByRole("button", { name: "Save" }).click();
    await eventually(() => call("LRANGE", "list", 221, 223)).toEqual(["item 221", "between", "item 222"]);
    await page.getByLabel("Search elements").fill("nowhere");
    await page.getByText("No element fits.").waitFor();
  });

  test("ids of streams and fields of hashes stand in one line", async () => {
    const { page } = opened();
    await call("XADD", "stream", "1700000000000-0", "a field", "y".repeat(300));
    await call("HSET", "hash", "a:field:with-a-longer-name", "y".repeat(300));
    for (const viewport of [WIDE, NARROW]) {
      await page.setViewportSize(viewport);
      for (const [key, text] of [
        ["stream", "1700000000000-0"],
        ["hash", "a:field:with-a-longer-name"],
      ] as const) {
        await visit(`keys?key=${key}`);
        const cell = page.locator("table[aria-label=Value] td", { hasText: text }).locator("span").first();
        await cell.waitFor();
        const lines = await cell.evaluate("(element) => element.getClientRects().length", undefined);
        const { height, width } = (await cell.boundingBox())!;
        expect(width, `${key} at ${viewport.width}`).toBeGreaterThan(height);
        expect(height, `${key} at ${viewport.width}: ${lines} lines`).toBeLessThan(viewport === WIDE ? 30 : 60);
      }
    }
    await page.setViewportSize(WIDE);
  });

  test("what is loaded of a list stays when one of its items is edited", async () => {
    const { page } = opened();
    await opened().backend.store.pipeline(Array.from({ length: 350 }, (_, nth) => ["RPUSH", "list", `item ${nth}`]));
    await visit("keys?key=list");
    const rows = page.locator("table[aria-label=Value] tbody tr");
    await page.getByRole("button", { name: "More (100 of 350)" }).click();
    await page.getByRole("button", { name: "More (200 of 350)" }).click();
    await eventually(() => rows.count()).toBe(300);
    await rows.nth(250).getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Value" }).fill("changed");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("cell", { name: "changed", exact: true }).waitFor();
    expect(await rows.count()).toBe(300);
  });

  test("entries of a stream are claimed and acknowledged", async () => {
    const { page } = opened();
    for (let nth = 1; nth <= 3; nth++) await call("XADD", "stream", `${nth}-0`, "n", nth);
    await call("XGROUP", "CREATE", "stream", "mailers", "0");
    await call("XREADGROUP", "GROUP", "mailers", "one", "COUNT", 2, "STREAMS", "stream", ">");
    await visit("keys?key=stream");
    await page.getByText("1 not yet delivered, 2 not acknowledged").click();
    const pending = page.locator("table[aria-label='Not acknowledged in mailers']");
    await pending.locator("tr", { hasText: "1-0" }).getByRole("button", { name: "Claim" }).click();
    await page.locator("[role=dialog] input[name=name]").fill("two");
    await page.getByRole("button", { name: "Claim entries" }).click();
    await pending.locator("tr", { hasText: "1-0" }).getByText("two").waitFor();
    await pending.locator("tr", { hasText: "2-0" }).getByRole("button", { name: "Acknowledge" }).click();
    await eventually(() => pending.locator("tbody tr").count()).toBe(1);
    // The chart of the lag goes on with each look.
    const chart = page.getByRole("img", { name: /^Lag:/ });
    const points = async () => (await chart.locator("polyline").getAttribute("points"))!.split(" ").length;
    await eventually(points).toBeGreaterThan(1);
    for (let nth = 4; nth <= 9; nth++) await call("XADD", "stream", `${nth}-0`, "n", nth);
    await page.getByRole("img", { name: "Lag: 7 entries, at most 7" }).waitFor();
    await shoot(page, `${label}-stream-groups`);
  });

  test("a time to live counts down in the list and beside it", async () => {
    const { page } = opened();
    await call("SET", "short", "x", "EX", 100);
    await visit("keys?match=short&key=short");
    const left = row("short").locator(".dim").first();
    const first = Number.parseInt((await left.textContent())!, 10);
    expect(first).toBeLessThanOrEqual(100);
    await eventually(async () => Number.parseInt((await left.textContent())!, 10)).toBeLessThan(first);
    await page.getByText(/^\d+ s to live$/).waitFor();
  });

  test("the analysis says what takes the memory, gives advice, and is exported", async () => {
    const { page } = opened();
    await call("SET", "huge", "z".repeat(2_000_000));
    await visit("analysis");
    await page.getByRole("button", { name: "Scan again" }).click();
    await page.getByText('"huge" takes').waitFor();
    await page.locator("table[aria-label=Prefix]").getByText("visit:", { exact: true }).waitFor();
    await page.locator("table[aria-label=Range]").getByText("does not expire").waitFor();
    await page.getByText("This server does not count how often keys are used.").waitFor();
    await shoot(page, `${label}-analysis`);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Markdown" }).click(),
    ]);
    const path = join(folder.path, `${label}.md`);
    await download.saveAs(path);
    expect(readFileSync(path, "utf8")).toContain("# Analysis of keys");
    await page.getByLabel("Pattern of keys").fill("user/*");
    await eventually(hash).toContain("match=user/*");
    await page.locator(".scan-bar", { hasText: "20 keys," }).waitFor();
    await page.getByLabel("Separator").fill("/");
    await page.getByRole("link", { name: "user/", exact: true }).click();
    await page.locator("h1", { hasText: "Keys" }).waitFor();
  });

  test("nothing is wider than a telephone", async () => {
    const { page } = opened();
    await page.setViewportSize(NARROW);
    for (const path of ["keys?filters=open&select=on", "keys?key=large", "keys?select=all&dialog=rename", "analysis"]) {
      await visit(path);
      await page.locator(".loading").first().waitFor({ state: "detached" });
      expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(NARROW.width);
    }
    await page.setViewportSize(WIDE);
  });
});
