/**
 * A network of ads under random load, with crashes: actors show ads and report views, clicks and actions, and are killed at random
 * moments; in between, connections are cut after a request was run and before it was answered. Budgets are never overspent, what is
 * reserved is what open impressions say, caps hold, and everything is counted and charged once.
 *
 * ADS_FAULT_KILLS=100 ADS_FAULT_SEED=7 runs it long.
 */
import { afterEach, expect, onTestFinished, test } from "vitest";
import { full } from "../../../../scripts/full.ts";
import { Ads } from "../../../src/components/ads/index.ts";
import { adKey, impressionKey, openKey, shardBase } from "../../../src/components/ads/keys.ts";
import type { Store } from "../../../src/connection/store.ts";
import { describeBackends } from "../../kit/index.ts";
import { FaultyProxy } from "../../kit/proxy.ts";
import { randomFrom } from "../web/acts.ts";
import { type Child, endAll, start } from "../web/children.ts";
import type { Order } from "./actor.ts";
import { ADS, CAP, type Deed, type Line, NETWORK, OPTIONS, perform } from "./acts.ts";

const SEED = Number(process.env.ADS_FAULT_SEED ?? 1);
const KILLS = Number(process.env.ADS_FAULT_KILLS ?? 3);
const ACTORS = 3;
const BASE = shardBase("ads", NETWORK, 0, 1);

/** One moment of every ad and every open impression, since a script is one step. */
const SNAPSHOT = `
  local ads, held = {}, {}
  for _, id in ipairs(redis.call("ZRANGE", KEYS[1], 0, -1)) do
    local was = redis.call("HMGET", ARGV[1] .. id, "ad", "held")
    held[was[1]] = (held[was[1]] or 0) + tonumber(was[2])
  end
  for i = 2, #ARGV do
    local ad = redis.call("HMGET", KEYS[i], "spent", "held", "spentToday", "terms")
    ads[#ads + 1] = {ARGV[i], ad[1], ad[2], ad[3], held[ARGV[i]] or 0, ad[4]}
  end
  return ads
`;

/** True at every moment. */
async function moneyFaults(store: Store): Promise<string[]> {
  const names = Object.keys(ADS);
  const keys = [openKey(BASE), ...names.map((name) => adKey(BASE, name))];
  const ads = await store.call("EVAL", SNAPSHOT, keys.length, ...keys, impressionKey(BASE, ""), ...names);
  return (ads as string[][]).flatMap(([name, ...words]) => {
    const [spent, held, spentToday, open] = words.map(Number) as number[];
    const [, , ...limits] = words[4]!.split(" ");
    const [total, daily] = limits.map((limit) => (limit === "-" ? Number.POSITIVE_INFINITY : Number(limit)));
    const faults: string[] = [];
    if (spent! > total! || spentToday! > daily!)
      faults.push(`${name} has spent ${spent} of ${total}, ${spentToday} of ${daily}`);
    if (held !== open) faults.push(`${name} holds ${held}, its open impressions ${open}`);
    return faults;
  });
}

/** Kills an actor and loses answers again and again, and looks at the store after each; then lets the last ones end. */
async function runActors(store: Store, proxy: FaultyProxy): Promise<{ deeds: Deed[]; faults: string[] }> {
  const random = randomFrom(SEED);
  const deeds: Deed[] = [];
  const faults: string[] = [];
  let started = 0;
  let heard = 0;
  let enough = { lines: Number.POSITIVE_INFINITY, resolve: () => {} };
  const startOne = (): Child => {
    const byNumber = new Map<number, Deed>();
    const order: Order = { url: proxy.url, name: `actor${++started}`, seed: SEED * 1_000 + started };
    return start("../ads/actor.ts", order, (text) => {
      const line = JSON.parse(text) as Line;
      if (line.t === "try") {
        const deed: Deed = { act: line.act, answer: null };
        byNumber.set(line.n, deed);
        deeds.push(deed);
      } else byNumber.get(line.n)!.answer = line.answer;
      if (++heard >= enough.lines) enough.resolve();
    });
  };
  const moreLines = (count: number): Promise<void> =>
    new Promise((resolve) => {
      enough = { lines: heard + count, resolve };
    });
  const actors = Array.from({ length: ACTORS }, startOne);
  await Promise.all(actors.map(({ ready }) => ready));
  for (let nth = 0; nth < KILLS; nth++) {
    await moreLines(300 + random(400));
    const at = random(ACTORS);
    actors[at]!.kill("SIGKILL");
    await actors[at]!.ended;
    faults.push(...(await moneyFaults(store)));
    actors[at] = startOne();
    await actors[at]!.ready;
    for (let each = 0; each < 3; each++) {
      await moreLines(50 + random(50));
      await proxy.loseAnswerOf(each === 0 ? "thompson" : "clicks");
      faults.push(...(await moneyFaults(store)));
    }
  }
  await moreLines(500);
  for (const actor of actors) actor.kill("SIGTERM");
  expect(await Promise.all(actors.map(({ ended }) => ended))).toEqual(actors.map(() => 0));
  return { deeds, faults };
}

