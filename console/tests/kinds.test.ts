/** What the console tells of boards, markets, ads and packed tables, and what it does to them, by its routes. */
import { Ads } from "cinnabar/ads";
import { Board } from "cinnabar/board";
import { Market } from "cinnabar/market";
import { PackedTable, words } from "cinnabar/packed-table";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { full } from "../../scripts/full.ts";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { fillKinds, NAMED } from "./kinds.ts";
import { type Backend, backends, type Served, serve } from "./support.ts";

type Cells = readonly unknown[];
interface Told {
  readonly title: string;
  readonly value: unknown;
}
interface Shown {
  readonly title: string;
  readonly columns: readonly { readonly title: string }[];
  readonly rows: readonly { readonly id: string; readonly cells: Cells }[];
  readonly cursor: string | null;
}

const pathOf = (kind: string, name = NAMED[kind]![0], prefix = NAMED[kind]![1]): string =>
  `/api/components/${kind}/one?${new URLSearchParams({ name, prefix })}`;
const figuresIn = (figures: readonly Told[]) => Object.fromEntries(figures.map(({ title, value }) => [title, value]));

describe.each(backends(full && installed("redis-server") ? startRedis : undefined))("on %s", (_name, start) => {
  let backend: Backend;
  let served: Served;
  beforeAll(async () => {
    backend = await start();
    await fillKinds(backend.store);
    served = await serve(backend.store);
    for (const kind of Object.keys(NAMED)) await listed(pathOf(kind));
  });
  afterAll(async () => {
    await served?.console.close();
    await backend?.stop();
  });

  /** Names are announced within a second. */
  const listed = (path: string) =>
    vi.waitFor(async () => expect((await served.get(path)).status).toBe(200), { timeout: 30_000 });
  const look = async (kind: string, more: Readonly<Record<string, string>> = {}) => {
    const { status, body } = await served.get(`${pathOf(kind)}&${new URLSearchParams(more)}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return {
      figures: figuresIn(body.figures),
      answer: body.answer === null ? null : figuresIn(body.answer),
      list: (nth = 0) => (body.lists as readonly Shown[])[nth]!,
    };
  };
  const act = (kind: string, action: string, row = "", values: Readonly<Record<string, string>> = {}) =>
    served.send("POST", pathOf(kind), { action, row, values });
  const told = async (kind: string, action: string, row = "", values = {}): Promise<string> => {
    const { status, body } = await act(kind, action, row, values);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.said;
  };

  test("a board has its articles by score with votes, and the groups that they are in", async () => {
    const { figures, list } = await look("board");
    expect(figures).toMatchObject({ Articles: 2, "Open for votes": 2 });
    const titles = list().columns.map(({ title }) => title);
    const of = (nth: number, title: string) => list().rows[nth]!.cells[titles.indexOf(title)];
    expect(list().rows.map(({ id }) => id)).toEqual(["17", "18"]);
    const first = ["Article", "Poster", "Up", "Down", "Voting", "Groups"].map((title) => of(0, title));
    expect(first).toEqual(["Queues without a broker", "ann", 4, 0, "open", "databases, queues"]);
    expect([of(1, "Up"), of(1, "Down")]).toEqual([1, 1]);
    expect(list(1).rows.map(({ cells }) => cells)).toEqual([
      ["databases", 2, 2],
      ["queues", 1, 1],
    ]);
    const { answer } = await look("board", { item: "17" });
    expect(answer).toMatchObject({ Voting: "open", Up: 4, Poster: "ann", "Field url": "https://example.com/1" });
    for (const item of ["nothing", "x".repeat(300)]) {
      expect((await look("board", { item })).answer).toEqual({ Answer: "not there" });
    }
  });

  test("voting that is over is closed", async () => {
    const { store } = backend;
    const old = new Board(store, "old", { votingMs: 1 });
    await old.post("ann", { title: "Yesterday" });
    await listed(pathOf("board", "old"));
    const seen = async () => (await served.get(pathOf("board", "old"))).body;
    // The millisecond that it is open for may not be over yet.
    await expect.poll(async () => (await seen()).lists[0].rows[0].cells).toContain("closed");
    expect(figuresIn((await seen()).figures)).toMatchObject({ Articles: 1, "Open for votes": 0 });
  });

  test("a board goes page by page, and what is shown does not order a group", async () => {
    const { store } = backend;
    const long = new Board(store, "long");
    for (let nth = 0; nth < 60; nth++) await long.post("ann", { text: `text ${nth}` }, { groups: ["all"] });
    await listed(pathOf("board", "long"));
    const [first] = (await served.get(pathOf("board", "long"))).body.lists;
    const next = `${pathOf("board", "long")}&after=${encodeURIComponent(first.cursor)}`;
    const [second] = (await served.get(next)).body.lists;
    const ids = [...first.rows, ...second.rows].map(({ id }: { id: string }) => id);
    expect([first.rows.length, new Set(ids).size, second.cursor]).toEqual([50, 60, null]);
    expect(await store.call("EXISTS", "voting:{long}:group:all:score")).toBe(0);
  });

  test("an article is put into a group, taken out of it, and deleted", async () => {
    const board = new Board(backend.store, "news");
    const { id } = await board.post("eva", { title: "Spam" });
    expect(await told("board", "addGroup", id, { group: "spam" })).toBe(`The article ${id} is in the group spam.`);
    expect((await board.get(id))?.groups).toEqual(["spam"]);
    await told("board", "deleteGroup", id, { group: "spam" });
    expect((await board.get(id))?.groups).toEqual([]);
    await told("board", "delete", id);
    expect(await board.get(id)).toBeNull();
    for (const action of ["delete", "addGroup"]) {
      expect((await act("board", action, id, { group: "a" })).status, action).toBe(409);
    }
  });

  test("a market has its offers with sellers and prices, and tells what users have", async () => {
    const { figures, list } = await look("market");
    expect(figures).toEqual({ "Items offered": 3, Items: 4, "Lowest price": 700, "Highest price": 90_000 });
    expect(list().rows.map(({ cells }) => cells)).toEqual([
      ["lamp", "ben", 700],
      ["shield", "ann", 45_000],
      ["sword", "ann", 90_000],
    ]);
    expect(list(1).rows.map(({ cells }) => cells)).toEqual([
      ["ann", 2, 1, 0],
      ["ben", 1, 0, 12_345],
    ]);
    expect((await look("market", { item: "ben" })).answer).toMatchObject({ "Funds of the user": 12_345 });
    expect((await look("market", { item: "ann" })).answer).toMatchObject({ "Items not offered": 1, "Item 1": "map" });
    const item = (await look("market", { item: "sword" })).answer;
    expect(item).toEqual({ "Owner of the item": "ann", "Price of the item": 90_000 });
    expect((await look("market", { item: "map" })).answer).toMatchObject({ Offer: "not offered" });
    expect((await look("market", { item: "nobody" })).answer).toEqual({ Answer: "not there" });
  });

  test("an offer is retracted, and an item deleted", async () => {
    const market = new Market(backend.store, "fair");
    for (const item of ["cup", "knife"]) {
      await market.mint("dee", item);
      await market.offer("dee", item, 5);
    }
    expect(await told("market", "retract", "cup")).toBe("The offer of cup was retracted: dee has the item again.");
    expect(await market.inventory("dee")).toEqual(["cup"]);
    expect((await act("market", "retract", "cup")).status).toBe(409);
    await told("market", "delete", "knife");
    expect([await market.ownerOf("knife"), await market.inventory("dee")]).toEqual([null, ["cup"]]);
    expect((await act("market", "delete", "knife")).status).toBe(409);
    await market.delete("dee", "cup");
  });

  test("a market that is kept by locks is changed under them", async () => {
    const { store } = backend;
    const market = new Market(store, "locked", { way: "lock" });
    await market.mint("ann", "vase");
    await market.offer("ann", "vase", 5);
    const path = pathOf("market", "locked");
    await listed(path);
    const fence = async () => Number(await store.call("GET", "market:{locked}:fence:item:vase"));
    const before = await fence();
    await served.send("POST", path, { action: "retract", row: "vase", values: {} });
    expect(await market.inventory("ann")).toEqual(["vase"]);
    expect(await fence()).toBeGreaterThan(before);
  });

  test("ads have their price, target, counts, budget and state, over all shards", async () => {
    const { figures, list } = await look("ads");
    expect(figures).toMatchObject({ Ads: 3, "Cannot be paid for now": 1 });
    const titles = list().columns.map(({ title }) => title);
    const of = (id: string, ...wanted: string[]) => {
      const { cells } = list().rows.find((row) => row.id === id)!;
      return wanted.map((title) => cells[titles.indexOf(title)]);
    };
    const shoes = of("shoes", "State", "Bid", "Shown on", "Views", "Clicks", "Actions", "Spent", "Budget");
    expect(shoes).toEqual(["on", "0.25 for a click", "US, IT; running, trail", 1, 1, 0, 0.25, "20 in all, 5 a day"]);
    expect(of("soap", "State", "Spent")).toEqual(["out of budget", 0.0001]);
    expect(of("trips", "State", "Bid", "Budget")).toEqual(["paused", "4 for an action", null]);
    const asked = await look("ads", { item: "shoes" });
    expect(asked.answer).toMatchObject({ State: "on", Bid: 0.25, Spent: 0.25, Locations: "US, IT" });
    const [today] = asked.list().rows;
    expect([asked.list().title, today!.cells.slice(1, 4)]).toEqual(["Days of shoes", [1, 1, 1]]);
    expect((await look("ads", { item: "none" })).answer).toEqual({ Answer: "not there" });
  });

  test("an ad is paused, resumed and deleted, and impressions whose time is over are ended", async () => {
    const ads = new Ads(backend.store, "site", { shards: 2, viewWindowMs: 1 });
    await ads.set("books", { model: "cpc", bidMicros: 1_000 });
    await told("ads", "pause", "books");
    expect((await ads.get("books"))?.state).toBe("paused");
    await told("ads", "resume", "books");
    expect((await ads.get("books"))?.state).toBe("on");
    await ads.target({ exclude: ["shoes", "soap"] });
    await expect.poll(() => told("ads", "sweep")).toMatch(/^1 impression was ended/);
    await told("ads", "delete", "books");
    expect(await ads.get("books")).toBeNull();
    for (const action of ["pause", "resume", "delete"]) {
      expect((await act("ads", action, "books")).status, action).toBe(409);
    }
  });

  test("a packed table has its schema, its size and its records, page by page over its shards", async () => {
    const { figures, list } = await look("packed-table");
    expect(figures).toMatchObject({ Records: 61, Columns: 4, "Width of a record": 5, Shards: 2 });
    expect(figures.Size).toBeGreaterThan(0);
    expect(list().rows.map(({ cells }) => cells)).toEqual([
      ["country", "word8", 1, "3 words", 1],
      ["age", "uint8", 1, null, 1],
      ["joined", "day", 2, null, 2],
      ["may", "flags", 1, "read, write", 2],
    ]);
    const records = list(1);
    expect(records.rows.map(({ id }) => Number(id))).toEqual(Array.from({ length: 50 }, (_, at) => at * 3));
    expect(records.rows[1]!.cells).toEqual(["3", "ITA", 21, "1970-01-01", null]);
    const rest = (await look("packed-table", { after: records.cursor! })).list(1);
    expect([rest.rows.length, rest.cursor]).toEqual([11, null]);
    expect(rest.rows.at(-1)!.cells).toEqual(["70000", "TUR", 41, "2026-11-15", "read, write"]);
    expect(list(2).rows.map(({ cells }) => cells.slice(0, 2))).toEqual([
      [0, 60],
      [65_536, 1],
    ]);
    const { answer } = await look("packed-table", { item: "70000" });
    expect(answer).toEqual({ country: "TUR", age: 41, joined: "2026-11-15", may: "read, write" });
    for (const item of ["1", "no number", "99999999999999"]) {
      expect((await look("packed-table", { item })).answer, item).toEqual({ Answer: "not there" });
    }
  });

  test("a record is deleted, and a table, which is not made again by looking", async () => {
    const { store } = backend;
    const table = await PackedTable.open(store, "gone", { country: words() });
    await table.setMany([
      [1, { country: "ITA" }],
      [2, { country: "USA" }],
    ]);
    const path = pathOf("packed-table", "gone");
    const send = (action: string, row = "") => served.send("POST", path, { action, row, values: {} });
    await listed(path);
    expect((await send("delete", "1")).status).toBe(200);
    expect(await table.getMany([1, 2])).toEqual([null, { country: "USA" }]);
    for (const row of ["1", "none"]) expect((await send("delete", row)).status, row).toBe(409);
    expect((await send("deleteTable")).body).toEqual({ said: "The table gone was deleted." });
    expect((await served.get(path)).status).toBe(404);
    expect(await store.call("KEYS", "packed:{gone*")).toEqual([]);
    // Others that know it by its name find what is left: nothing.
    await store.call("ZADD", "cinnabar:names:packed-table", 1, JSON.stringify(["packed", "gone"]));
    const { figures, lists } = (await served.get(path)).body;
    expect([figuresIn(figures), lists]).toEqual([{ State: "deleted" }, []]);
    expect((await send("delete", "2")).status).toBe(409);
    expect(await store.call("KEYS", "packed:{gone*")).toEqual([]);
  });

  test("one that an older process announced without what it takes to open it says so", async () => {
    await backend.store.call("ZADD", "cinnabar:names:ads", 1, JSON.stringify(["ads", "older"]));
    const { status, body } = await served.get(pathOf("ads", "older"));
    expect([status, body.detail]).toEqual([409, expect.stringContaining('with which "shards" this was opened')]);
  });

  test("the audit log names the row that something was done to; a read-only console does nothing", async () => {
    const board = new Board(backend.store, "news");
    const { id } = await board.post("eva", { title: "Kept" });
    const reading = await serve(backend.store, { readOnly: true });
    const body = { action: "delete", row: id, values: {} };
    const refused = await reading.send("POST", pathOf("board"), body);
    expect([refused.status, refused.body.code]).toEqual([403, "READ_ONLY"]);
    expect((await reading.get(pathOf("board"))).status).toBe(200);
    await reading.console.close();
    expect(await board.get(id)).not.toBeNull();
    await told("board", "delete", id);
    await told("ads", "sweep");
    const targets = async () =>
      (await served.get("/api/audit")).body.entries.map(({ target }: { target: string }) => target);
    await expect
      .poll(targets)
      .toEqual(
        expect.arrayContaining([
          expect.stringMatching(new RegExp(`^kind=board .*name=news .*action=delete row=${id}$`)),
          expect.stringMatching(/^kind=ads .*name=site .*action=sweep$/),
        ]),
      );
  });
});
