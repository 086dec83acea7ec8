/** What the social network promises when clocks are set. */
import { expect } from "vitest";
import { Social } from "../../../src/components/social/index.ts";
import { SocialKeys } from "../../../src/components/social/keys.ts";
import { due, note } from "../../../src/components/social/scripts/journal.ts";
import { startBuild } from "../../../src/components/social/scripts/timelines.ts";
import { DAY_MS, LEASE_MS, type Promised, promised } from "./promised.ts";

export const social: Record<string, Promised> = {
  "what a dead process has left is finished after the time to settle": promised(async (world, stepMs) => {
    const { store } = world;
    const journal = new SocialKeys("social").journal(0);
    await store.run(note, { journal, entry: "left", delayMs: LEASE_MS });
    world.step(stepMs);
    await world.pass(LEASE_MS);
    expect(await store.run(due, { journal, limit: 10, delayMs: LEASE_MS })).toEqual(["left"]);
    expect(await store.run(due, { journal, limit: 10, delayMs: LEASE_MS })).toEqual([]);
  }),
  "a timeline whose builder died is built by the next after its lease": promised(async (world, stepMs) => {
    const home = new SocialKeys("social").home("ann");
    const build = (token: string) =>
      world.store.run(startBuild, { home, token, take: 0, leaseMs: LEASE_MS, keepMs: DAY_MS });
    expect((await build("dead"))[0]).toBe("build");
    expect((await build("next"))[0]).toBe("busy");
    world.step(stepMs);
    await world.pass(LEASE_MS);
    expect((await build("next"))[0]).toBe("build");
  }),
  "an author's statuses keep their order, and follows work": promised(async (world, stepMs) => {
    const network = new Social(world.store);
    const join = async (login: string): Promise<string> => {
      const joined = await network.users.join(login);
      if (joined.status !== "joined") throw new Error(joined.status);
      return joined.user.id;
    };
    const [ada, bob] = [await join("Ada"), await join("Bob")];
    expect(await network.follows.follow(bob, ada)).toEqual({ status: "followed" });
    await network.statuses.post(ada, "first");
    world.step(stepMs);
    await network.statuses.post(ada, "second");
    const { items: statuses } = await network.timelines.home(bob, { limit: 10 });
    expect(statuses.map(({ text }) => text)).toEqual(["second", "first"]);
    expect(await network.follows.unfollow(bob, ada)).toBe(true);
    expect(await network.follows.follow(bob, ada)).toEqual({ status: "followed" });
    expect(await network.follows.counts(ada)).toMatchObject({ followers: 1 });
  }),
};
