/**
 * A social network under random load, with crashes. Processes that use it and work for it at once are killed at random moments; on
 * single servers answers are lost, too. Once nothing is left to do, every edge is the same on both sides, every timeline is the
 * merge of the followed users, and what was deleted is nowhere.
 *
 * SOCIAL_FAULT_KILLS=100 SOCIAL_FAULT_SEED=7 runs it long.
 */
import { afterEach, expect, onTestFinished, test } from "vitest";
import { Social } from "../../../src/components/social/index.ts";
import { type BackendName, describeBackends } from "../../kit/index.ts";
import { FaultyProxy } from "../../kit/proxy.ts";
import { randomFrom } from "../web/acts.ts";
import { type Child, endAll, start } from "../web/children.ts";
import { LEASE_MS, LISTS, type Line, networkFaults, type Order, SETTINGS, USERS } from "./network.ts";

const SEED = Number(process.env.SOCIAL_FAULT_SEED ?? 1);
const KILLS = Number(process.env.SOCIAL_FAULT_KILLS ?? 2);
const ACTORS = 2;
/** What is in the requests of each kind, to lose the answers of. */
const REQUESTS = [":following", ":followers", ":profile", ":home", ":open", "fan-out"];

/** The short form has one server of each kind. */
const BACKENDS: readonly BackendName[] =
  process.env.SOCIAL_FAULT_KILLS === undefined ? ["redis", "cluster"] : ["tcp", "redis", "cluster"];

describeBackends("social network", { backends: BACKENDS, audit: false }, (backend) => {
  afterEach(endAll);

  test(
    "keeps its promises while its processes are killed and answers lost",
    async () => {
      const { store } = backend;
      const social = new Social(store, SETTINGS);
      for (const id of USERS) expect((await social.users.join(id, { id })).status).toBe("joined");
      for (const id of LISTS) await social.lists.create(USERS[0]!, id, { id });
      const proxy = backend.store.topology === "cluster" ? null : await FaultyProxy.open(backend.ports[0]!);
      if (proxy !== null) onTestFinished(() => proxy.close());

      const [posted, deleting, deleted] = [new Set<string>(), new Set<string>(), new Set<string>()];
      let heard = 0;
      let enough = { lines: Number.POSITIVE_INFINITY, resolve: () => {} };
      let actorsStarted = 0;
      const startOne = (): Child => {
        const order: Order = { url: proxy?.url ?? backend.url!, seed: SEED * 1_000 + actorsStarted++ };
        return start("../social/actor.ts", order, (text) => {
          const line = JSON.parse(text) as Line;
          if (line.t === "posted") posted.add(line.id);
          if (line.t === "deleting") deleting.add(line.id);
          if (line.t === "deleted") deleted.add(line.id);
          if (++heard >= enough.lines) enough.resolve();
        });
      };
      const moreLines = (count: number): Promise<void> =>
        new Promise((resolve) => {
          enough = { lines: heard + count, resolve };
        });

      const random = randomFrom(SEED);
      const actors = Array.from({ length: ACTORS }, startOne);
      await Promise.all(actors.map(({ ready }) => ready));
      for (let nth = 0; nth < KILLS; nth++) {
        await moreLines(50 + random(100));
        const at = random(ACTORS);
        actors[at]!.kill("SIGKILL");
        await actors[at]!.ended;
        actors[at] = startOne();
        if (proxy === null) continue;
        await moreLines(20 + random(50));
        await proxy.loseAnswerOf(REQUESTS[nth % REQUESTS.length]!);
      }
      await Promise.all(actors.map(({ ready }) => ready));
      await moreLines(150);
      for (const actor of actors) actor.kill("SIGTERM");
      expect(await Promise.all(actors.map(({ ended }) => ended))).toEqual(actors.map(() => 0));

      // What is left is done by somebody who was not there.
      const worker = social.worker({ leaseMs: LEASE_MS }).start();
      const left = async (): Promise<number> => {
        const { jobs, open } = await social.stats();
        return jobs.waiting + jobs.active + jobs.delayed + open;
      };
      await expect.poll(left, { timeout: 60_000, interval: 20 }).toBe(0);
      // Reading makes the timelines that nobody has read yet; one that a killed process began to make, when its lease is over.
      const unmade = async (): Promise<string[]> => {
        for (const user of USERS) await social.timelines.home(user);
        for (const list of LISTS) await social.timelines.list(list);
        await expect.poll(left, { timeout: 60_000, interval: 20 }).toBe(0);
        const states = [...USERS, ...LISTS].map(async (subject) => ({
          subject,
          ...(await social.inspectTimeline(subject)),
        }));
        return (await Promise.all(states)).flatMap(({ subject, state }) => (state === "building" ? [subject] : []));
      };
      await expect.poll(unmade, { timeout: 60_000, interval: 50 }).toEqual([]);
      expect((await social.stats()).jobs.dead).toBe(0);

      for (const id of deleting) posted.delete(id);
      const { faults, merged, statuses } = await networkFaults(social, store, posted, deleted);
      await worker.stop();
      console.log(
        `${backend.name}: ${KILLS} processes killed, ${heard} acts, ${statuses} statuses, ${deleted.size} deleted, ${merged} authors merged in`,
      );
      expect(faults).toEqual([]);
      expect(statuses).toBeGreaterThan(20);
    },
    120_000 + 20_000 * KILLS,
  );
});
