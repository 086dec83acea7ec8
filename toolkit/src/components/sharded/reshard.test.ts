/** The number of shards changes while others read and write: nobody notices, although processes die in the middle. */
import { describe, expect, test } from "vitest";
import { beforeScript } from "../../../tests/kit/before-script.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import type { Store } from "../../connection/store.ts";
import { ShardedHash, ShardedSet, ShardedSortedSet } from "./index.ts";
import { all, type PairKind, pairOf, randomFrom } from "./testing/models.ts";

/** SHARDED_ROUNDS=20000 SHARDED_SEED=7 runs it long. */
const ROUNDS = Number(process.env.SHARDED_ROUNDS ?? 0);
const SEED = Number(process.env.SHARDED_SEED ?? 1);

const SMALL = { tags: 3, expected: 60, shardSize: 16 } as const;

/** A store on which a mover dies: its next script of that name is not sent. */
const dying = (store: Store, name: string): Store =>
  beforeScript(store, name, () => {
    throw new Error("killed");
  });

describeBackends("changing the layout", { audit: false }, (backend) => {
  const rounds = ROUNDS || (backend.name === "embedded" ? 400 : 150);

  describe.each(["hash", "set", "zset", "bitmap"] satisfies PairKind[])("of a %s", (kind) => {
    test("it equals the unsharded one under random operations of three clients all along", async () => {
      const stores = [backend.store, await backend.open(), await backend.open()];
      const random = randomFrom(SEED);
      const pair = pairOf(kind, stores);
      let begun = 0;
      let ended = 0;
      let isMoving = false;
      for (let round = 0; round < rounds; round++) {
        const [what, found, expected] = await pair.act(random);
        expect([round, what, found]).toEqual([round, what, expected]);
        if (random(20) === 0) {
          const target =
            kind === "bitmap"
              ? { shardSize: 2 ** (10 + random(11)) }
              : { shards: 3 + random(60), shardSize: 2 ** random(6) };
          const didBegin = await pair.shards.reshard(target);
          expect(didBegin).toBe(!isMoving);
          isMoving = true;
          if (didBegin) begun++;
        }
        if (isMoving && random(4) === 0) {
          const { finished } = await pair.shards.move({ maxSteps: 1 + random(3), leaseMs: 1 });
          if (finished) ended++;
          isMoving = !finished;
          expect((await pair.shards.inspect()).moving === null).toBe(finished);
        }
        if (random(60) === 0) {
          const [state, model] = await pair.state();
          expect(state).toEqual(model);
        }
      }
      while (!(await pair.shards.move({ leaseMs: 1 })).finished);
      const [state, model] = await pair.state();
      expect(state).toEqual(model);
      expect(begun).toBeGreaterThan(1);
      expect(ended).toBeGreaterThan(0);
      const { generation, moving } = await pair.shards.inspect();
      expect([generation, moving]).toEqual([2 * (begun + 1), null]);
    }, 120_000);
  });

  test("a client with the old layout is told, at its first call and not again", async () => {
    const mine = new ShardedHash<number>(backend.store, "subject", SMALL);
    await mine.setMany(Array.from({ length: 50 }, (_, nth) => [`f${nth}`, nth]));
    const trips: string[] = [];
    const theirs = new ShardedHash<number>(
      await backend.open({ hooks: { roundTrip: ({ name }) => void trips.push(name) } }),
      "subject",
      SMALL,
    );
    expect(await theirs.get("f1")).toBe(1);
    await mine.shards.reshard({ shards: 30 });
    await mine.shards.move();
    trips.length = 0;
    expect(await theirs.get("f1")).toBe(1);
    expect(trips.length).toBe(2);
    trips.length = 0;
    expect(await theirs.get("f1")).toBe(1);
    expect(await theirs.set("f1", 2)).toBe(false);
    expect(trips.length).toBe(2);
    expect(await mine.get("f1")).toBe(2);
  });

  test.each(["sharded.begin", "sharded.claim", "sharded.move-set", "sharded.settle", "sharded.settle-root"])(
    "another goes on when a mover dies before %s",
    async (script) => {
      const { store } = backend;
      const set = new ShardedSet(store, "subject", SMALL);
      const members = Array.from({ length: 200 }, (_, nth) => (nth % 3 === 0 ? String(nth) : `m${nth}`));
      await set.addMany(members);
      // A pipeline is not one script: of one tag's step the mover dies before, and one with one tag sends it alone.
      const single = new ShardedSet(store, "single", { ...SMALL, tags: 1, expected: 5 });
      await single.addMany(members.slice(0, 10));
      for (const subject of [set, single]) {
        const dead = new ShardedSet(dying(store, script), subject.name, SMALL);
        const outcome = await dead.shards
          .reshard({ shards: 40, shardSize: 4 })
          .then(() => dead.shards.move({ leaseMs: 1 }))
          .catch((error: Error) => error.message);
        if (subject === single && script !== "sharded.begin") expect(outcome).toBe("killed");
        await expect.poll(async () => (await subject.shards.move()).finished, { timeout: 20_000 }).toBe(true);
        expect(await subject.shards.inspect()).toMatchObject({ generation: 4, moving: null });
      }
      expect((await all(set.members())).sort()).toEqual([...members].sort());
      expect((await all(single.members())).sort()).toEqual(members.slice(0, 10).sort());
    },
  );

  test("two movers at once move everything once", async () => {
    const set = new ShardedSet(backend.store, "subject", SMALL);
    const other = new ShardedSet(await backend.open(), "subject", SMALL);
    const members = Array.from({ length: 600 }, (_, nth) => `m${nth}`);
    await set.addMany(members);
    await set.shards.reshard({ shards: 90 });
    const results = await Promise.all([set.shards.move(), other.shards.move()]);
    expect(results[0]!.moved + results[1]!.moved).toBe(600);
    await expect.poll(async () => (await set.shards.move()).finished, { timeout: 20_000 }).toBe(true);
    expect((await all(other.members())).sort()).toEqual([...members].sort());
  });

  test("going through all meets every element, whatever is moved meanwhile", async () => {
    const zset = new ShardedSortedSet(backend.store, "subject", { ...SMALL, expected: 1_000 });
    const set = new ShardedSet(backend.store, "other", { ...SMALL, expected: 1_000 });
    const members = Array.from({ length: 500 }, (_, nth) => (nth % 2 === 0 ? String(nth) : `m${nth}`));
    await zset.addMany(members.map((member, nth) => [member, nth]));
    await set.addMany(members);
    for (const subject of [zset, set]) {
      const met = new Set<string>();
      const random = randomFrom(SEED);
      let cursor: string | undefined;
      do {
        const page = await subject.list({ limit: 20, ...(cursor === undefined ? {} : { cursor }) });
        for (const element of page.items) met.add(typeof element === "string" ? element : element.member);
        cursor = page.cursor ?? undefined;
        if (met.size < 250 || random(3) === 0)
          await subject.shards.reshard({ shards: 3 + random(60), shardSize: 2 ** random(6) });
        await subject.shards.move({ maxSteps: 1 + random(4), leaseMs: 1 });
      } while (cursor !== undefined);
      expect([...met].sort()).toEqual([...members].sort());
      expect((await subject.shards.inspect()).generation).toBeGreaterThan(2);
    }
  });

  test("the number of shards follows the number of elements by itself", async () => {
    const set = new ShardedSet(backend.store, "subject", { tags: 2, expected: 10, shardSize: 32, ids: "hash" });
    const members = Array.from({ length: 1_500 }, (_, nth) => `member ${nth}`);
    await set.addMany(members);
    const mover = set.shards.mover();
    expect((await set.shards.inspect()).shards).toBe(2);
    while ((await mover.runOnce()) > 0);
    const grown = (await set.shards.inspect()).shards;
    expect(grown).toBeGreaterThan(80);
    const full = [...(await set.shards.inspectTag(0)), ...(await set.shards.inspectTag(1))].filter(
      ({ elements }) => elements > 32,
    );
    expect(full).toEqual([]);
    await set.deleteMany(members.slice(10));
    while ((await mover.runOnce()) > 0);
    expect((await set.shards.inspect()).shards).toBeLessThan(grown / 4);
    expect((await all(set.members())).sort()).toEqual(members.slice(0, 10).sort());
  });
});
