/** The social network's contract: users, statuses, follows, the stream. Each test waits until the queue is empty, never for time to pass. */
import { describe, expect, test } from "vitest";
import { beforeScript } from "../../../tests/kit/before-script.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { allKeys, quiet, socialSuite, texts } from "../../../tests/kit/social.ts";
import { InputError } from "../../base/errors.ts";
import type { Store } from "../../connection/store.ts";
import { addJobs } from "../queues/scripts/add.ts";
import type { StatusEvent } from "../streaming/events.ts";
import { Social } from "./index.ts";

describeBackends("social", { audit: "tags" }, (backend) => {
  const { network, people, warm } = socialSuite(backend);

  describe("users", () => {
    test("have logins that are unique whatever the case and the form of the letters", async () => {
      const social = network();
      expect(await social.users.join("Straße")).toMatchObject({ status: "joined", user: { login: "Straße" } });
      expect(await social.users.join("STRASSE")).toEqual({ status: "taken" });
      expect(await social.users.join("ΣΊΣΥΦΟΣ")).toMatchObject({ status: "joined" });
      expect(await social.users.join("σίσυφος")).toEqual({ status: "taken" });
      expect(await social.users.join("Ａｄａ")).toMatchObject({ status: "joined" });
      expect((await social.users.getByLogin("aDA"))?.login).toBe("Ａｄａ");
      expect(await social.users.getByLogin("nobody")).toBeNull();
      await expect(social.users.join("a b")).rejects.toThrow(InputError);
      await expect(social.users.join("a\u200db")).rejects.toThrow(InputError);
      await expect(social.users.join("")).rejects.toThrow(InputError);
    });

    test("one of many who want a login at once gets it", async () => {
      const social = network();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, at) => social.users.join(at % 2 ? "Eve" : "eve")),
      );
      expect(outcomes.filter(({ status: outcome }) => outcome === "joined")).toHaveLength(1);
      expect(await social.users.getByLogin("EVE")).not.toBeNull();
    });

    test("may be made twice under one id, and are one", async () => {
      const social = network();
      const first = await social.users.join("ann", { id: "u1", name: "Ann" });
      expect(await social.users.join("ann", { id: "u1", name: "Ann" })).toEqual(first);
      expect(await social.users.join("other", { id: "u1" })).toEqual({ status: "exists" });
    });

    test("change their login and name, and the old login is free", async () => {
      const social = network();
      const [ann] = await people(social, "ann", "ben");
      expect(await social.users.rename(ann!, "BEN")).toEqual({ status: "taken" });
      expect(await social.users.rename(ann!, "anna")).toEqual({ status: "renamed" });
      expect(await social.users.rename(ann!, "ANNA")).toEqual({ status: "renamed" });
      expect(await social.users.setName(ann!, "Anna A.")).toBe(true);
      expect(await social.users.getByLogin("anna")).toMatchObject({ id: "ann", login: "ANNA", name: "Anna A." });
      expect(await social.users.getByLogin("ann")).toBeNull();
      expect((await social.users.join("ann", { id: "u2" })).status).toBe("joined");
      expect(await social.users.rename("nobody", "x")).toEqual({ status: "not-found" });
      expect(await social.users.setName("nobody", "x")).toBe(false);
    });

    test("a login that a dead process was about to take is another's, or its owner's, never both", async () => {
      const social = network();
      const { store } = backend;
      const [ann] = await people(social, "ann");
      // Died before its record took the login: the wish is there, so it counts.
      await store.call("HSET", "social:{ann}:user", "want", "anna", "wantKey", "anna", "wantNonce", "n1");
      await store.call("SET", "social:{@anna}:login", "ann n1");
      expect(await social.users.join("Anna")).toEqual({ status: "taken" });
      expect(await social.users.getByLogin("anna")).toMatchObject({ id: ann! });
      expect(await social.users.getByLogin("ann")).toBeNull();
      // Died before its user was there at all: nobody's.
      await store.call("SET", "social:{@ghost}:login", "nobody n2");
      expect(await social.users.getByLogin("ghost")).toBeNull();
      expect((await social.users.join("Ghost")).status).toBe("joined");
    });

    test("who are removed leave nothing but the note that they are gone", async () => {
      const social = network({ timelineSize: 20 });
      const [ann, ben, cat] = (await people(social, "ann", "ben", "cat")) as [string, string, string];
      await social.follows.follow(ben, ann);
      await social.follows.follow(ann, cat);
      const created = await social.lists.create(ben, "friends", { id: "+friends" });
      expect(created).toMatchObject({ status: "created", list: { id: "+friends", owner: "ben", members: 0 } });
      await social.lists.addMember("+friends", ann);
      await social.lists.create(ann, "own", { id: "+own" });
      await social.lists.addMember("+own", cat);
      await warm(social, ben, "+friends");
      const id = (await social.statuses.post(ann, "soon gone"))!;
      await social.statuses.repost(cat, id);
      await quiet(social);
      expect(texts(await social.timelines.home(ben))).toEqual(["soon gone"]);
      expect(await social.users.delete(ann)).toBe(true);
      expect(await social.users.delete(ann)).toBe(false);
      expect(await social.users.get(ann)).toBeNull();
      expect(await social.statuses.get(id)).toBeNull();
      expect(texts(await social.timelines.home(ben))).toEqual([]);
      expect(await social.statuses.post(ann, "again")).toBeNull();
      expect(await social.follows.follow(cat, ann)).toEqual({ status: "not-found" });
      expect(await social.follows.follow(ann, ben)).toEqual({ status: "not-found" });
      expect((await social.users.join("ann", { id: ann })).status).toBe("exists");
      await quiet(social);
      expect(await social.follows.counts(cat)).toEqual({ followers: 0, following: 0, statuses: 0 });
      expect(await social.follows.counts(ben)).toEqual({ followers: 0, following: 0, statuses: 0 });
      const left = (await allKeys(backend.store)).filter((key) => /\{(ann|\+own)\}/.test(key) && !key.includes(":r:"));
      expect(left.sort()).toEqual(["social:{+own}:graph", "social:{ann}:graph", "social:{ann}:posts"]);
      expect((await social.users.join("ann", { id: "ann2" })).status).toBe("joined");
    });
  });

  describe("statuses", () => {
    test("are posted once for each id, in the order of their ids", async () => {
      const social = network();
      const [ann] = (await people(social, "ann")) as [string];
      const first = await social.statuses.post(ann, "one", { id: "request 1" });
      const second = await social.statuses.post(ann, "two");
      expect(await social.statuses.post(ann, "one", { id: "request 1" })).toBe(first);
      expect(first! < second!).toBe(true);
      const page = await social.timelines.profile(ann);
      expect(texts(page)).toEqual(["two", "one"]);
      expect(page.cursor).toBeNull();
      expect(await social.statuses.post("nobody", "x")).toBeNull();
      await expect(social.statuses.post(ann, "")).rejects.toThrow(InputError);
      await expect(social.statuses.post(ann, "x".repeat(2_001))).rejects.toThrow(InputError);
      const placed = await social.statuses.post(ann, "here", { place: { longitude: 12.5, latitude: 41.9 } });
      expect(await social.statuses.get(placed!)).toMatchObject({
        id: placed,
        author: { id: "ann" },
        place: { longitude: 12.5, latitude: 41.9 },
      });
      await expect(
        social.statuses.post(ann, "where", { place: { longitude: Number.NaN, latitude: 0 } }),
      ).rejects.toThrow(InputError);
    });

    test("of one author never share a time, however many are posted at once", async () => {
      const social = network();
      const [ann] = (await people(social, "ann")) as [string];
      const ids = await Promise.all(Array.from({ length: 100 }, (_, at) => social.statuses.post(ann, `${at}`)));
      expect(new Set(ids).size).toBe(100);
      expect((await social.follows.counts(ann)).statuses).toBe(100);
    });

    test("that are deleted are nowhere: on no page, in no key", async () => {
      const social = network();
      const [ann, ben, cat] = (await people(social, "ann", "ben", "cat")) as [string, string, string];
      await social.follows.follow(ben, ann);
      await social.lists.create(cat, "list", { id: "+list" });
      await social.lists.addMember("+list", ann);
      await warm(social, ben, "+list");
      const id = (await social.statuses.post(ann, "secret"))!;
      await social.statuses.repost(ben, id);
      await quiet(social);
      expect(texts(await social.timelines.list("+list"))).toEqual(["secret"]);
      expect(await social.statuses.delete(ben, id)).toBe(false);
      expect(await social.statuses.delete(ann, id)).toBe(true);
      expect(await social.statuses.delete(ann, id)).toBe(false);
      expect(await social.statuses.get(id)).toBeNull();
      for (const page of [
        await social.timelines.home(ben),
        await social.timelines.list("+list"),
        await social.timelines.profile(ann),
        await social.timelines.profile(ben),
      ]) {
        expect(page).toEqual({ items: [], cursor: null });
      }
      await quiet(social);
      for (const key of await allKeys(backend.store)) {
        if (/:(home|profile)$|:reposts:/.test(key)) {
          const members = (await backend.store.call("ZRANGE", key, 0, -1)) as string[];
          expect([key, members.filter((member) => id.startsWith(member) || member.endsWith(id))]).toEqual([key, []]);
        }
        expect(key).not.toMatch(/:s:/);
      }
    });

    test("are reposted once, counted, and stand once on a page with all who reposted them", async () => {
      const social = network();
      const [ann, ben, cat, dan] = (await people(social, "ann", "ben", "cat", "dan")) as [
        string,
        string,
        string,
        string,
      ];
      for (const other of [ann, ben, cat]) await social.follows.follow(dan, other);
      await warm(social, dan);
      const id = (await social.statuses.post(ann, "news"))!;
      await social.statuses.post(ann, "after");
      const repost = await social.statuses.repost(ben, id);
      expect(await social.statuses.repost(ben, id)).toBe(repost);
      await social.statuses.repost(cat, repost!);
      await quiet(social);
      expect(await social.statuses.reposts(id)).toBe(2);
      const { items: statuses } = await social.timelines.home(dan);
      const seen = statuses.map(({ text, repostedBy = [] }) => [text, repostedBy.map((user) => user.id).sort()]);
      expect(seen.sort()).toEqual([
        ["after", []],
        ["news", ["ben", "cat"]],
      ]);
      await social.statuses.delete(ben, repost!);
      await quiet(social);
      expect(await social.statuses.reposts(id)).toBe(1);
    });

    test("are bounded for each author: the oldest go", async () => {
      const social = network({ maxStatuses: 3 });
      const [ann] = (await people(social, "ann")) as [string];
      for (let at = 0; at < 6; at++) await social.statuses.post(ann, `${at}`);
      expect(texts(await social.timelines.profile(ann))).toEqual(["5", "4", "3"]);
    });
  });

  describe("following", () => {
    test("counts are the sizes of the sets, with repeated and concurrent calls", async () => {
      const social = network();
      const [ann, ...others] = (await people(social, "ann", "b1", "b2", "b3", "b4", "b5")) as [string, ...string[]];
      await Promise.all(others.flatMap((other) => [1, 2, 3].map(() => social.follows.follow(other, ann))));
      expect(await social.follows.counts(ann)).toEqual({ followers: 5, following: 0, statuses: 0 });
      await Promise.all(others.slice(1).flatMap((other) => [1, 2].map(() => social.follows.unfollow(other, ann))));
      expect((await social.follows.counts(ann)).followers).toBe(1);
      expect((await social.follows.counts("b1")).following).toBe(1);
      expect((await social.follows.counts("b2")).following).toBe(0);
      expect(await social.follows.follow("b1", ann)).toEqual({ status: "exists" });
      expect(await social.follows.unfollow("b2", ann)).toBe(false);
      expect(await social.follows.follow("b1", "nobody")).toEqual({ status: "not-found" });
      expect(await social.follows.follow("nobody", ann)).toEqual({ status: "not-found" });
      await expect(social.follows.follow(ann, ann)).rejects.toThrow(InputError);
      await quiet(social);
      const keys = (await allKeys(backend.store)).filter((key) => key.includes("{nobody}"));
      expect(keys).toEqual([]);
    });

    test("is bounded", async () => {
      const social = network({ maxFollowing: 2 });
      const [ann] = (await people(social, "ann", "b1", "b2", "b3")) as [string];
      expect(await social.follows.follow(ann, "b1")).toEqual({ status: "followed" });
      expect(await social.follows.follow(ann, "b2")).toEqual({ status: "followed" });
      expect(await social.follows.follow(ann, "b3")).toEqual({ status: "full" });
      expect((await social.follows.counts("b3")).followers).toBe(0);
    });

    test("a call that died after any of its steps is finished by somebody else", async () => {
      const social = network({ leaseMs: 10 });
      const { store } = backend;
      const [ann, ben] = (await people(social, "ann", "ben")) as [string, string];
      const now = Date.now();
      // Ben's side has it, Ann's has not; then the other way round.
      await store.call("HSET", "social:{ann}:graph", "v", now, "i:ben", `add ${now}`);
      await store.call("ZADD", "social:{ben}:followers", now, ann);
      await store.call("ZADD", "social:{journal:2}:open", now, '{"k":"link","subject":"ann","user":"ben","t":"aa"}');
      await quiet(social);
      await expect.poll(() => social.follows.isFollowing(ann, ben), { timeout: 20_000 }).toBe(true);
      expect((await social.follows.counts(ben)).followers).toBe(1);
      await store.call("HSET", "social:{ann}:graph", "i:ben", `remove ${now + 1}`);
      await store.call("ZREM", "social:{ben}:followers", ann);
      await store.call("ZADD", "social:{journal:2}:open", now, '{"k":"link","subject":"ann","user":"ben","t":"bP"}');
      await expect.poll(() => social.follows.isFollowing(ann, ben), { timeout: 20_000 }).toBe(false);
      await quiet(social);
      expect((await social.follows.counts(ben)).followers).toBe(0);
      expect(await store.call("HEXISTS", "social:{ann}:graph", "i:ben")).toBe(0);
    });

    test("pages of followers stay in place while others come and go", async () => {
      const social = network();
      const [ann, ...others] = (await people(social, "ann", "b1", "b2", "b3", "b4", "b5")) as [string, ...string[]];
      for (const other of others) await social.follows.follow(other, ann);
      const first = await social.follows.followers(ann, { limit: 2 });
      expect(first.items).toEqual(["b1", "b2"]);
      await social.follows.unfollow("b1", ann);
      await social.follows.unfollow("b2", ann);
      const second = await social.follows.followers(ann, { limit: 2, cursor: first.cursor! });
      expect(second.items).toEqual(["b3", "b4"]);
      const third = await social.follows.followers(ann, { limit: 2, cursor: second.cursor! });
      expect(third).toEqual({ items: ["b5"], cursor: null });
      await expect(social.follows.followers(ann, { cursor: "x" })).rejects.toThrow(InputError);
      expect((await social.follows.following("b3")).items).toEqual([ann]);
    });
  });

  test("the stream gets every status and every deletion, each author's in order", async () => {
    const told: StatusEvent[] = [];
    let failures = 3;
    const stream = {
      publish: async (event: StatusEvent) => {
        if (failures-- > 0) throw new Error("not now");
        if (!told.some(({ kind, id }) => kind === event.kind && id === event.id)) told.push(event);
      },
    };
    const social = network({ stream });
    const [ann] = (await people(social, "Ann")) as [string];
    const first = (await social.statuses.post(ann, "first", { place: { longitude: 1, latitude: 2 } }))!;
    await expect.poll(() => told.length, { timeout: 20_000 }).toBe(1);
    expect(told[0]).toMatchObject({
      kind: "status",
      id: first,
      userId: ann,
      login: "Ann",
      text: "first",
      place: { longitude: 1, latitude: 2 },
    });
    await social.statuses.post(ann, "second");
    await social.statuses.delete(ann, first);
    await quiet(social);
    expect(told.map(({ kind }) => kind)).toEqual(["status", "status", "delete"]);
    expect(told[2]).toMatchObject({ id: first, userId: ann });
  });

  test("what a process had not put into the queue when it died is done by somebody else", async () => {
    const social = network({ leaseMs: 10 });
    const [ann, ben] = (await people(social, "ann", "ben")) as [string, string];
    await social.follows.follow(ben, ann);
    await warm(social, ben);
    const { store } = backend;
    const dying = new Social(
      beforeScript(store, addJobs.name, () => {
        throw new Error("killed");
      }),
      { leaseMs: 10 },
    );
    await expect(dying.statuses.post(ann, "from beyond", { id: "last" })).rejects.toThrow("killed");
    await expect.poll(async () => (await social.inspectTimeline(ben)).size, { timeout: 20_000 }).toBe(1);
    const id = (await social.statuses.post(ann, "from beyond", { id: "last" }))!;
    expect(texts(await social.timelines.home(ben))).toEqual(["from beyond"]);
    await expect(dying.statuses.delete(ann, id)).rejects.toThrow("killed");
    expect(texts(await social.timelines.home(ben))).toEqual([]);
    await expect.poll(async () => (await social.inspectTimeline(ben)).size, { timeout: 20_000 }).toBe(0);
    await expect(dying.users.delete(ann)).rejects.toThrow("killed");
    expect(await social.users.get(ann)).toBeNull();
    await expect.poll(() => social.follows.isFollowing(ben, ann), { timeout: 20_000 }).toBe(false);
    await quiet(social);
  });

  test("the parts may be on different servers", async () => {
    const stores = await Promise.all(Array.from({ length: 5 }, () => backend.open()));
    const [users, statuses, follows, timelines, queue] = stores as [Store, Store, Store, Store, Store];
    const social = network({}, { users, statuses, follows, timelines, queue });
    const [ann, ben] = (await people(social, "ann", "ben")) as [string, string];
    await social.follows.follow(ben, ann);
    await warm(social, ben);
    const id = (await social.statuses.post(ann, "across"))!;
    expect(await social.statuses.post("nobody", "x")).toBeNull();
    await quiet(social);
    expect(texts(await social.timelines.home(ben))).toEqual(["across"]);
    await social.statuses.delete(ann, id);
    await quiet(social);
    expect(await social.timelines.home(ben)).toEqual({ items: [], cursor: null });
    expect(() => new Social({ users } as never)).toThrow(InputError);
  });
});
