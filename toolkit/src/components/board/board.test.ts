import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { InputError } from "../../base/errors.ts";
import { Board } from "./index.ts";

const titles = (page: { items: readonly { fields: Readonly<Record<string, string>> }[] }) =>
  page.items.map(({ fields }) => fields.title);

describeBackends("voting", { audit: "tags" }, (backend) => {
  test("an article has its fields, its groups and its poster's vote", async () => {
    const news = new Board(backend.store, "news");
    const article = await news.post("ann", { title: "A", __proto__: "own" } as never, { groups: ["b", "a"] });
    expect(article).toMatchObject({ poster: "ann", up: 1, down: 0, groups: ["a", "b"] });
    expect(await news.get(article.id, { viewer: "ann" })).toMatchObject({ ...article, myVote: 1 });
    expect(article.score).toBeCloseTo(article.postedAt.getTime() / 1000 + 432, 2);
  });

  test("a user has one vote, which can be turned and taken back", async () => {
    const news = new Board(backend.store, "news");
    const { id, score } = await news.post("ann", { title: "A" });
    const up = await news.vote(id, "ben", "up");
    expect(up).toMatchObject({ status: "changed", up: 2, down: 0 });
    expect(await news.vote(id, "ben", "up")).toMatchObject({ status: "same", up: 2, down: 0 });
    const down = await news.vote(id, "ben", "down");
    expect(down).toMatchObject({ status: "changed", up: 1, down: 1 });
    if (down.status !== "not-found") expect(down.score).toBeCloseTo(score - 432, 3);
    expect(await news.vote(id, "ben", "none")).toMatchObject({ status: "changed", up: 1, down: 0 });
    expect(await news.vote(id, "ben", "up", { weight: 3 })).toMatchObject({ up: 4 });
    expect(await news.vote("absent", "ben", "up")).toEqual({ status: "not-found" });
    const seenBy = async (viewer: string) => (await news.list({ viewer })).items.map(({ myVote }) => myVote);
    expect([await seenBy("ann"), await seenBy("ben"), await seenBy("eve")]).toEqual([[1], [3], [0]]);
    expect((await news.list()).items.map(({ myVote }) => myVote)).toEqual([0]);
  });

  test("when voting closes, votes are refused and the voters are forgotten", async () => {
    const news = new Board(backend.store, "news", { votingMs: 1 });
    const { id } = await news.post("ann", { title: "A" });
    await expect.poll(async () => (await news.vote(id, "ben", "none")).status).toBe("closed");
    expect((await news.vote(id, "ben", "up")).status).toBe("closed");
    await expect.poll(() => backend.store.call("EXISTS", `voting:{news}:voters:${id}`)).toBe(0);
    expect(await news.get(id, { viewer: "ann" })).toMatchObject({ up: 1, down: 0, myVote: 0 });
  });

  test("pages follow each other by score and by time, without gap or repetition", async () => {
    const news = new Board(backend.store, "news");
    const posted = [];
    for (const title of ["a", "b", "c", "d", "e"]) posted.push(await news.post("ann", { title }));
    await news.vote(posted[1]!.id, "ben", "up");
    await news.vote(posted[3]!.id, "ben", "down");
    const read = async (by: "score" | "time") => {
      const found: (string | undefined)[] = [];
      let after: string | null | undefined;
      do {
        const page = await news.list({ by, limit: 2, ...(after ? { cursor: after } : {}) });
        found.push(...titles(page));
        after = page.cursor;
      } while (after !== null);
      return found;
    };
    expect((await read("score"))[0]).toBe("b");
    expect((await read("score")).at(-1)).toBe("d");
    expect([...(await read("score"))].sort()).toEqual(["a", "b", "c", "d", "e"]);
    expect([...(await read("time"))].sort()).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("a page goes on where it was when its last article has moved", async () => {
    const news = new Board(backend.store, "news");
    const posted = [];
    for (const title of ["a", "b", "c", "d"]) posted.push(await news.post("ann", { title }));
    for (const [at, votes] of [4, 3, 2, 1].entries()) {
      for (let nth = 0; nth < votes; nth++) await news.vote(posted[at]!.id, `user ${nth}`, "up");
    }
    const first = await news.list({ limit: 2 });
    expect(titles(first)).toEqual(["a", "b"]);
    for (let nth = 10; nth < 20; nth++) await news.vote(posted[1]!.id, `user ${nth}`, "up");
    expect(titles(await news.list({ limit: 2, cursor: first.cursor! }))).toEqual(["c", "d"]);
  });

  test("groups have their own order; an article joins and leaves many at once", async () => {
    const news = new Board(backend.store, "news");
    const a = await news.post("ann", { title: "a" }, { groups: ["x", "y"] });
    await news.post("ann", { title: "b" }, { groups: ["y"] });
    expect(titles(await news.list({ group: "x" }))).toEqual(["a"]);
    expect(titles(await news.list({ group: "y", by: "time" })).sort()).toEqual(["a", "b"]);
    expect(await news.regroup(a.id, { add: ["z"], delete: ["x", "y"] })).toBe(true);
    expect(titles(await news.list({ group: "x" }))).toEqual([]);
    expect(titles(await news.list({ group: "y" }))).toEqual(["b"]);
    expect(titles(await news.list({ group: "z" }))).toEqual(["a"]);
    expect(await news.regroup("absent", { add: ["z"] })).toBe(false);
  });

  test("several groups are listed at once: articles in any of them, or in all", async () => {
    const news = new Board(backend.store, "news");
    const inGroups: Record<string, string[]> = {
      a: ["x"],
      b: ["y"],
      c: ["x", "y"],
      d: ["z"],
      e: ["x", "y", "z"],
      f: [],
    };
    for (const [id, groups] of Object.entries(inGroups)) await news.post("ann", { title: id }, { id, groups });
    await news.vote("a", "ben", "up");
    const listed = async (groups: string[], match: "any" | "all", by: "score" | "time" = "time") =>
      titles(await news.list({ groups, match, by })).join("");
    expect(await listed(["x", "y"], "any")).toBe("ecba");
    expect(await listed(["y", "x", "x"], "any", "score")).toBe("aecb");
    expect(await listed(["x", "y"], "all")).toBe("ec");
    expect(await listed(["x", "y", "z"], "all")).toBe("e");
    expect(await listed(["x", "y", "z"], "any")).toBe("edcba");
    expect(await listed(["x", "none"], "all")).toBe("");
    expect(await listed(["x", "none"], "any")).toBe("eca");
    expect(await listed(["x"], "all")).toBe("eca");
    expect(titles(await news.list({ groups: ["y", "z"], by: "time" })).join("")).toBe("edcb");
    // A change of groups and a removal show at once, also in orders that are cached.
    await news.regroup("a", { add: ["y"] });
    await news.regroup("c", { delete: ["y"] });
    expect(await listed(["x", "y"], "all")).toBe("ea");
    await news.delete("e");
    expect(await listed(["x", "y"], "all")).toBe("a");
    expect(await listed(["x", "y"], "any")).toBe("cba");
  });

  test("pages of several groups follow each other, whether their order is kept or not", async () => {
    const news = new Board(backend.store, "news");
    const many = Array.from({ length: 70 }, (_, nth) => `g${nth}`);
    const ids = Array.from({ length: 9 }, (_, nth) => `a${nth}`);
    for (const [nth, id] of ids.entries()) {
      await news.post("ann", { title: id }, { id, groups: ["all", nth % 3 === 0 ? "x" : nth % 3 === 1 ? "y" : "z"] });
    }
    const read = async (groups: string[], match: "any" | "all") => {
      const found: (string | undefined)[] = [];
      let after: string | null | undefined;
      do {
        const page = await news.list({ by: "time", groups, match, limit: 2, ...(after ? { cursor: after } : {}) });
        found.push(...titles(page));
        after = page.cursor;
      } while (after !== null);
      return found.join(" ");
    };
    const kept = [await read(["x", "y"], "any"), await read(["all", "z"], "all")];
    expect(kept).toEqual(["a7 a6 a4 a3 a1 a0", "a8 a5 a2"]);
    for (const group of many) await news.list({ groups: [group, "none"] });
    expect(await backend.store.call("ZCARD", "voting:{news}:orders")).toBe(64);
    expect(await read(["y", "z"], "any")).toBe("a8 a7 a5 a4 a2 a1");
    expect(await read(["all", "y"], "all")).toBe("a7 a4 a1");
    expect(await backend.store.call("ZCARD", "voting:{news}:orders")).toBe(64);
  });

  test("orders of several groups go when their time is over", async () => {
    const news = new Board(backend.store, "news", { groupCacheTtlMs: 1 });
    const { id } = await news.post("ann", { title: "a" }, { groups: ["x", "y"] });
    expect(titles(await news.list({ groups: ["x", "y"], match: "all" }))).toEqual(["a"]);
    const left = async () => (await keysIn(backend.store)).filter((key) => /:orders|:groups:/.test(key));
    await expect.poll(left).toEqual([]);
    await news.post("ann", { title: "b" }, { groups: ["x"] });
    expect(titles(await news.list({ groups: ["x", "y"], by: "time" }))).toEqual(["b", "a"]);
    await news.delete(id);
  });

  test("a removed article is nowhere, and nothing of it is left", async () => {
    const news = new Board(backend.store, "news");
    const { id } = await news.post("ann", { title: "a" }, { groups: ["x"] });
    await news.list({ group: "x" });
    expect(await news.delete(id)).toBe(true);
    expect(await news.delete(id)).toBe(false);
    expect(await news.get(id)).toBeNull();
    expect((await news.list()).items).toEqual([]);
    expect((await news.list({ group: "x" })).items).toEqual([]);
    expect(await keysIn(backend.store)).toEqual([]);
  });

  test("a board is bounded: the oldest articles go", async () => {
    const news = new Board(backend.store, "news", { maxArticles: 3 });
    // Of articles of one millisecond the one with the lower id counts as older.
    for (const title of ["a", "b", "c", "d", "e"]) await news.post("ann", { title }, { id: title, groups: ["x"] });
    expect(await news.count()).toBe(3);
    expect(titles(await news.list({ by: "time" })).sort()).toEqual(["c", "d", "e"]);
    expect(titles(await news.list({ group: "x" })).sort()).toEqual(["c", "d", "e"]);
  });

  test("posting again with the same id changes nothing", async () => {
    const news = new Board(backend.store, "news");
    const first = await news.post("ann", { title: "a" }, { id: "one" });
    await news.vote("one", "ben", "up");
    expect(await news.post("ann", { title: "other" }, { id: "one" })).toMatchObject({ fields: first.fields, up: 2 });
    expect(await news.count()).toBe(1);
  });

  test("boards are apart from each other", async () => {
    const [news, jokes] = [new Board(backend.store, "news"), new Board(backend.store, "jokes")];
    await news.post("ann", { title: "a" });
    expect((await jokes.list()).items).toEqual([]);
  });

  test("wrong input is refused before anything is written", async () => {
    const news = new Board(backend.store, "news");
    await expect(news.post("", { title: "a" })).rejects.toThrow(InputError);
    await expect(news.post("ann", { title: 1 as never })).rejects.toThrow(InputError);
    await expect(news.post("ann", {}, { groups: ["x:score"] })).rejects.toThrow(InputError);
    await expect(news.vote("id", "ann", "sideways" as never)).rejects.toThrow(InputError);
    await expect(news.vote("id", "ann", "up", { weight: 0.5 })).rejects.toThrow(InputError);
    await expect(news.list({ limit: 0 })).rejects.toThrow(InputError);
    await expect(news.list({ cursor: "nonsense" })).rejects.toThrow(InputError);
    await expect(news.list({ groups: [] })).rejects.toThrow(InputError);
    await expect(news.list({ group: "x", groups: ["y"] })).rejects.toThrow("not both");
    await expect(news.list({ match: "all" })).rejects.toThrow(InputError);
    await expect(news.list({ groups: ["x:time"] })).rejects.toThrow(InputError);
    expect(() => new Board(backend.store, "")).toThrow(InputError);
    expect(await news.count()).toBe(0);
  });

  test("votes equal voters, with many votes at the same time", async () => {
    const stores = await Promise.all([backend.open(), backend.open(), backend.open()]);
    const boards = stores.map((store) => new Board(store, "news"));
    const ids = await Promise.all(["a", "b", "c"].map(async (title) => (await boards[0]!.post("ann", { title })).id));
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    const work = Array.from({ length: 600 }, () => {
      const direction = (["up", "down", "none"] as const)[random(3)]!;
      return boards[random(3)]!.vote(ids[random(3)]!, `user ${random(20)}`, direction);
    });
    await Promise.all(work);
    for (const id of ids) {
      const voters = (await backend.store.call("HGETALL", `voting:{news}:voters:${id}`)) as string[];
      const votes = voters.filter((_, at) => at % 2 === 1).map(Number);
      const article = (await boards[1]!.get(id))!;
      expect(article.up).toBe(votes.filter((vote) => vote > 0).length);
      expect(article.down).toBe(votes.filter((vote) => vote < 0).length);
      expect(article.score).toBeCloseTo(article.postedAt.getTime() / 1000 + 432 * (article.up - article.down), 2);
    }
  });
});
