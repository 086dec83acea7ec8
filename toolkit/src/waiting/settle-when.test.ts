/** A wait settles once, and leaves no listener behind. */
import { beforeEach, describe, expect, test } from "vitest";
import { ClosedError } from "../base/errors.ts";
import { settleWhen, type Waiting } from "./settle-when.ts";
import { FakeStore, listenersOf } from "./testing/fake-store.ts";

let store: FakeStore;
beforeEach(() => {
  store = new FakeStore();
});

describe("a wait that settles", () => {
  const caller = (): AbortController => new AbortController();
  let waiting: Waiting<string> | null;
  let takenDown: number;
  const wait = (limits: { signal?: AbortSignal; timeoutMs?: number; leave?: (end: () => void) => void } = {}) =>
    settleWhen<string>(store, { ...limits, onTimeout: "late" }, (given) => {
      waiting = given;
      return () => {
        takenDown++;
      };
    });
  /** Whatever ended it, nothing of it is left. */
  const expectNothingLeft = (...signals: AbortSignal[]): void => {
    expect(takenDown).toBe(1);
    expect(store.clock.timers.size).toBe(0);
    for (const signal of [store.closeSignal, ...signals]) expect(listenersOf(signal)).toBe(0);
  };
  beforeEach(() => {
    waiting = null;
    takenDown = 0;
  });

  test("by its result", async () => {
    const { signal } = caller();
    const waited = wait({ signal, timeoutMs: 100 });
    expect([...store.clock.timers]).toEqual([{ ms: 100, keepAlive: true }]);
    waiting!.settle("here");
    waiting!.fail(new Error("too late"));
    expect(await waited).toBe("here");
    expectNothingLeft(signal);
  });

  test("by a failure", async () => {
    const waited = wait({ timeoutMs: 100 });
    waiting!.fail(new Error("no"));
    await expect(waited).rejects.toThrow("no");
    expectNothingLeft();
  });

  test("at once if it cannot begin", async () => {
    const { signal } = caller();
    const waited = settleWhen<string>(store, { signal, timeoutMs: 100, onTimeout: "late" }, () => {
      throw new Error("cannot begin");
    });
    await expect(waited).rejects.toThrow("cannot begin");
    takenDown = 1; // There was nothing to take down.
    expectNothingLeft(signal);
  });

  test("after its time", async () => {
    const { signal } = caller();
    const waited = wait({ signal, timeoutMs: 100 });
    await store.clock.advance(99);
    expect(takenDown).toBe(0);
    await store.clock.advance(1);
    expect(await waited).toBe("late");
    expectNothingLeft(signal);
  });

  test("by its signal, with the signal's reason", async () => {
    const stop = caller();
    const waited = wait({ signal: stop.signal, timeoutMs: 100 });
    stop.abort(new Error("enough"));
    await expect(waited).rejects.toThrow("enough");
    expectNothingLeft(stop.signal);
  });

  test("with the store", async () => {
    const { signal } = caller();
    const waited = wait({ signal, timeoutMs: 100 });
    store.close();
    await expect(waited).rejects.toBeInstanceOf(ClosedError);
    expectNothingLeft(signal);
  });

  test("before it begins, where signal or store have ended already", async () => {
    await expect(wait({ signal: AbortSignal.abort(new Error("enough")), timeoutMs: 1 })).rejects.toThrow("enough");
    store.close();
    await expect(wait({ timeoutMs: 1 })).rejects.toBeInstanceOf(ClosedError);
    expect(waiting).toBe(null);
    expect(store.clock.timers.size).toBe(0);
  });

  test("while it begins, and is taken down all the same", async () => {
    const waited = settleWhen<string>(store, { timeoutMs: 100, onTimeout: "late" }, ({ settle }) => {
      settle("at once");
      return () => {
        takenDown++;
      };
    });
    expect(await waited).toBe("at once");
    expectNothingLeft();
  });

  test("later than its time, where an answer is on its way: by the answer, or when there is none", async () => {
    const ends: (() => void)[] = [];
    const leave = (end: () => void): void => void ends.push(end);
    const answered = wait({ timeoutMs: 100, leave });
    await store.clock.advance(100);
    expect(takenDown).toBe(0);
    waiting!.settle("here");
    ends[0]!();
    expect(await answered).toBe("here");
    const stop = caller();
    const unanswered = wait({ signal: stop.signal, leave });
    stop.abort(new Error("enough"));
    expect(takenDown).toBe(1);
    ends[1]!();
    await expect(unanswered).rejects.toThrow("enough");
    expect(takenDown).toBe(2);
  });

  test("of many with one signal, with one listener to it", async () => {
    const { signal } = caller();
    const waits = [1, 2, 3].map(() => wait({ signal }));
    expect(listenersOf(signal)).toBe(1);
    expect(listenersOf(store.closeSignal)).toBe(1);
    store.close();
    expect((await Promise.allSettled(waits)).map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
    expect(listenersOf(signal)).toBe(0);
  });
});
