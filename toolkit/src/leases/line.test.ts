/** Which caller of one process is served first, while the first of them still opens the channel for its message. */
import { describe, expect, test } from "vitest";
import { beforeScript } from "../../tests/kit/before-script.ts";
import { describeBackends } from "../../tests/kit/index.ts";
import { Locks } from "../components/locks/index.ts";
import { Semaphores } from "../components/semaphores/index.ts";
import type { Store } from "../connection/store.ts";
import type { Lease } from "./lease.ts";

interface Line {
  acquire(name: string): Promise<Lease | null>;
  inspect(name: string): Promise<{ readonly waiting: number }>;
}

const KINDS: Readonly<Record<"locks" | "semaphores", (store: Store) => Line>> = {
  locks: (store) => new Locks(store),
  semaphores: (store) => new Semaphores(store, { limit: 1 }),
};

/** A store whose subscriptions begin when they are let. */
function slowToSubscribe(store: Store): { readonly store: Store; readonly asked: Promise<void>; let(): void } {
  let ask!: () => void;
  let allow!: () => void;
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const allowed = new Promise<void>((resolve) => {
    allow = resolve;
  });
  const subscribe: Store["subscribe"] = async (...given) => {
    ask();
    await allowed;
    return store.subscribe(...given);
  };
  const proxy = new Proxy(store, {
    get: (target, property) => {
      if (property === "subscribe") return subscribe;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { store: proxy, asked, let: allow };
}

describeBackends("the line of one process", (backend) => {
  describe.each(["locks", "semaphores"] as const)("%s", (kind) => {
    const queued = (line: Line, served: string[], who: string): Promise<void> =>
      line.acquire("line").then(async (lease) => {
        served.push(who);
        await lease!.release();
      });

    test("one who comes when the first is about to ask again is behind it", async () => {
      const holder = await KINDS[kind](backend.store).acquire("line");
      const served: string[] = [];
      const others: Promise<void>[] = [];
      let asked = 0;
      const store = beforeScript(await backend.open(), `${kind}.acquire`, async () => {
        if (++asked !== 2) return;
        others.push(queued(line, served, "second"));
        // Answered after the second has asked, by the same connection.
        await line.inspect("line");
      });
      const line = KINDS[kind](store);
      const first = queued(line, served, "first");
      await expect.poll(async () => (await line.inspect("line")).waiting).toBe(2);
      await holder!.release();
      await Promise.all([first, ...others]);
      expect(served).toEqual(["first", "second"]);
    });

    test("one who comes while the first subscribes is behind it, also when there is room by then", async () => {
      const holder = await KINDS[kind](backend.store).acquire("line");
      const served: string[] = [];
      const slow = slowToSubscribe(await backend.open());
      const line = KINDS[kind](slow.store);
      const first = queued(line, served, "first");
      await slow.asked;
      await holder!.release();
      const second = queued(line, served, "second");
      await line.inspect("line");
      slow.let();
      await Promise.all([first, second]);
      expect(served).toEqual(["first", "second"]);
    });
  });

  test("callers who share a signal are one listener to it", async () => {
    const warnings: Error[] = [];
    const noted = (warning: Error) => void warnings.push(warning);
    process.on("warning", noted);
    const stop = new AbortController();
    const locks = new Locks(backend.store);
    const holder = await locks.acquire("shared");
    const waiting = Array.from({ length: 30 }, () => locks.acquire("shared", { signal: stop.signal }));
    const ended = Promise.allSettled(waiting);
    await expect.poll(async () => (await locks.inspect("shared")).waiting).toBe(30);
    stop.abort(new Error("enough"));
    expect((await ended).map(({ status }) => status)).toEqual(Array(30).fill("rejected"));
    await holder!.release();
    // Warnings are told in the next turn.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", noted);
    expect(warnings).toEqual([]);
  });
});
