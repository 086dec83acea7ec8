/**
 * Visits by country and day out of packed access logs, sent and counted by processes that are killed at random moments, again and
 * again: what is counted in the end must be what one pass over the logs gives. FILES_KILLS sets how many are killed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, expect, test } from "vitest";
import { nodeWords } from "../../../../scripts/program.ts";
import { Files } from "../../../src/components/files/index.ts";
import { Places, ranges } from "../../../src/components/places/index.ts";
import { open } from "../../../src/connection/open.ts";
import { installed, startRedis } from "../../kit/servers.ts";
import { CHANNEL, FILES, linesOf, type Order, RANGES, visitIn } from "./log.ts";

const KILLS = Number(process.env.FILES_KILLS ?? 4);
const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

/** Kills a process when it has taken so many steps; resolves when it is gone, to whether it was killed. */
function run(order: Order, steps: number): Promise<boolean> {
  const program = join(import.meta.dirname, "actor.ts");
  const args = [...nodeWords(program), JSON.stringify(order)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  let seen = 0;
  child.stdout!.on("data", (data: Buffer) => {
    seen += data.length;
    if (seen >= steps) child.kill("SIGKILL");
  });
  return new Promise((resolve, reject) => {
    child.once("exit", (code, signal) => {
      children.delete(child);
      if (signal === "SIGKILL") resolve(true);
      else if (code === 0) resolve(false);
      else reject(new Error(`${order.role} ended with ${code}`));
    });
  });
}

test.skipIf(!installed("redis-server"))(
  "visits are counted once each, whichever sender or reader is killed, within the budget",
  { timeout: 120_000 + KILLS * 10_000 },
  async () => {
    const redis = await startRedis();
    const store = await open(redis.url);
    try {
      const seed = Number(process.env.SEED ?? process.pid);
      let state = (seed % 2_147_483_646) + 1;
      const random = (below: number): number => {
        state = (state * 48_271) % 2_147_483_647;
        return state % below;
      };
      const places = new Places<{ country: string }>(store);
      await places.load(ranges<{ country: string }>(Readable.from(RANGES), { columns: ["country"] }));
      const logs = new Files(store, "access", CHANNEL);
      await logs.invite("visits", { leaseMs: 600_000 });
      let killed = 0;
      const untilDone = async (role: Order["role"]): Promise<void> => {
        for (let nth = 0; ; nth++) {
          const steps = nth < KILLS / 2 ? 5 + random(60) : Number.POSITIVE_INFINITY;
          if (!(await run({ role, url: redis.url }, steps))) return;
          killed++;
        }
      };
      await Promise.all([untilDone("send"), untilDone("read")]);
      expect(killed, `seed ${seed}`).toBeGreaterThan(0);

      const expected = new Map<string, number>();
      for (const name of FILES) {
        const visits = linesOf(name).map(visitIn);
        const found = await places.getMany(visits.map(({ address }) => address));
        visits.forEach(({ day }, nth) => {
          const field = `${day} ${found[nth]?.place.country ?? "unknown"}`;
          expected.set(field, (expected.get(field) ?? 0) + 1);
        });
      }
      const sorted = (map: Map<string, number>) => [...map].sort();
      expect(sorted(await logs.totals("visits")), `seed ${seed}`).toEqual(sorted(expected));
      expect([...(await logs.totals("lines")).values()], `seed ${seed}`).toEqual(FILES.map(() => 4_000));
      expect(await logs.inspect(), `seed ${seed}`).toMatchObject({ bytes: 0, files: 0 });
    } finally {
      await store.close();
      await redis.stop();
    }
  },
);
