/** The page of all components: what the page shows of each kind that has no page of its own, and what an operator does there. */
import { Ads } from "cinnabar/ads";
import { Barriers } from "cinnabar/barriers";
import { BoundedQueue } from "cinnabar/blocking-queues";
import { Board } from "cinnabar/board";
import { Executor } from "cinnabar/executor";
import { ExpiringSet } from "cinnabar/expiring";
import { LocalMap } from "cinnabar/local-map";
import { Market } from "cinnabar/market";
import { MultiMap } from "cinnabar/multi-map";
import { PackedTable, words } from "cinnabar/packed-table";
import { BloomFilter, CuckooFilter } from "cinnabar/sketches";
import type { Page } from "playwright-core";
import { beforeAll, expect, test, vi } from "vitest";
import { KINDS } from "../src/operate/registry.ts";
import { NARROW, shoot, WIDE } from "./browser.ts";
import { fillKinds, NAMED } from "./kinds.ts";
import { describePages, EVIL, eventually } from "./pages.ts";
import type { Backend, Served } from "./support.ts";
import { violations } from "./violations.ts";

const pathOf = (kind: string, name?: string, prefix?: string) =>
  `components?${new URLSearchParams({ kind, ...(name && prefix && { name, prefix }) })}`;

test("every kind has a page of its own, or is shown by the page of all components", () => {
  const shown = KINDS.filter(({ figures }) => figures !== undefined).map(({ kind }) => kind);
  expect(shown.sort()).toEqual(Object.keys(NAMED).sort());
});

