/**
 * Sharded structures under load, with crashes: processes write and read, others change the layouts and move elements, and all of them
 * are killed at random moments. Nothing is lost, nothing is there twice, and nobody ever reads anything but what was written.
 *
 * SHARDED_FAULT_KILLS=100 SHARDED_FAULT_SEED=7 runs it long.
 */
import { afterEach, expect, test } from "vitest";
import { full } from "../../../../scripts/full.ts";
import type { Store } from "../../../src/connection/store.ts";
import { describeBackends } from "../../kit/index.ts";
import { type Child, endAll, start } from "../web/children.ts";
import { type Act, type ActorOrder, KINDS, type Kind, type Line, type MoverOrder, randomFrom } from "./acts.ts";
import { listOf, subjectsOf } from "./structures.ts";

const SEED = Number(process.env.SHARDED_FAULT_SEED ?? 1);
const killsOn = (backend: string): number => Number(process.env.SHARDED_FAULT_KILLS ?? (backend === "redis" ? 4 : 2));

interface Deed {
  readonly act: Act;
  /** Undefined: nobody knows how it ended. */
  answer: string | null | undefined;
}

interface History {
  readonly deeds: Deed[];
  readonly faults: string[];
}

interface Told {
  histories: History[];
  begun: number;
  moved: number;
}

/** Runs actors and movers, kills one of them again and again, and lets the last ones end. */
async function runAll(url: string, kills: number): Promise<Told> {
  const random = randomFrom(SEED);
  const told: Told = { histories: [], begun: 0, moved: 0 };
  let heard = 0;
  let enough = { lines: Number.POSITIVE_INFINITY, resolve: () => {} };
  let started = 0;
  const hear = (): void => {
    if (++heard >= enough.lines) enough.resolve();
  };
  const moreLines = (count: number): Promise<void> =>
    new Promise((resolve) => {
      enough = { lines: heard + count, resolve };
    });
  const startActor = (): Child => {
    const history: History = { deeds: [], faults: [] };
    told.histories.push(history);
    const seed = SEED * 50 + ++started;
    const order: ActorOrder = { url, name: `actor${seed}`, seed };
    return start("../sharded/actor.ts", order, (text) => {
      const line = JSON.parse(text) as Line;
      if (line.t === "try") history.deeds[line.n] = { act: line.act, answer: undefined };
      else if (line.t === "ok") history.deeds[line.n]!.answer = line.answer;
      else if (line.t === "fault") history.faults.push(line.what);
      hear();
    });
  };
  const startMover = (): Child => {
    const order: MoverOrder = { url, seed: SEED * 50 + ++started };
    return start("../sharded/mover.ts", order, (text) => {
      const line = JSON.parse(text) as { t: string; moved?: number };
      if (line.t === "begun") told.begun++;
      told.moved += line.moved ?? 0;
      hear();
    });
  };
  const starters = [startActor, startActor, startMover, startMover];
  const children = starters.map((startOne) => startOne());
  await Promise.all(children.map(({ ready }) => ready));
  for (let nth = 0; nth < kills; nth++) {
    await moreLines(150 + random(300));
    // Movers twice as often.
    const at = [0, 1, 2, 3, 2, 3][random(6)]!;
    children[at]!.kill("SIGKILL");
    await children[at]!.ended;
    children[at] = starters[at]!();
    await children[at]!.ready;
  }
  await moreLines(200);
  for (const child of children) child.kill("SIGTERM");
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual(children.map(() => 0));
  return told;
}

/** What must be there: for each element the values that it may have, since the last write may have been cut off. */
function expectedOf(kind: Kind, histories: readonly History[]): Map<string, (number | null)[]> {
  const expected = new Map<string, (number | null)[]>();
  for (const { deeds } of histories) {
    for (const { act, answer } of deeds) {
      if (act.kind !== kind || !("element" in act)) continue;
      const { element, value } = act;
      expected.set(element, answer === undefined ? [...(expected.get(element) ?? [null]), value] : [value]);
    }
  }
  return expected;
}

async function structureFaults(store: Store, kind: Kind, histories: readonly History[]): Promise<string[]> {
  const subject = subjectsOf(store)[kind];
  const faults: string[] = [];
  const found = await subject.all();
  const size = await subject.size();
  if (size !== found.size) faults.push(`${kind}: its size is ${size}, and there are ${found.size}`);
  const expected = expectedOf(kind, histories);
  for (const [element, values] of expected) {
    const value = found.get(element) ?? null;
    if (!values.includes(value)) faults.push(`${kind}: ${element} is ${value}, and should be ${values.join(" or ")}`);
  }
  for (const element of found.keys()) if (!expected.has(element)) faults.push(`${kind}: nobody wrote ${element}`);
  return faults;
}

/** Everything that was pushed came out once or is still there; one who died while popping may have taken one with it. */
async function listFaults(store: Store, histories: readonly History[]): Promise<string[]> {
  const list = listOf(store);
  const deeds = histories.flatMap((history) => history.deeds);
  const popped = deeds.flatMap(({ act, answer }) => (act.kind === "pop" && answer ? [answer] : []));
  const there: string[] = [];
  for await (const value of list.items()) there.push(value);
  const faults: string[] = [];
  if ((await list.count()) !== there.length) faults.push("the list is not as long as what is in it");
  const out = [...popped, ...there];
  if (new Set(out).size !== out.length) faults.push("the list has given something twice");
  const begun = new Set(deeds.flatMap(({ act }) => (act.kind === "push" ? [act.value] : [])));
  for (const value of out) if (!begun.has(value)) faults.push(`nobody pushed ${value}`);
  const pushed = deeds.flatMap(({ act, answer }) => (act.kind === "push" && answer !== undefined ? [act.value] : []));
  const outs = new Set(out);
  const lost = pushed.filter((value) => !outs.has(value)).length;
  const cutOff = deeds.filter(({ act, answer }) => act.kind === "pop" && answer === undefined).length;
  if (lost > cutOff) faults.push(`the list has lost ${lost}, and ${cutOff} pops were cut off`);
  return faults;
}

describeBackends(
  "sharded structures",
  { backends: full ? ["redis", "cluster"] : ["redis"], audit: false },
  (backend) => {
    afterEach(endAll);

    test(
      "lose nothing while processes that use them, and that change them, are killed",
      async () => {
        const { store } = backend;
        const kills = killsOn(backend.name);
        const { histories, begun, moved } = await runAll(backend.url!, kills);
        const subjects = subjectsOf(store);
        for (const kind of KINDS) {
          await expect.poll(async () => (await subjects[kind].shards.move()).finished, { timeout: 20_000 }).toBe(true);
        }
        const faults = histories.flatMap((history) => history.faults);
        for (const kind of KINDS) faults.push(...(await structureFaults(store, kind, histories)));
        faults.push(...(await listFaults(store, histories)));
        expect(faults).toEqual([]);
        const deeds = histories.flatMap((history) => history.deeds);
        const unknown = deeds.filter(({ answer }) => answer === undefined).length;
        console.log(
          `${backend.name}: ${kills} processes killed, ${deeds.length} writes, ${unknown} with an unknown end, ` +
            `${begun} changes of a layout, ${moved} elements moved`,
        );
        expect(begun).toBeGreaterThan(0);
        expect(moved).toBeGreaterThan(0);
      },
      60_000 + 20_000 * killsOn(backend.name),
    );
  },
);
