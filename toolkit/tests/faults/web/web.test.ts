/**
 * The components for the web under random load, with crashes. Actors use all of them at once and are killed at random moments; in
 * between, connections are cut after a request was run and before it was answered. Whatever was going on, what must hold holds.
 *
 * WEB_FAULT_KILLS=100 WEB_FAULT_SEED=7 runs it long.
 */
import { afterEach, expect, onTestFinished, test } from "vitest";
import { full } from "../../../../scripts/full.ts";
import { Board } from "../../../src/components/board/index.ts";
import { Cache } from "../../../src/components/cache/index.ts";
import { Carts } from "../../../src/components/carts/index.ts";
import { Counters } from "../../../src/components/counters/index.ts";
import { Market } from "../../../src/components/market/index.ts";
import { Sessions } from "../../../src/components/sessions/index.ts";
import type { Store } from "../../../src/connection/store.ts";
import { describeBackends } from "../../kit/index.ts";
import { FaultyProxy } from "../../kit/proxy.ts";
import type { Order } from "./actor.ts";
import {
  ARTICLES,
  CARTS,
  COUNTERS,
  type Deed,
  Deeds,
  GOODS,
  type Line,
  MARKETS,
  type MarketWay,
  randomFrom,
  SESSIONS,
  TRADERS,
} from "./acts.ts";
import { cartFaults, counterFaults, lastVoteFaults, marketFaults, sessionFaults, votingFaults } from "./checks.ts";
import { type Child, endAll, start } from "./children.ts";
import type { LoaderOrder } from "./loader.ts";

const SEED = Number(process.env.WEB_FAULT_SEED ?? 1);
const ACTORS = 3;
const FUNDS = 1_000;

const killsOn = (backend: string): number => Number(process.env.WEB_FAULT_KILLS ?? (backend === "redis" ? 6 : 3));

interface Run {
  readonly deeds: Deed[];
  readonly faults: string[];
  /** Answers that were lost on purpose. */
  readonly lost: number;
}

async function prepare(store: Store): Promise<void> {
  for (const way of MARKETS) {
    const market = new Market(store, way);
    for (const user of TRADERS) await market.deposit(user, FUNDS);
    for (const [nth, item] of GOODS.entries()) await market.mint(TRADERS[nth % TRADERS.length]!, item);
  }
  const board = new Board(store, "news");
  for (const id of ARTICLES) await board.post("poster", { title: id }, { id });
}

async function alwaysFaults(store: Store): Promise<string[]> {
  const faults = await votingFaults(store);
  for (const way of MARKETS) faults.push(...(await marketFaults(store, way)).faults);
  return faults;
}

/** What is in the requests of each component. */
const REQUESTS = [":batch:", "cart:{", "session:{", "voting:{", "market:{script}", "market:{watch}", "market:{lock}"];

/** Kills an actor and loses answers again and again, and looks at the store after each; then lets the last ones end. */
async function runActors(store: Store, proxy: FaultyProxy, kills: number): Promise<Run> {
  const random = randomFrom(SEED);
  const histories: Deeds[] = [];
  const faults: string[] = [];
  let heard = 0;
  let enough = { lines: Number.POSITIVE_INFINITY, resolve: () => {} };
  const startOne = (): Child => {
    const deeds = new Deeds();
    const name = `actor${histories.push(deeds)}`;
    const order: Order = { url: proxy.url, name, seed: SEED * 1_000 + histories.length };
    return start("actor.ts", order, (line) => {
      deeds.hear(JSON.parse(line) as Line);
      if (++heard >= enough.lines) enough.resolve();
    });
  };
  const moreLines = (count: number): Promise<void> =>
    new Promise((resolve) => {
      enough = { lines: heard + count, resolve };
    });
  const actors = Array.from({ length: ACTORS }, startOne);
  await Promise.all(actors.map(({ ready }) => ready));
  let lost = 0;
  for (let nth = 0; nth < kills; nth++) {
    await moreLines(100 + random(600));
    const at = random(ACTORS);
    const victim = actors[at]!;
    victim.kill("SIGKILL");
    await victim.ended;
    actors[at] = startOne();
    faults.push(...(await alwaysFaults(store)));
    await actors[at]!.ready;
    for (let each = 0; each < 2; each++, lost++) {
      await moreLines(50 + random(100));
      await proxy.loseAnswerOf(REQUESTS[lost % REQUESTS.length]!);
    }
  }
  await moreLines(500);
  for (const actor of actors) actor.kill("SIGTERM");
  expect(await Promise.all(actors.map(({ ended }) => ended))).toEqual(actors.map(() => 0));
  faults.push(...(await alwaysFaults(store)));
  return { deeds: histories.flatMap(({ all }) => all), faults, lost };
}

