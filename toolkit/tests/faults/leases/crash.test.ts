/** Holders and waiters that are stopped or killed, one case each; history.test.ts mixes them. */
import { expect, test } from "vitest";
import { full } from "../../../../scripts/full.ts";
import { Locks } from "../../../src/components/locks/index.ts";
import { describeBackends } from "../../kit/index.ts";
import { ended, start } from "./children.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describeBackends("locks", { backends: full ? ["tcp", "redis", "cluster"] : ["redis", "cluster"] }, (backend) => {
  const locks = (): Locks => new Locks(backend.store, { waitMs: 30_000 });

  test("of a holder that was stopped for longer than its lease go on, and it learns that it lost", async () => {
    const lines: string[] = [];
    const order = { url: backend.url, name: "stopped", leaseMs: 2_000, waitMs: 10_000 };
    const child = await start("holder.ts", order, (line) => lines.push(line));
    while (lines.length === 0) await turn();
    const fence = Number(/^got (\d+)$/.exec(lines[0]!)![1]);
    child.kill("SIGSTOP");
    const lease = await locks().acquire("stopped");
    expect(lease!.fence).toBeGreaterThan(fence);
    child.kill("SIGCONT");
    await ended(child);
    expect(lines.at(-1)).toBe("lost");
    expect(lease!.lost).toBe(false);
    expect(await lease!.release()).toBe(true);
  });

  test("of a holder that was killed are free after one lease", async () => {
    const lines: string[] = [];
    const order = { url: backend.url, name: "killed", leaseMs: 500, waitMs: 10_000 };
    const child = await start("holder.ts", order, (line) => lines.push(line));
    while (lines.length === 0) await turn();
    const gone = ended(child);
    child.kill("SIGKILL");
    await gone;
    const lease = await locks().acquire("killed");
    expect(lease!.fence).toBeGreaterThan(Number(lines[0]!.slice(4)));
    await lease!.release();
  });

  test("are not given to a waiter that was killed", async () => {
    const mine = locks();
    const lease = await mine.acquire("line");
    const order = { url: backend.url, name: "line", leaseMs: 2_000, waitMs: 60_000 };
    const child = await start("holder.ts", order, () => {});
    while ((await mine.inspect("line")).waiting !== 1) await turn();
    const next = mine.acquire("line");
    while ((await mine.inspect("line")).waiting !== 2) await turn();
    const gone = ended(child);
    child.kill("SIGKILL");
    await gone;
    if (backend.store.topology !== "cluster") {
      const others = async () =>
        ((await backend.store.call("PUBSUB", "CHANNELS", "cinnabar:wake:*")) as string[]).length;
      while ((await others()) > 1) await turn();
    }
    await lease!.release();
    // At once where the server knows who listens; in a Cluster the dead one has it for one lease.
    if (backend.store.topology !== "cluster") {
      expect((await mine.inspect("line")).holders.map(({ fence }) => fence)).toEqual([(await next)!.fence]);
    }
    expect(await (await next)!.release()).toBe(true);
  });
});
