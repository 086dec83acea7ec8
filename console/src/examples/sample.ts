/**
 * Sample data of the examples: made by one click, removed by one. Removal finds the keys by SCAN over the example's own prefix,
 * on every node, and unlinks them in pipelines; so it needs no list of what was written, and cannot touch anything else.
 *
 * Work goes on when the page that asked for it is gone. A second request while it is under way waits for the same work.
 */
import { Registry, type Store } from "cinnabar";
import { announce } from "../events.ts";
import { scan } from "../nodes.ts";
import { type Context, Problem } from "../route.ts";
import { untraced } from "../trace.ts";
import type { Example } from "./example.ts";

export interface SampleState {
  readonly state: "absent" | "present" | "making" | "removing";
  readonly done: number;
  /** 0 where nobody knows. */
  readonly total: number;
}

interface Work {
  readonly what: "making" | "removing";
  done: number;
  total: number;
  promise: Promise<void>;
}

const STEP = 1_000;
const underWay = new WeakMap<Store, Map<string, Work>>();

const markOf = ({ name }: Example): string => `example:${name}:sample`;

export async function sampleState({ store }: Context, example: Example): Promise<SampleState> {
  const work = underWay.get(store)?.get(example.name);
  if (work !== undefined) return { state: work.what, done: work.done, total: work.total };
  const made = await store.call("EXISTS", markOf(example));
  return { state: made === 1 ? "present" : "absent", done: 0, total: 0 };
}

export async function makeSample(context: Context, example: Example): Promise<void> {
  await work(context, example, "making", async (work) => {
    await example.make(context, (done, total) => {
      work.done = done;
      work.total = total;
    });
    await context.store.call("SET", markOf(example), "1");
  });
}

/** Removes everything that the example has written. Answers how many keys. */
export async function removeSample(context: Context, example: Example): Promise<number> {
  let removed = 0;
  await work(context, example, "removing", async (work) => {
    await example.beforeRemoval?.(context);
    let cursor = "0";
    do {
      const step = await scan(context.store, cursor, { match: `example:${example.name}:*`, count: STEP });
      removed += await unlink(context.store, step.keys);
      work.done = removed;
      cursor = step.cursor;
    } while (cursor !== "0");
    await unlist(context.store, example);
  });
  return removed;
}

/** Takes what the example has used out of the lists of what there is in the store. */
async function unlist(store: Store, example: Example): Promise<void> {
  const registry = new Registry(store);
  const kinds = new Set([...(await registry.components()).map(({ component }) => component), "mailboxes", "visitors"]);
  for (const kind of kinds) {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await registry.list(kind, { limit: STEP, ...(cursor !== undefined && { cursor }) });
      for (const thing of page.items) {
        if (thing.prefix.startsWith(`example:${example.name}:`)) await registry.delete(kind, thing);
      }
      cursor = page.cursor;
    }
  }
}

/** One command for each key: in a Cluster they are in different slots. */
async function unlink(store: Store, keys: readonly Buffer[]): Promise<number> {
  const answers = await store.pipeline(keys.map((key) => ["UNLINK", key]));
  return answers.reduce<number>((sum, answer) => {
    if (answer instanceof Error) throw answer;
    return sum + Number(answer);
  }, 0);
}

async function work(
  { store }: Context,
  example: Example,
  what: Work["what"],
  run: (work: Work) => Promise<void>,
): Promise<void> {
  const works = underWay.get(store) ?? new Map<string, Work>();
  underWay.set(store, works);
  const before = works.get(example.name);
  if (before?.what === what) return before.promise;
  if (before !== undefined) {
    throw new Problem(409, "BUSY", `the sample is ${before.what === "making" ? "being made" : "being removed"}`);
  }
  const mine: Work = { what, done: 0, total: 0, promise: Promise.resolve() };
  works.set(example.name, mine);
  mine.promise = untraced(() => run(mine)).finally(() => works.delete(example.name));
  await mine.promise;
  await announce(store, example.name, { type: what === "making" ? "sample" : "removed" });
}