describePages(
  "the page of all components",
  (_name, label, opened) => {
    let backend: Backend;
    let served: Served;
    let page: Page;
    const visit = async (path: string) => {
      await page.goto(`${served.url}/#/${path}`);
      await page.locator("main h1").waitFor();
    };
    const open = (kind: string) => visit(pathOf(kind, ...NAMED[kind]!));
    const row = (text: string) => page.locator("tr", { hasText: text });
    const dialog = () => page.locator("[role=dialog]");
    const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
    /** Fills the fields of an action and does it. */
    async function act(title: string, values: Readonly<Record<string, string>> = {}): Promise<void> {
      for (const [field, value] of Object.entries(values)) await dialog().getByLabel(field).fill(value);
      await dialog().getByRole("button", { name: title, exact: true }).click();
      await dialog().waitFor({ state: "detached" });
    }

    beforeAll(async () => {
      ({ backend, served, page } = opened());
      // Names are announced within a second.
      await vi.waitFor(async () => expect((await served.get("/api/components/executors")).body.items).toHaveLength(1), {
        timeout: 30_000,
      });
    });

    test("leads from kinds to names to each, and none breaks a rule of axe-core", async () => {
      await visit("components");
      await page.getByRole("link", { name: "Bloom filters" }).click();
      await row("seen").getByText("90 % of 100").waitFor();
      await page.getByRole("link", { name: "seen", exact: true }).click();
      await page.getByRole("heading", { name: "seen" }).waitFor();
      for (const [kind, [name]] of Object.entries(NAMED)) {
        await open(kind);
        await page.getByRole("heading", { name, exact: true }).first().waitFor();
        await page.locator(".thing-figures .figure").first().waitFor();
        expect(await violations(page), kind).toEqual([]);
      }
      await shoot(page, `kinds-${label}`);
    });

    test("asks a filter whether it has an item, adds and deletes one", async () => {
      await open("bloom-filters");
      await page.getByRole("searchbox", { name: "Item" }).fill("item 7");
      await press("Look up item");
      await page.getByText("probably added").waitFor();
      await page.getByRole("searchbox", { name: "Item" }).fill(EVIL);
      await press("Look up item");
      await page.getByText("not there", { exact: true }).waitFor();
      await press("Add item to filter…");
      await act("Add item to filter", { Item: EVIL });
      expect(await new BloomFilter(backend.store, "seen", { capacity: 100 }).has(EVIL)).toBe(true);
      await page.getByText("probably added").waitFor();
      await open("cuckoo-filters");
      await press("Delete item from filter…");
      await act("Delete item from filter", { Item: "ann" });
      expect(await new CuckooFilter(backend.store, "online", { capacity: 1_000 }).has("ann")).toBe(false);
    });

    test("shows who waits at a barrier, and sends them away", async () => {
      const barriers = new Barriers(backend.store, { parties: 2 });
      const waiting = barriers.arrive("phase", { id: "shard 1" });
      await open("barriers");
      await row("shard 1").waitFor();
      await press("Reset barrier…");
      await act("Reset barrier");
      expect(await waiting).toEqual({ status: "reset" });
      await row("shard 1").waitFor({ state: "detached" });
    });

    test("opens a latch; the button goes with what it is for", async () => {
      await open("latches");
      await press("Count down latch…");
      await act("Count down latch", { "By how much": "2" });
      await page.locator(".badge", { hasText: "open" }).waitFor();
      await expect.poll(() => page.getByRole("button", { name: "Count down latch…" }).count()).toBe(0);
    });

    test("looks into collections, and changes them", async () => {
      const { store } = backend;
      await open("expiring-sets");
      await page.getByRole("button", { name: "Delete ann" }).click();
      await act("Delete member");
      expect(await new ExpiringSet(store, "typing").has("ann")).toBe(false);
      await page.getByRole("button", { name: "Set expiry ben" }).click();
      await act("Set expiry of member", { "Expires in how many seconds": "7200" });
      const ends = (await new ExpiringSet(store, "typing").get("ben"))?.expiresAt?.getTime() ?? 0;
      expect(ends).toBeGreaterThan(Date.now() + 3_600_000);
      await open("multi-maps");
      await press("Add value to map…");
      await act("Add value to map", { Key: "ben", Value: '"reader"' });
      await page.getByRole("link", { name: "ben", exact: true }).click();
      await page.getByText("Value 1 of 1").waitFor();
      expect(await new MultiMap<string>(store, "roles").get("ben")).toEqual(["reader"]);
      await open("local-maps");
      await press("Set entry of map…");
      await act("Set entry of map", { Key: "beta", Value: "[1]" });
      await row("beta").waitFor();
      const flags = new LocalMap(store, "flags");
      expect(await flags.get("beta")).toEqual([1]);
      await flags.close();
    });

    test("pushes into a bounded queue, takes from it, and says why a value is refused", async () => {
      const queue = new BoundedQueue<unknown>(backend.store, "thumbnails", { capacity: 4 });
      await open("bounded-queues");
      await press("Push value…");
      await dialog().getByLabel("Value, as JSON").fill("{image:3}");
      await dialog().getByRole("button", { name: "Push value" }).click();
      await dialog().getByRole("alert").getByText("the value is not JSON").waitFor();
      await act("Push value", { Value: '{"image":3}' });
      await row('{"image":3}').waitFor();
      await press("Take first value…");
      await act("Take first value");
      expect(await queue.takeMany()).toEqual([{ image: 2 }, { image: 3 }]);
      await press("Delete all values…");
      await act("Delete all values");
      // It is in the list of names no more.
      await page.getByText("Nothing of this kind is in the store.").waitFor();
    });

    test("pauses and runs schedules of an executor, and cancels a run", async () => {
      const executor = new Executor(backend.store, "nightly");
      await open("executors");
      await page.getByRole("button", { name: "Pause clean up" }).click();
      await act("Pause schedule");
      await page.getByRole("button", { name: "Resume clean up" }).waitFor();
      expect((await executor.listSchedules()).items.find(({ name }) => name === "clean up")?.pausedAt).not.toBeNull();
      await page.getByRole("button", { name: "Run now report", exact: true }).click();
      await act("Run schedule now");
      expect((await executor.list("waiting")).items.map(({ task }) => task)).toEqual(["report"]);
      await page.getByRole("button", { name: "Cancel first report" }).click();
      await act("Cancel run");
      await eventually(async () => (await executor.list("delayed")).items.map(({ id }) => id)).not.toContain(
        "first report",
      );
      await page.getByRole("link", { name: "Open its queue" }).click();
      await page.getByRole("heading", { name: "nightly" }).waitFor();
    });

    test("tells of the articles of a board, puts one into a group, and deletes one", async () => {
      const board = new Board(backend.store, "news");
      await board.post("eva", { title: EVIL }, { id: "spam" });
      await open("board");
      await row(EVIL).waitFor();
      const first = row("Queues without a broker");
      for (const text of ["ann", "databases, queues", "open"]) await first.getByText(text, { exact: true }).waitFor();
      await page.getByRole("button", { name: "Group 18", exact: true }).click();
      await act("Add article to group", { Group: "lua" });
      await row("A week of Lua").getByText("databases, lua").waitFor();
      await page.getByRole("button", { name: "Delete spam" }).click();
      await dialog().getByText("This cannot be undone.").waitFor();
      await act("Delete article");
      await row(EVIL).waitFor({ state: "detached" });
      expect(await board.get("spam")).toBeNull();
      await page.getByRole("link", { name: "Queues without a broker" }).click();
      await page.getByText("Field url").waitFor();
      await page.getByText("https://example.com/1").waitFor();
    });

    test("tells who sells what in a market and what they have, and retracts an offer", async () => {
      const market = new Market(backend.store, "fair");
      await open("market");
      await row("sword").getByText("90 000").waitFor();
      await row("ben").getByText("12 345").waitFor();
      await page.getByRole("button", { name: "Retract sword" }).click();
      await act("Retract offer");
      await page.getByText("ann has the item again").waitFor();
      expect((await market.inventory("ann")).sort()).toEqual(["map", "sword"]);
      await page.getByRole("button", { name: "Delete item shield" }).click();
      await act("Delete item");
      expect(await market.ownerOf("shield")).toBeNull();
      await page.getByRole("searchbox", { name: "User or item" }).fill("ann");
      await press("Look up user or item");
      await page.locator("[aria-live] dd", { hasText: "sword" }).waitFor();
    });

    test("tells what ads are paid for, where they are shown and what is left, and pauses one", async () => {
      const ads = new Ads(backend.store, "site", { shards: 2 });
      await open("ads");
      for (const text of ["0.25 for a click", "US, IT; running, trail", "20 in all, 5 a day"])
        await row("shoes").getByText(text).waitFor();
      await row("soap").locator(".badge", { hasText: "out of budget" }).waitFor();
      await page.getByRole("button", { name: "Pause shoes" }).click();
      await act("Pause ad");
      await row("shoes").locator(".badge", { hasText: "paused" }).waitFor();
      await page.getByRole("button", { name: "Resume shoes" }).click();
      await act("Resume ad");
      expect((await ads.get("shoes"))?.state).toBe("on");
      await page.getByRole("link", { name: "shoes", exact: true }).click();
      await page.getByRole("heading", { name: "Days of shoes" }).waitFor();
      await page.getByText("1.3 % of 20").waitFor();
      // The keys of all shards.
      const href = await page.getByRole("link", { name: "Show its keys" }).getAttribute("href");
      const { body } = await served.get(`/api/keys${href!.slice(href!.indexOf("?"))}`);
      const keys = JSON.stringify(body);
      for (const shard of [0, 1]) expect(keys).toContain(`ads:{site/${shard}}:ads`);
    });

    test("shows the schema and the records of a packed table page by page, and deletes one", async () => {
      const table = await PackedTable.open(backend.store, "users", { country: words(["ITA", "USA"]) });
      await open("packed-table");
      await row("word8").getByText("3 words").waitFor();
      await page.getByRole("button", { name: "Delete 3", exact: true }).click();
      await act("Delete record");
      expect(await table.get(3)).toBeNull();
      await press("Show next page");
      await row("70000").getByText("2026-11-15").waitFor();
      // Schema and shards are all there on each page: one list leads back.
      expect(await page.getByRole("button", { name: "Show first page" }).count()).toBe(1);
      await page.getByRole("link", { name: "70000" }).click();
      await page.getByText("TUR").last().waitFor();
      await press("Delete table…");
      await act("Delete table");
      await page.getByText("Nothing of this kind is in the store.").waitFor();
      expect(await backend.store.call("KEYS", "packed:*")).toEqual([]);
    });

    test("draws a time series, and fits on a phone", async () => {
      await open("time-series");
      await page.locator(".chart canvas").waitFor();
      await press("1 day");
      await expect.poll(() => page.getByRole("button", { name: "1 day" }).getAttribute("aria-pressed")).toBe("true");
      await page.setViewportSize(NARROW);
      for (const kind of ["time-series", "executors", "top-k", "board", "market", "ads"]) {
        await open(kind);
        await page.locator(".thing-figures .figure").first().waitFor();
        expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), kind).toBeLessThanOrEqual(0);
      }
      await shoot(page, `kinds-narrow-${label}`);
      await page.setViewportSize(WIDE);
    });

    test("says which one is not there", async () => {
      await visit(pathOf("latches", "nowhere", "latch"));
      await page.getByText("nothing named nowhere with the prefix latch").waitFor();
      const { status, body } = await served.send("POST", "/api/components/latches/one?prefix=latch&name=migrated", {
        action: "explode",
        values: {},
      });
      expect([status, body.detail]).toEqual([400, 'Latches have no action "explode"']);
    });
  },
  { fill: ({ store }) => fillKinds(store) },
);
