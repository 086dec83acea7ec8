/** Two calls of the social network at once, with the second at exactly the point of the first where it would hurt. */
import { expect, test } from "vitest";
import { beforeScript } from "../../../tests/kit/before-script.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { quiet, socialSuite, texts } from "../../../tests/kit/social.ts";
import type { Store } from "../../connection/store.ts";
import { Social, type SocialParts } from "./index.ts";

/** Runs it once, the first time it is called. */
function once(run: () => Promise<unknown>): () => Promise<unknown> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    isDone = true;
    await run();
  };
}

/** A store that does something before a pipeline in which a script of this name is. */
function beforePipeline(store: Store, name: string, hook: () => Promise<unknown>): Store {
  const pipeline = async (items: readonly (object & { script?: { name: string } })[]): Promise<unknown> => {
    if (items.some(({ script }) => script?.name === name)) await hook();
    return store.pipeline(items as never);
  };
  return new Proxy(store, {
    get: (target, property) => {
      if (property === "pipeline") return pipeline;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

describeBackends("social races", { backends: ["embedded", "redis"], audit: false }, (backend) => {
  const { network, people, warm } = socialSuite(backend);

  const partsWith = (change: Partial<SocialParts>): SocialParts => {
    const { store } = backend;
    return { users: store, statuses: store, follows: store, timelines: store, queue: store, ...change };
  };

  /** Ben follows Ann, and has read his timeline; nobody works on the queue but those whom the test starts. */
  async function ready(): Promise<Social> {
    const social = network();
    await people(social, "ann", "ben");
    await social.follows.follow("ben", "ann");
    await warm(social, "ben");
    return social;
  }

  test("a timeline is filled though the first who began to fill it has died before it said so", async () => {
    const { store } = backend;
    const social = network();
    await people(social, "ann", "ben");
    await social.follows.follow("ben", "ann");
    const id = await social.statuses.post("ann", "hello");
    // The mark of one who began eleven seconds ago, and queued nothing.
    const [seconds] = (await store.call("TIME")) as [string, string];
    await store.call("ZADD", "social:{ben}:home", 0, `#~|${Number(seconds) * 1000 - 11_000}.token`);
    // Without an expiry, as an operator may have left it: looking at it must not delete it.
    expect((await social.inspectTimeline("ben")).state).toBe("building");
    expect((await social.inspectTimeline("ben")).state).toBe("building");
    expect((await social.timelines.home("ben")).items.map((status) => status.id)).toEqual([id]);
    await quiet(social);
    expect(await social.inspectTimeline("ben")).toMatchObject({ state: "warm", size: 1 });
  });

  test("who leaves while a status is on its way to them does not have it in the end", async () => {
    const social = await ready();
    let unfollowed: Promise<boolean> | undefined;
    const hook = once(() => {
      unfollowed = social.follows.unfollow("ben", "ann");
      return unfollowed;
    });
    const timelines = beforePipeline(backend.store, "social.timelines.deliver", hook);
    // Whichever of the two workers gets the job: only one of them has the hook, so statuses are posted until that was it.
    network({}, partsWith({ timelines }));
    while (unfollowed === undefined) {
      await social.statuses.post("ann", "late");
      await quiet(social);
    }
    expect(await unfollowed).toBe(true);
    expect((await social.inspectTimeline("ben")).size).toBe(0);
  });

  test("what is deleted while it is on its way is nowhere in the end", async () => {
    const social = await ready();
    let deleted = "";
    const hook = once(async () => {
      const { items: statuses } = await social.timelines.profile("ann", { limit: 1 });
      deleted = statuses[0]!.id;
      await social.statuses.delete("ann", deleted);
      // The other worker has cleaned up; only this job is left.
      await expect
        .poll(
          async () => {
            const { jobs } = await social.stats();
            return jobs.waiting + jobs.active;
          },
          { timeout: 20_000, interval: 2 },
        )
        .toBe(1);
    });
    network({}, partsWith({ timelines: beforePipeline(backend.store, "social.timelines.deliver", hook) }));
    for (let nth = 0; deleted === ""; nth++) {
      await social.statuses.post("ann", `${nth}`);
      await quiet(social);
    }
    expect(await backend.store.call("ZSCORE", "social:{ben}:home", deleted)).toBeNull();
  });

  test("who follows again while leaving is under way has everything", async () => {
    const social = await ready();
    await social.statuses.post("ann", "one");
    await quiet(social);
    const again = once(() => social.follows.follow("ben", "ann"));
    // Leaving has read that Ann is not followed, and then takes its time.
    const slow = new Social(partsWith({ timelines: beforeScript(backend.store, "social.timelines.read", again) }));
    await slow.follows.unfollow("ben", "ann");
    expect(await social.follows.isFollowing("ben", "ann")).toBe(true);
    expect((await social.inspectTimeline("ben")).size).toBe(1);
    expect(texts(await social.timelines.home("ben"))).toEqual(["one"]);
  });

  test("a follow that reaches the other side after its end changes nothing there", async () => {
    const social = await ready();
    await social.follows.unfollow("ben", "ann");
    const undone = once(() => social.follows.unfollow("ben", "ann"));
    const slow = new Social(partsWith({ follows: beforeScript(backend.store, "social.follows.attach", undone) }));
    await slow.follows.follow("ben", "ann");
    expect(await social.follows.isFollowing("ben", "ann")).toBe(false);
    expect(await social.follows.counts("ann")).toMatchObject({ followers: 0 });
  });

  /** What each side says of Ben's following Ann. */
  const sides = async (social: Social) => [
    await social.follows.isFollowing("ben", "ann"),
    (await social.follows.followers("ann")).items.includes("ben"),
  ];

  test("a follow that is refused while a block ends the same edge leaves nothing of it on either side", async () => {
    const social = await ready();
    const refused = once(() => social.follows.follow("ben", "ann"));
    // The edge has left the side of the one who blocks, and not yet the other.
    const slow = new Social(partsWith({ follows: beforeScript(backend.store, "social.follows.conclude", refused) }));
    await slow.follows.block("ann", "ben");
    expect(await sides(social)).toEqual([false, false]);
    expect(await social.follows.unblock("ann", "ben")).toBe(true);
    expect(await social.follows.follow("ben", "ann")).toEqual({ status: "followed" });
    expect(await sides(social)).toEqual([true, true]);
  });

  test("nor where the edge was only half made when the block came", async () => {
    const social = network();
    await people(social, "ann", "ben");
    let going: Promise<unknown> | undefined;
    const refused = () => {
      going ??= social.follows.follow("ben", "ann");
      return going;
    };
    const blocking = new Social(partsWith({ follows: beforeScript(backend.store, "social.follows.intend", refused) }));
    const blocked = once(() => blocking.follows.block("ann", "ben"));
    // Ann's side has the edge, and Ben's does not have it yet.
    const slow = new Social(partsWith({ follows: beforeScript(backend.store, "social.follows.conclude", blocked) }));
    await slow.follows.follow("ben", "ann");
    expect(await sides(social)).toEqual([false, false]);
  });

  test("a follow that comes too late for an edge that somebody is ending is made in full", async () => {
    const social = await ready();
    // The edge is gone from Ann's side under a later version than the one that the follow has.
    const ended = once(async () => {
      const left = "social:{ann}:left";
      await backend.store.call("ZREM", "social:{ann}:followers", "ben");
      await backend.store.call("ZADD", left, Date.now() + 50, "ben");
    });
    await backend.store.call("HSET", "social:{ben}:graph", "i:ann", "remove 1");
    const slow = new Social(partsWith({ follows: beforeScript(backend.store, "social.follows.attach", ended) }));
    await slow.follows.follow("ben", "ann");
    expect(await sides(social)).toEqual([true, true]);
  });

  test("a timeline that is being built while its owner follows somebody has them too", async () => {
    const social = network();
    await people(social, "ann", "ben", "cat");
    await social.follows.follow("ben", "cat");
    await social.statuses.post("ann", "from ann");
    await social.statuses.post("cat", "from cat");
    await quiet(social);
    const followed = once(() => social.follows.follow("ben", "ann"));
    const slow = new Social(partsWith({ timelines: beforeScript(backend.store, "social.timelines.finish", followed) }));
    await slow.timelines.build("ben");
    expect(await social.inspectTimeline("ben")).toMatchObject({ state: "warm", size: 2 });
    await quiet(social);
  });
});
