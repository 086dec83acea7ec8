/**
 * Safety by history: players take locks and semaphores at random, with clocks that are wrong; some are killed, some are stopped
 * for longer than their leases. What they believed is written down and judged (check.ts).
 *
 * CINNABAR_HISTORY_SECONDS=300 plays longer, CINNABAR_HISTORY_SEED=n plays other games.
 */
import { Engine } from "@cinnabar/engine";
import { describe, expect, test } from "vitest";
import { full } from "../../../../scripts/full.ts";
import { Locks } from "../../../src/components/locks/index.ts";
import { Semaphores } from "../../../src/components/semaphores/index.ts";
import { open } from "../../../src/connection/open.ts";
import { WHOLE_LOCK } from "../../../src/leases/scripts.ts";
import { describeBackends } from "../../kit/index.ts";
import { keysIn } from "../../kit/keys.ts";
import { type Interruption, judge } from "./check.ts";
import { ended, start } from "./children.ts";
import { micros, type Note, type Plan, Player, randomFrom } from "./player.ts";

const SECONDS = Number(process.env.CINNABAR_HISTORY_SECONDS ?? 5);
const SEED = Number(process.env.CINNABAR_HISTORY_SEED ?? 20261115);
const LIMIT = 3;
const LOCKS = ["door", "gate"];
const SEMAPHORES = ["seats", "beds"];
const limitOf = (name: string): number => (LOCKS.includes(name) ? WHOLE_LOCK : LIMIT);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
describeBackends("a random history", { backends: full ? ["redis", "tcp"] : ["redis"], audit: false }, (backend) => {
  test(`of killed and stopped players with wrong clocks is sound (seed ${SEED}, ${SECONDS} s)`, {
    timeout: SECONDS * 1_000 + 90_000,
  }, async () => {
    const random = randomFrom(SEED);
    const notes: Note[] = [];
    const interruptions: Interruption[] = [];
    let count = 0;
    const join = async () => {
      const player = `p${count++}`;
      const seed = Math.floor(random() * 2 ** 31);
      const plan: Plan = { url: backend.url!, player, seed, locks: LOCKS, semaphores: SEMAPHORES, limit: LIMIT };
      return { player, child: await start("player.ts", plan, (line) => notes.push(JSON.parse(line) as Note)) };
    };
    const players = await Promise.all(Array.from({ length: 5 }, join));
    const end = micros() + SECONDS * 1e6;
    for (let round = 0; micros() < end; round++) {
      await pause(100 + random() * 400);
      const at = Math.floor(random() * players.length);
      const { player, child } = players[at]!;
      if (round % 4 === 1) {
        const gone = ended(child);
        child.kill("SIGKILL");
        interruptions.push({ player, from: micros(), to: Number.POSITIVE_INFINITY });
        await gone;
        players[at] = await join();
      } else {
        const from = micros();
        child.kill("SIGSTOP");
        await pause(random() * 1_500);
        child.kill("SIGCONT");
        interruptions.push({ player, from, to: micros() });
      }
    }
    await Promise.all(
      players.map(({ child }) => {
        const over = ended(child);
        child.kill("SIGTERM");
        return over;
      }),
    );
    const verdict = judge(notes, interruptions, limitOf);
    console.log(
      `${backend.name}: ${verdict.leases} leases, ${verdict.handedOver} after waiting, ${verdict.lost} lost,`,
      `${interruptions.length} interruptions`,
    );
    expect(verdict.violations).toEqual([]);
    expect(verdict.leases).toBeGreaterThan(20);
    expect(interruptions.some(({ to }) => to === Number.POSITIVE_INFINITY)).toBe(true);
    await expectCleanUp(backend.store);
  });
});

