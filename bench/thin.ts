/**
 * What a component adds to the engine: one awaited call after the other on the embedded store, beside the same scripts run by the
 * engine's own client in the same process, with the same words. The scripts and words are those that the component has sent.
 * Microseconds, rounds in turn, medians. A cache hit and a session's load send one command rather than a script; beside it stands a
 * script that runs that command. A cache miss is its own row: there is nothing in the engine that makes values.
 */
import { Engine } from "@cinnabar/engine";
import { open, type RoundTrip } from "cinnabar";
import { Board } from "cinnabar/board";
import { Cache } from "cinnabar/cache";
import { Locks } from "cinnabar/locks";
import { RateLimits } from "cinnabar/rate-limits";
import { Sessions } from "cinnabar/sessions";
import { median } from "./servers.ts";
import type { Op } from "./web.ts";

export interface ThinRow {
  readonly what: string;
  /** Microseconds. */
  readonly component: number;
  /** Of all its scripts together. Undefined where the engine does something else. */
  readonly engine?: number;
  readonly scripts: number;
}

const SUBJECTS = 1_000;

interface Case {
  readonly what: string;
  readonly op: Op;
  readonly calls: number;
}

async function micros(op: Op, from: number, calls: number): Promise<number> {
  const started = performance.now();
  for (let nth = from; nth < from + calls; nth++) await op(nth);
  return ((performance.now() - started) * 1_000) / calls;
}

export async function compareThin(quick: boolean): Promise<ThinRow[]> {
  const engine = await Engine.open();
  const store = await open(engine);
  const client = engine.connect();
  const limits = new RateLimits(store, { name: "thin", rules: { limit: 1e9, windowMs: 60_000, algorithm: "fixed" } });
  const sessions = new Sessions(store);
  const cache = new Cache<object>(store, "thin", { freshMs: 600_000 });
  const board = new Board(store, "thin");
  const locks = new Locks(store);
  const tokens: string[] = [];
  const articles: string[] = [];
  const value = { name: "Product", text: "Made to last, of good stuff, in many colours and sizes. ".repeat(4) };
  for (let nth = 0; nth < SUBJECTS; nth++) {
    tokens.push((await sessions.create({ user: `user-${nth}`, data: { theme: "dark", visited: ["/", "/a"] } })).token);
    await cache.set(`key ${nth}`, value);
    articles.push((await board.post("ann", { title: `Title ${nth}` })).id);
  }
  const cases: readonly Case[] = [
    { what: "rate limit, fixed window", op: (nth) => limits.take(`subject ${nth % SUBJECTS}`), calls: 20_000 },
    { what: "session loaded", op: (nth) => sessions.load(tokens[nth % SUBJECTS]!), calls: 10_000 },
    { what: "cache hit", op: (nth) => cache.get(`key ${nth % SUBJECTS}`, unneeded), calls: 20_000 },
    {
      what: "vote switched",
      op: (nth) => board.vote(articles[nth % SUBJECTS]!, "ben", Math.floor(nth / SUBJECTS) % 2 === 0 ? "up" : "down"),
      calls: 10_000,
    },
    {
      what: "lock taken and given back",
      op: async (nth) => (await locks.acquire(`lock ${nth % SUBJECTS}`))!.release(),
      calls: 10_000,
    },
  ];
  const rows: ThinRow[] = [];
  for (const { what, op, calls } of cases) {
    // Each of the subjects twice, so that what goes to and fro has been there and back.
    const sent = await recorded(() => micros(op, 0, 2 * SUBJECTS));
    const scripts = sent.length / (2 * SUBJECTS);
    const again: Op = async (nth) => {
      const from = (nth % (2 * SUBJECTS)) * scripts;
      for (let at = from; at < from + scripts; at++) await client.call(...sent[at]!);
    };
    const count = quick ? 2 * SUBJECTS : calls;
    const figures = { component: [] as number[], engine: [] as number[] };
    for (let round = 0; round <= (quick ? 1 : 7); round++) {
      const component = await micros(op, 0, count);
      const own = await micros(again, 0, count);
      // The first round warms up.
      if (round === 0) continue;
      figures.component.push(component);
      figures.engine.push(own);
    }
    rows.push({ what, component: median(figures.component), engine: median(figures.engine), scripts });
    process.stderr.write(".");
  }
  let made = 0;
  const misses: number[] = [];
  for (let round = 0; round <= (quick ? 1 : 7); round++) {
    const took = await micros(() => cache.get(`made ${made++}`, () => value), 0, quick ? 500 : 5_000);
    if (round > 0) misses.push(took);
  }
  rows.push({ what: "cache miss: looked for, made and put", component: median(misses), scripts: 3 });
  await store.close();
  await engine.close();
  return rows;

  /** The words of what is sent meanwhile, as EVALSHA. */
  async function recorded(act: () => Promise<unknown>): Promise<(string | number | Uint8Array)[][]> {
    const trips: RoundTrip[] = [];
    const remove = store.on("roundTrip", (trip) => {
      trips.push(trip);
      return undefined;
    });
    await act();
    remove();
    const inScript = await client.call("SCRIPT", "LOAD", "return redis.call(unpack(ARGV))");
    return trips.flatMap(({ items }) =>
      items.flatMap((item): (string | number | Uint8Array)[][] => {
        if (!("script" in item)) {
          const words = item as readonly (string | number)[];
          // Announcements of names go beside the work.
          return words[0] === "HMGET" || words[0] === "HGETALL"
            ? [["EVALSHA", String(inScript), 1, words[1]!, ...words]]
            : [];
        }
        const { script, keys, args } = item;
        if (/^(layouts|names)\./.test(script.name) || script.name === "sessions.live") return [];
        return [["EVALSHA", script.sha, keys.length, ...keys, ...(args as (string | number | Uint8Array)[])]];
      }),
    );
  }
}

function unneeded(): never {
  throw new Error("the value is in the cache");
}

export function thinTable(rows: readonly ThinRow[]): string {
  const figure = (value: number): string => value.toFixed(value < 10 ? 2 : 1);
  return [
    "**Components on the embedded store**: µs for a call, beside the engine's own EVALSHA of the same scripts",
    "",
    "| call | scripts | component | engine | ratio |",
    "| --- | ---: | ---: | ---: | ---: |",
    ...rows.map(({ what, scripts, component, engine }) =>
      engine === undefined
        ? `| ${what} | | ${figure(component)} | | |`
        : `| ${what} | ${scripts} | ${figure(component)} | ${figure(engine)} | ${(component / engine).toFixed(2)} |`,
    ),
  ].join("\n");
}