/** Does again what nobody knows the end of, by the same ids, and answers the money that must be there. */
async function settle(store: Store, way: MarketWay, deeds: readonly Deed[]): Promise<number> {
  const market = new Market(store, way, { way });
  let money = FUNDS * TRADERS.length;
  for (const { act, answer } of deeds) {
    if (act.kind === "buy" && act.way === way && answer === null) {
      await market.buy(act.user, act.item, act.price, { id: act.id });
    }
    if (act.kind !== "move" || act.way !== way) continue;
    const known = answer ?? (await moved(market, act));
    if (known === "deposited" || known === "withdrawn") money += act.amount;
    else expect(known).toBe("insufficient-funds");
  }
  return money;
}

async function moved(
  market: Market,
  { user, amount, id }: { user: string; amount: number; id: string },
): Promise<string> {
  const outcome = amount > 0 ? market.deposit(user, amount, { id }) : market.withdraw(user, -amount, { id });
  return (await outcome).status;
}

function tally(deeds: readonly Deed[]): string {
  const counts = new Map<string, number>();
  for (const { act, answer } of deeds) {
    const bought = act.kind === "buy" && answer === "bought" ? "bought" : act.kind;
    const what = "way" in act ? `${bought} by ${act.way}` : act.kind;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, count]) => `${what} ${count}`).join(", ");
}

describeBackends("web components", { backends: full ? ["tcp", "redis"] : ["redis"], audit: false }, (backend) => {
  afterEach(endAll);

  test(
    "keep their promises while processes that use them are killed and answers lost",
    async () => {
      const { store } = backend;
      const kills = killsOn(backend.name);
      await prepare(store);
      const proxy = await FaultyProxy.open(backend.ports[0]!);
      onTestFinished(() => proxy.close());
      const { deeds, faults, lost } = await runActors(store, proxy, kills);
      for (const way of MARKETS) {
        const expected = await settle(store, way, deeds);
        const { faults: wrong, money } = await marketFaults(store, way);
        faults.push(...wrong);
        if (money !== expected) faults.push(`${way}: there is ${money}, and should be ${expected}`);
      }
      faults.push(...(await lastVoteFaults(store, deeds)));
      faults.push(...(await cartFaults(store, new Carts(store, CARTS), deeds)));
      faults.push(...(await sessionFaults(store, new Sessions(store, SESSIONS), deeds)));
      const { faults: miscounted, counted, begun } = await counterFaults(new Counters(store, COUNTERS), deeds);
      faults.push(...miscounted);
      expect(faults).toEqual([]);
      const unknown = deeds.filter(({ answer }) => answer === null).length;
      console.log(
        `${backend.name}: ${kills} actors killed, ${lost} answers lost, ${deeds.length} acts, ${unknown} with an unknown end: ` +
          `${tally(deeds)}; ${counted} of ${begun} counted`,
      );
      const answered = new Set(deeds.flatMap(({ act, answer }) => ("way" in act && answer !== null ? [act.way] : [])));
      expect([...answered].sort()).toEqual([...MARKETS].sort());
      expect(deeds.some(({ answer }) => answer === "bought")).toBe(true);
    },
    60_000 + 20_000 * killsOn(backend.name),
  );

  test("a cached value whose loader is killed is made by another when the lease is over, once", async () => {
    const loadMs = 1_000;
    const order: LoaderOrder = { url: backend.url!, loadMs };
    const loader = start("loader.ts", order, () => {});
    await loader.ready;
    loader.kill("SIGKILL");
    await loader.ended;
    const stores = await Promise.all([backend.open(), backend.open(), backend.open()]);
    const caches = stores.map((store) => new Cache<string>(store, "things", { leaseMs: loadMs }));
    let loads = 0;
    const load = (): string => {
      loads++;
      return "made";
    };
    const started = performance.now();
    const values = await Promise.all(
      caches.flatMap((cache) => Array.from({ length: 10 }, () => cache.get("cold", load))),
    );
    console.log(`${backend.name}: waited ${Math.round(performance.now() - started)} ms for a lease of ${loadMs} ms`);
    expect(values).toEqual(Array.from({ length: 30 }, () => "made"));
    expect(loads).toBe(1);
  });
});