/** What killed players held comes back within a lease, and nothing stays for good. */
async function expectCleanUp(store: Awaited<ReturnType<typeof open>>): Promise<void> {
  const locks = new Locks(store);
  const semaphores = new Semaphores(store, { limit: LIMIT });
  for (const name of LOCKS) expect(await (await locks.acquire(name))?.release()).toBe(true);
  for (const name of SEMAPHORES)
    expect(await (await semaphores.acquire(name, { permits: LIMIT }))?.release()).toBe(true);
  for (const key of await keysIn(store)) {
    // A line may still contain waiters that died; it has not come to them yet.
    expect(key).not.toMatch(/:\{(door|gate|seats|beds)\}:held$/);
    expect(Number(await store.call("PTTL", key)), key).toBeGreaterThan(0);
  }
}

describe("a random history on the embedded store", () => {
  test("of players with wrong clocks is sound", { timeout: 60_000 }, async () => {
    const engine = await Engine.open();
    const notes: Note[] = [];
    const players = Array.from({ length: 6 }, (_, n) => {
      const plan = { url: "", player: `e${n}`, seed: SEED + n, locks: LOCKS, semaphores: SEMAPHORES, limit: LIMIT };
      return new Player(plan, (note) => notes.push(note));
    });
    const stores = await Promise.all(players.map((player) => open(engine, player.openOptions())));
    const over = Promise.all(players.map((player, n) => player.play(stores[n]!)));
    await pause(Math.min(SECONDS, 60) * 400);
    for (const player of players) player.stopping = true;
    await over;
    const verdict = judge(notes, [], limitOf);
    console.log(`embedded: ${verdict.leases} leases, ${verdict.handedOver} after waiting, ${verdict.lost} lost`);
    expect(verdict.violations).toEqual([]);
    expect(verdict.leases).toBeGreaterThan(10);
    await expectCleanUp(stores[0]!);
    await Promise.all(stores.map((store) => store.close()));
    await engine.close();
  });
});

describe("the judge", () => {
  const got = (id: string, from: number, until: number, fence: number, more: object = {}): Note => ({
    what: "got",
    id,
    player: id,
    name: "door",
    weight: WHOLE_LOCK,
    fence,
    start: from - 2,
    asked: from - 1,
    got: from,
    until,
    again: false,
    ...more,
  });
  const violations = (notes: Note[], interruptions: Interruption[] = []): readonly string[] =>
    judge(notes, interruptions, limitOf).violations;

  test("passes what is sound", () => {
    expect(violations([got("a", 10, 20, 1), got("b", 20, 30, 2)])).toEqual([]);
    const shared = { weight: 1 };
    expect(violations([got("a", 10, 20, 1, shared), got("b", 15, 30, 2, shared)])).toEqual([]);
  });

  test("finds two holders at a time, equal and shrinking fences, overtaking, and refused holders", () => {
    expect(violations([got("a", 10, 20, 1), got("b", 15, 30, 2)])).toHaveLength(1);
    expect(violations([got("a", 10, 12, 2), got("b", 20, 30, 1)])).toHaveLength(1);
    expect(violations([got("a", 10, 12, 2), got("b", 20, 30, 2)]).length).toBeGreaterThan(0);
    expect(violations([got("a", 30, 40, 2, { start: 1, asked: 2 }), got("b", 20, 30, 1, { start: 5 })])).toHaveLength(
      1,
    );
    expect(violations([got("a", 10, 12, 1), { what: "refused", id: "a" }])).toHaveLength(1);
  });

  test("counts the dead out, and late renewals in", () => {
    const killed = [{ player: "a", from: 14, to: Number.POSITIVE_INFINITY }];
    expect(violations([got("a", 10, 20, 1), got("b", 15, 30, 2)], killed)).toEqual([]);
    expect(violations([got("a", 10, 12, 1), { what: "valid", id: "a", until: 20 }, got("b", 15, 30, 2)])).toHaveLength(
      1,
    );
    expect(
      violations([got("a", 10, 20, 1), { what: "end", id: "a", at: 14, lost: false }, got("b", 15, 30, 2)]),
    ).toEqual([]);
  });
});
