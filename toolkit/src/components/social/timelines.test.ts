/** The social network's contract: timelines, lists, blocking and muting. */
import { describe, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { allKeys, Posted, quiet, socialSuite, texts } from "../../../tests/kit/social.ts";
import type { StatusPage } from "./index.ts";

describeBackends("social timelines", { audit: "tags" }, (backend) => {
  const { network, people, warm } = socialSuite(backend);

  describe("home timelines", () => {
    test("have what the followed users post, from before and after", async () => {
      const social = network();
      const [ann, ben, cat] = (await people(social, "ann", "ben", "cat")) as [string, string, string];
      await warm(social, cat);
      await social.statuses.post(ann, "before");
      await social.follows.follow(cat, ann);
      expect(texts(await social.timelines.home(cat))).toEqual(["before"]);
      await social.statuses.post(ben, "not followed");
      await social.statuses.post(ann, "after");
      await quiet(social);
      expect(texts(await social.timelines.home(cat))).toEqual(["after", "before"]);
      await social.statuses.post(cat, "own");
      expect(texts(await social.timelines.home(cat, { own: true })).sort()).toEqual(["after", "before", "own"]);
      await social.follows.unfollow(cat, ann);
      expect(texts(await social.timelines.home(cat))).toEqual([]);
      expect((await social.inspectTimeline(cat)).size).toBe(0);
    });

    test("are read from the profiles while they are cold, and are the same when they are warm", async () => {
      const social = network();
      const [ann, ben, cat] = (await people(social, "ann", "ben", "cat")) as [string, string, string];
      await social.follows.follow(cat, ann);
      await social.follows.follow(cat, ben);
      const posted = new Posted();
      for (let at = 0; at < 5; at++)
        posted.note(await social.statuses.post(at % 2 === 0 ? ann : ben, `${at}`), `${at}`);
      await quiet(social);
      expect((await social.inspectTimeline(cat)).state).toBe("cold");
      const cold = await social.timelines.home(cat);
      expect(texts(cold)).toEqual(posted.newest);
      await quiet(social);
      expect(await social.inspectTimeline(cat)).toMatchObject({ state: "warm", size: 5, isComplete: true });
      expect(await social.timelines.home(cat)).toEqual(cold);
      // As if nobody had read it for two weeks.
      expect([await social.deleteTimeline(cat), await social.deleteTimeline(cat)]).toEqual([true, false]);
      posted.note(await social.statuses.post(ann, "5"), "5");
      await quiet(social);
      expect(texts(await social.timelines.home(cat))).toEqual(posted.newest);
      const { expiresInMs } = await social.inspectTimeline(cat);
      expect(expiresInMs).toBeGreaterThan(13 * 86_400_000);
    });

    test("hold so many, and pages go on from the profiles behind them", async () => {
      const social = network({ timelineSize: 16 });
      const [ann, ben, cat] = (await people(social, "ann", "ben", "cat")) as [string, string, string];
      await social.follows.follow(cat, ann);
      await social.follows.follow(cat, ben);
      await warm(social, cat);
      const posted = new Posted();
      for (let at = 0; at < 50; at++) {
        posted.note(await social.statuses.post(at % 3 === 0 ? ann : ben, `${at}`), `${at}`);
      }
      await quiet(social);
      const state = await social.inspectTimeline(cat);
      expect(state.size).toBeLessThanOrEqual(17);
      expect(state.isComplete).toBe(false);
      const seen: string[] = [];
      let before: string | undefined;
      for (;;) {
        const page: StatusPage = await social.timelines.home(
          cat,
          before === undefined ? { limit: 7 } : { limit: 7, cursor: before },
        );
        seen.push(...texts(page));
        if (page.cursor === null) break;
        expect(page.items).toHaveLength(7);
        before = page.cursor;
      }
      expect(seen).toEqual(posted.newest);
      // Leaving takes most of it away; it is filled up again.
      await social.follows.unfollow(cat, ben);
      await quiet(social);
      expect((await social.inspectTimeline(cat)).size).toBe(16);
      const rest = await social.timelines.home(cat, { limit: 100 });
      expect(texts(rest)).toEqual(posted.newest.filter((text) => Number(text) % 3 === 0));
    });

    test("have what large accounts post too, which is merged in, and nothing is lost when an account grows or shrinks", async () => {
      const social = network({ pushBelow: 4, timelineSize: 16 });
      const logins = ["star", "ann", "b1", "b2", "b3", "b4", "b5"];
      const [star, ann, ...fans] = (await people(social, ...logins)) as [string, string, ...string[]];
      await warm(social, ...fans);
      const posted = new Posted();
      let number = 0;
      const post = async (): Promise<void> => {
        for (const author of [star, ann]) {
          const text = `${author} ${number++}`;
          posted.note(await social.statuses.post(author, text), text);
        }
      };
      await social.follows.follow("b1", ann);
      for (const fan of fans) {
        await post();
        await social.follows.follow(fan, star);
      }
      await quiet(social);
      expect((await social.inspectAuthor(star)).mode).toBe("pull");
      await post();
      await quiet(social);
      expect((await social.inspectTimeline("b1")).merged).toEqual([star]);
      expect(texts(await social.timelines.home("b1", { limit: 100 }))).toEqual(posted.newest);
      expect(texts(await social.timelines.home("b1", { limit: 3 }))).toEqual(posted.newest.slice(0, 3));
      // A timeline that is built now has it too.
      await backend.store.call("DEL", "social:{b1}:home");
      await warm(social, "b1");
      expect((await social.inspectTimeline("b1")).merged).toEqual([star]);
      expect(texts(await social.timelines.home("b1", { limit: 100 }))).toEqual(posted.newest);
      for (const fan of fans.slice(1)) await social.follows.unfollow(fan, star);
      await quiet(social);
      expect((await social.inspectAuthor(star)).mode).toBe("push");
      expect((await social.inspectTimeline("b1")).merged).toEqual([]);
      await post();
      await quiet(social);
      expect(texts(await social.timelines.home("b1", { limit: 100 }))).toEqual(posted.newest);
    });

    test("are delivered to in passes that go over everybody", async () => {
      const social = network({ passSize: 3 });
      const fans = Array.from({ length: 40 }, (_, at) => `fan${at}`);
      const [star] = (await people(social, "star", ...fans)) as [string];
      await Promise.all(fans.map((fan) => social.follows.follow(fan, star)));
      await warm(social, ...fans);
      await social.statuses.post(star, "to all");
      await quiet(social);
      for (const fan of fans) expect([fan, (await social.inspectTimeline(fan)).size]).toEqual([fan, 1]);
    });
  });

  describe("lists", () => {
    test("have timelines of their members", async () => {
      const social = network();
      const [ann, ben, cat] = (await people(social, "ann", "ben", "cat")) as [string, string, string];
      await social.lists.create(cat, "friends", { id: "+f" });
      await social.statuses.post(ann, "one");
      expect(await social.lists.addMember("+f", ann)).toEqual({ status: "added" });
      expect(await social.lists.addMember("+f", ann)).toEqual({ status: "exists" });
      expect(await social.lists.addMember("+f", "nobody")).toEqual({ status: "not-found" });
      expect(await social.lists.addMember("+none", ann)).toEqual({ status: "not-found" });
      await warm(social, "+f");
      await social.lists.addMember("+f", ben);
      await social.statuses.post(ben, "two");
      await social.statuses.post(ann, "three");
      await quiet(social);
      expect(texts(await social.timelines.list("+f", { viewer: cat })).sort()).toEqual(["one", "three", "two"]);
      // Being in a list is not being followed.
      expect(await social.follows.counts(ann)).toEqual({ followers: 0, following: 0, statuses: 2 });
      expect((await social.lists.members("+f")).items).toEqual([ann, ben]);
      expect(await social.lists.deleteMember("+f", ann)).toBe(true);
      expect(await social.lists.deleteMember("+f", ann)).toBe(false);
      expect(texts(await social.timelines.list("+f"))).toEqual(["two"]);
      expect(await social.lists.rename("+f", "best friends")).toBe(true);
      expect((await social.lists.list(cat)).items).toEqual([
        { id: "+f", owner: cat, name: "best friends", members: 1 },
      ]);
      expect(await social.lists.delete("+f")).toBe(true);
      expect(await social.lists.delete("+f")).toBe(false);
      expect((await social.lists.list(cat)).items).toEqual([]);
      expect(await social.lists.create("nobody", "x")).toEqual({ status: "not-found" });
      expect(await social.lists.create(cat, "again", { id: "+f" })).toEqual({ status: "taken" });
      expect(await social.lists.create(cat, "other", { id: "+g" })).toMatchObject({
        status: "created",
        list: { owner: cat, name: "other" },
      });
      expect(await social.lists.create(ann, "mine", { id: "+g" })).toEqual({ status: "taken" });
      expect((await social.lists.list(ann)).items).toEqual([]);
      await quiet(social);
      expect((await allKeys(backend.store)).filter((key) => key.includes("{+f}"))).toEqual(["social:{+f}:graph"]);
      expect((await social.inspectAuthor(ben)).lists).toBe(0);
    });
  });

  describe("blocking and muting", () => {
    test("a block ends what there was, and keeps it from beginning again", async () => {
      const social = network();
      const [ann, ben] = (await people(social, "ann", "ben")) as [string, string];
      await social.follows.follow(ann, ben);
      await social.follows.follow(ben, ann);
      await social.lists.create(ben, "l", { id: "+l" });
      await social.lists.addMember("+l", ann);
      await warm(social, ben, "+l");
      const id = (await social.statuses.post(ann, "not for ben"))!;
      await quiet(social);
      expect(texts(await social.timelines.home(ben))).toEqual(["not for ben"]);
      expect(await social.follows.block(ann, ben)).toEqual({ status: "blocked" });
      expect(await social.follows.block(ann, ben)).toEqual({ status: "blocked" });
      expect(await social.follows.counts(ann)).toMatchObject({ followers: 0, following: 0 });
      expect(await social.follows.counts(ben)).toMatchObject({ followers: 0, following: 0 });
      expect(texts(await social.timelines.home(ben))).toEqual([]);
      expect(texts(await social.timelines.list("+l", { viewer: ben }))).toEqual([]);
      expect((await social.inspectTimeline(ben)).size).toBe(0);
      expect(await social.statuses.get(id, { viewer: ben })).toBeNull();
      expect(texts(await social.timelines.profile(ann, { viewer: ben }))).toEqual([]);
      expect(await social.statuses.repost(ben, id)).toBeNull();
      expect(await social.follows.follow(ben, ann)).toEqual({ status: "blocked" });
      expect(await social.follows.follow(ann, ben)).toEqual({ status: "blocked" });
      expect(await social.lists.addMember("+l", ann)).toEqual({ status: "blocked" });
      expect((await social.follows.blocked(ann)).items).toEqual([ben]);
      expect(await social.follows.unblock(ann, ben)).toBe(true);
      expect(await social.follows.unblock(ann, ben)).toBe(false);
      expect(await social.follows.follow(ben, ann)).toEqual({ status: "followed" });
      expect(texts(await social.timelines.home(ben))).toEqual(["not for ben"]);
    });

    test("who is muted is followed and not seen, and is seen again with all that was missed", async () => {
      const social = network();
      const [ann, ben, cat] = (await people(social, "ann", "ben", "cat")) as [string, string, string];
      await social.follows.follow(ben, ann);
      await social.follows.follow(ben, cat);
      await warm(social, ben);
      const id = (await social.statuses.post(ann, "one"))!;
      await quiet(social);
      expect(await social.follows.mute(ben, ann)).toEqual({ status: "muted" });
      await social.statuses.post(ann, "two");
      await social.statuses.repost(cat, id);
      await quiet(social);
      expect(texts(await social.timelines.home(ben))).toEqual([]);
      // Not even stored, but for the repost, which is another's.
      expect(await social.inspectTimeline(ben)).toMatchObject({ size: 1, muted: [ann] });
      expect((await social.follows.counts(ann)).followers).toBe(1);
      expect((await social.follows.muted(ben)).items).toEqual([ann]);
      await backend.store.call("DEL", "social:{ben}:home");
      await warm(social, ben);
      expect(await social.inspectTimeline(ben)).toMatchObject({ size: 1, muted: [ann] });
      expect(await social.follows.unmute(ben, ann)).toBe(true);
      expect(texts(await social.timelines.home(ben)).sort()).toEqual(["one", "two"]);
    });
  });
});
