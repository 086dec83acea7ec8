/** Locks and what stands on scripts in a Cluster whose slots are being moved: a script runs whole, or not at all. */
import { afterEach, expect, test, vi } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { SlotMoves } from "../../../tests/kit/slot-moves.ts";
import { defineScript } from "../../base/script.ts";
import { slotOf } from "../../connection/slots.ts";
import { Locks } from "./index.ts";

describeBackends(
  "a slot that is being moved",
  { backends: ["cluster", "embedded-cluster"], fixedServer: true },
  (backend) => {
    let moves: SlotMoves | undefined;

    afterEach(async () => {
      await moves?.stop();
      moves = undefined;
    });

    const begin = (key: string) => {
      moves = new SlotMoves({ ports: backend.ports });
      return moves.begin(slotOf(key));
    };

    test("a lock has one holder, also when it is released meanwhile", async () => {
      const [a, b, c] = [backend.store, await backend.open(), await backend.open()].map((store) => new Locks(store));
      const held = await a!.acquire("order", { leaseMs: 30_000 });
      const waiting = b!.acquire("order", { leaseMs: 30_000, waitMs: 30_000 });
      await vi.waitFor(async () => expect((await a!.inspect("order")).waiting).toBe(1), 10_000);
      const moving = await begin("{order}");
      const released = held!.release();
      const early = await Promise.race([waiting, new Promise((resolve) => setImmediate(resolve))]);
      expect(early).toBeUndefined();
      const other = c!.acquire("order", { leaseMs: 30_000, waitMs: 0 });
      await moving.carry(1);
      await moving.finish();
      expect(await released).toBe(true);
      const next = await waiting;
      expect(next).not.toBeNull();
      expect(await other).toBeNull();
      const { holders, waiting: left } = await a!.inspect("order");
      expect(holders.map(({ fence }) => fence)).toEqual([next!.fence]);
      expect(left).toBe(0);
    }, 60_000);

    test("a lease is renewed while its slot is on its way", async () => {
      const locks = new Locks(backend.store);
      const lease = await locks.acquire("long", { leaseMs: 1_000 });
      const moving = await begin("{long}");
      const { fence } = lease!;
      // Twice its length, measured by the server: it would be over if it were not renewed.
      const until = Number(((await backend.store.call("TIME")) as string[])[0]) + 2;
      await expect
        .poll(async () => Number(((await backend.store.call("TIME")) as string[])[0]), { timeout: 20_000 })
        .toBeGreaterThan(until);
      expect(lease!.validForMs).toBeGreaterThan(0);
      await moving.finish();
      expect((await locks.inspect("long")).holders.map((holder) => holder.fence)).toEqual([fence]);
    }, 60_000);

    const empties = defineScript({
      name: "test.empties",
      keys: ["list", "log"],
      lua: `
      redis.call("RPUSH", log, "begun")
      redis.call("DEL", list)
      redis.call("RPUSH", list, "again")
      return redis.call("RPUSH", log, "ended")
    `,
      reply: Number,
    });

    test("a script that empties a key and makes it again waits for the end of the move, also in a pipeline", async () => {
      const { store } = backend;
      const keys = { list: "list:{m}", log: "log:{m}" };
      await store.call("RPUSH", keys.list, "first");
      await store.call("RPUSH", keys.log, "start");
      const moving = await begin("{m}");
      const run = store.run(empties, keys);
      const piped = store.pipeline([empties.with(keys), ["LLEN", "other:{m}"]]);
      await moving.carry(1);
      await moving.finish();
      await run;
      expect((await piped)[1]).toBe(0);
      expect(await store.call("LRANGE", keys.log, 0, -1)).toEqual(["start", "begun", "ended", "begun", "ended"]);
      expect(await store.call("LRANGE", keys.list, 0, -1)).toEqual(["again"]);
    }, 60_000);

    const increment = defineScript({
      name: "test.increment",
      keys: ["count"],
      lua: `return redis.call("INCR", count)`,
      reply: Number,
    });

    test("a transaction with a script runs whole, after the end of the move", async () => {
      const { store } = backend;
      const [count, other] = ["count:{t}", "other:{t}"];
      await store.pipeline([
        ["SET", count, 0],
        ["SET", other, 0],
      ]);
      const moving = await begin("{t}");
      const items = [increment.with({ count }), ["INCR", other]] as const;
      const plain = store.multi(items);
      const watched = store.transaction({ watch: [count] }, () => items);
      await moving.carry(1);
      await moving.finish();
      for (const answers of [await plain, (await watched)!]) expect(answers[0]).toBe(answers[1]);
      expect(await store.call("MGET", count, other)).toEqual(["2", "2"]);
    }, 60_000);
  },
);