/** What must have been counted, by everything that was ever answered. */
function expected(deeds: readonly Deed[]) {
  const counts = new Map<string, number>();
  const add = (of: string, by: number): void => void counts.set(of, (counts.get(of) ?? 0) + by);
  const faults: string[] = [];
  const once = new Set<string>();
  for (const { act, answer } of deeds) {
    if (act.kind === "target" || answer === null || !("charged" in answer)) continue;
    add(`${act.ad} ${act.kind}`, 1);
    add(`${act.ad} spent`, answer.charged);
    if (act.kind === "view") add(`${act.ad} to ${act.user}`, 1);
    const event = `${act.kind} of ${act.impression}`;
    if (once.has(event)) faults.push(`${event} was counted twice`);
    once.add(event);
  }
  for (const [of, count] of counts) {
    if (of.startsWith("capped to ") && count > CAP) faults.push(`${of}: ${count} views`);
  }
  return { counts, faults };
}

describeBackends("ads", { backends: full ? ["tcp", "redis"] : ["redis"], audit: false }, (backend) => {
  afterEach(endAll);

  test(
    "are never overspent or counted twice while processes are killed and answers lost",
    async () => {
      const { store } = backend;
      const ads = new Ads<null>(store, NETWORK, OPTIONS);
      for (const [name, spec] of Object.entries(ADS)) await ads.set(name, spec);
      const proxy = await FaultyProxy.open(backend.ports[0]!);
      onTestFinished(() => proxy.close());
      const { deeds, faults } = await runActors(store, proxy);
      // What nobody knows the end of is done again, by the same ids.
      const unknown = deeds.filter(({ answer }) => answer === null);
      for (const deed of unknown) deed.answer = await perform(ads, deed.act);
      faults.push(...(await moneyFaults(store)));
      const { counts, faults: wrong } = expected(deeds);
      faults.push(...wrong);
      for (const name of Object.keys(ADS)) {
        const days = (await ads.stats(name))!;
        const sum = (what: "views" | "clicks" | "actions" | "spentMicros"): number =>
          days.reduce((all, day) => all + day[what], 0);
        const told = [sum("views"), sum("clicks"), sum("actions"), sum("spentMicros")];
        const should = ["view", "click", "action", "spent"].map((what) => counts.get(`${name} ${what}`) ?? 0);
        if (told.join() !== should.join()) faults.push(`${name}: ${told.join()} instead of ${should.join()}`);
        const { spentMicros } = (await ads.get(name))!;
        if (spentMicros !== sum("spentMicros"))
          faults.push(`${name}: has spent ${spentMicros}, not what its days have`);
      }
      expect(faults).toEqual([]);
      const spent = await Promise.all(
        Object.keys(ADS).map(async (name) => `${name} ${(await ads.get(name))!.spentMicros}`),
      );
      console.log(
        `${backend.name}: ${KILLS} actors killed, ${deeds.length} acts, ${unknown.length} unknown; spent: ${spent.join(", ")}`,
      );
      expect((await ads.get("by view"))!.spentMicros).toBeGreaterThan(0);
    },
    60_000 + 20_000 * KILLS,
  );
});
