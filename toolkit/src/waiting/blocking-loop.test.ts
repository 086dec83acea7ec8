/** A blocking loop repeats a blocking command until it is stopped. */
import { beforeEach, describe, expect, test } from "vitest";
import type { Reply } from "../connection/port.ts";
import { BlockingLoop } from "./blocking-loop.ts";
import { FakeStore, listenersOf, lost, turn } from "./testing/fake-store.ts";

let store: FakeStore;
beforeEach(() => {
  store = new FakeStore();
});

describe("a blocking loop", () => {
  let replies: Reply[];
  let faults: unknown[];
  let isWanted: boolean;
  const loop = (onFault: (error: unknown) => boolean = () => true): BlockingLoop =>
    new BlockingLoop(store, {
      isWanted: () => isWanted,
      round: async (wait) => {
        replies.push(await wait("k", ["BLPOP", "k", 5], { timeoutMs: 5_000 }));
      },
      onFault: (error) => {
        faults.push(error);
        return onFault(error);
      },
    });
  const waits = () => store.connections.flatMap(({ calls }) => calls);
  const answer = async (reply: Reply): Promise<void> => {
    waits().at(-1)!.answer.resolve(reply);
    await turn();
  };
  beforeEach(() => {
    replies = [];
    faults = [];
    isWanted = true;
  });

  test("waits in rounds over one connection, until no further one is wanted", async () => {
    const made = loop();
    const run = made.run();
    expect(made.run()).toBe(run);
    await answer("a");
    isWanted = false;
    await answer(null);
    await run;
    expect(replies).toEqual(["a", null]);
    expect(store.connections.map(({ key }) => key)).toEqual(["k"]);
    expect(waits()).toHaveLength(2);
    expect(waits()[0]).toMatchObject({ words: ["BLPOP", "k", 5], options: { timeoutMs: 5_000 } });
  });

  test("keeps its connection from run to run", async () => {
    const made = loop();
    const first = made.run();
    isWanted = false;
    await answer("a");
    await first;
    isWanted = true;
    void made.run();
    await answer("b");
    expect(replies).toEqual(["a", "b"]);
    expect(store.connections).toHaveLength(1);
    expect(store.connections[0]!.isClosed).toBe(false);
  });

  test("wanted in the moment after it has ended, runs again", async () => {
    const made = new BlockingLoop(store, {
      isWanted: () => {
        if (!isWanted) queueMicrotask(() => void made.run());
        return isWanted;
      },
      round: async (wait) => {
        replies.push(await wait("k", ["BLPOP", "k", 5], { timeoutMs: 5_000 }));
        isWanted = false;
        queueMicrotask(() =>
          queueMicrotask(() => {
            isWanted = true;
          }),
        );
      },
    });
    void made.run();
    await answer("a");
    expect(waits()).toHaveLength(2);
  });

  test("pauses after a fault, and goes on", async () => {
    void loop().run();
    waits()[0]!.answer.reject(lost());
    await turn();
    expect(faults).toHaveLength(1);
    await store.clock.advance(199);
    expect(waits()).toHaveLength(1);
    await store.clock.advance(1);
    expect(waits()).toHaveLength(2);
    await answer("a");
    expect(replies).toEqual(["a"]);
  });

  test("ends by a fault that its user does not go on after", async () => {
    const run = loop(() => false).run();
    waits()[0]!.answer.reject(new Error("no such lane"));
    await run;
    expect(faults).toHaveLength(1);
    expect(listenersOf(store.closeSignal)).toBe(0);
  });

  test("closed, ends in the middle of a wait, and its connection with it", async () => {
    const made = loop();
    const run = made.run();
    made.close();
    await run;
    expect(waits()[0]!.options.signal!.aborted).toBe(true);
    expect(store.connections[0]!.isClosed).toBe(true);
    expect(faults).toEqual([]);
    expect(listenersOf(store.closeSignal)).toBe(0);
  });

  test("closed in its pause, ends without another round", async () => {
    const made = loop();
    const run = made.run();
    waits()[0]!.answer.reject(lost());
    await turn();
    made.close();
    await run;
    expect(waits()).toHaveLength(1);
    expect(store.clock.timers.size).toBe(0);
  });

  test("closed, takes what fails in its round for the end", async () => {
    const made = new BlockingLoop(store, {
      round: async (wait) => {
        await wait("k", ["BLPOP", "k", 5], { timeoutMs: 5_000 }).catch(() => {
          throw new Error("the answer is not what was expected");
        });
      },
      onFault: (error) => faults.push(error) > 0,
    });
    const run = made.run();
    made.close();
    await run;
    expect(faults).toEqual([]);
  });

  test("ends with the store, and does not begin after it", async () => {
    const made = loop();
    const run = made.run();
    store.close();
    await run;
    await made.run();
    await loop().run();
    expect(faults).toEqual([]);
    expect(waits()).toHaveLength(1);
  });
});
