/** A hint looks whenever something may have changed, and never twice for one change. */
import { beforeEach, describe, expect, test } from "vitest";
import { Hint, type HintOptions } from "./hint.ts";
import { FakeStore, lost, Pending, turn } from "./testing/fake-store.ts";

let store: FakeStore;
beforeEach(() => {
  store = new FakeStore();
});

describe("a hint", () => {
  let looks: Pending<void>[];
  let errors: unknown[];
  const hint = (options: Partial<HintOptions> = {}): Hint =>
    new Hint(store, {
      channel: "news",
      pollMs: 1_000,
      look: () => {
        const look = new Pending<void>();
        looks.push(look);
        return look.promise;
      },
      onError: (error) => errors.push(error),
      ...options,
    });
  const found = async (): Promise<void> => {
    looks.at(-1)!.resolve();
    await turn();
  };
  /** One that has begun to follow: subscribed, and looked once. */
  const following = async (options: Partial<HintOptions> = {}): Promise<Hint> => {
    const made = hint(options);
    const started = made.start();
    await store.asked[0]!.confirm();
    await found();
    await started;
    return made;
  };
  beforeEach(() => {
    looks = [];
    errors = [];
  });

  test("subscribes before its first look, so that no change falls between", async () => {
    const started = hint().start();
    expect(looks).toHaveLength(0);
    await store.asked[0]!.confirm();
    expect(looks).toHaveLength(1);
    // Said while it looks: the look may have come too early for it.
    store.asked[0]!.say("1");
    await found();
    await started;
    expect(looks).toHaveLength(2);
  });

  test("looks once at the start, where nothing is said meanwhile", async () => {
    await following();
    expect(looks).toHaveLength(1);
  });

  test("looks on each message, and when messages may be missing", async () => {
    await following();
    store.asked[0]!.say("1");
    expect(looks).toHaveLength(2);
    await found();
    store.asked[0]!.resumed!();
    expect(looks).toHaveLength(3);
  });

  test("looks once more for all that happens during a look", async () => {
    await following();
    for (const text of ["1", "2", "3"]) store.asked[0]!.say(text);
    store.asked[0]!.resumed!();
    expect(looks).toHaveLength(2);
    await found();
    expect(looks).toHaveLength(3);
    await found();
    expect(looks).toHaveLength(3);
  });

  test("does not look for what it has seen", async () => {
    let seen = 0;
    await following({ versions: { of: (message) => Number(message), seen: () => seen } });
    seen = 5;
    store.asked[0]!.say("5");
    expect(looks).toHaveLength(1);
    store.asked[0]!.say("6");
    // Told during the look, and found by it.
    store.asked[0]!.say("7");
    seen = 7;
    await found();
    expect(looks).toHaveLength(2);
    // The newest counts, whatever comes after it.
    store.asked[0]!.say("8");
    store.asked[0]!.say("9");
    store.asked[0]!.say("8");
    seen = 8;
    await found();
    expect(looks).toHaveLength(4);
  });

  test("polls, whether or not messages come, and does not keep the process alive for it", async () => {
    await following();
    expect([...store.clock.timers]).toEqual([{ ms: 1_000, keepAlive: false }]);
    await store.clock.advance(600);
    store.asked[0]!.say("1");
    await found();
    await store.clock.advance(400);
    expect(looks).toHaveLength(3);
    await found();
    await store.clock.advance(1_000);
    expect(looks).toHaveLength(4);
  });

  test("after a look that failed, waits for the poll or the next message", async () => {
    await following();
    store.asked[0]!.say("1");
    store.asked[0]!.say("2");
    looks.at(-1)!.reject(lost());
    await turn();
    expect(errors).toHaveLength(1);
    expect(looks).toHaveLength(2);
    store.asked[0]!.say("3");
    expect(looks).toHaveLength(3);
    looks.at(-1)!.reject(lost());
    await turn();
    await store.clock.advance(1_000);
    expect(looks).toHaveLength(4);
  });

  test("rejects its start when the subscription or the look fails, and tells nobody else", async () => {
    const made = hint();
    const unheard = made.start();
    void store.asked[0]!.refuse();
    await expect(unheard).rejects.toThrow("lost");
    const unseen = made.start();
    await store.asked[1]!.confirm();
    looks.at(-1)!.reject(lost());
    await expect(unseen).rejects.toThrow("lost");
    expect(errors).toEqual([]);
    expect(store.clock.timers.size).toBe(0);
  });

  test("followed without a start, looks when the subscription begins, and by polls until then", async () => {
    hint().follow();
    expect(looks).toHaveLength(0);
    await store.asked[0]!.refuse();
    await store.clock.advance(1_000);
    expect(looks).toHaveLength(1);
    await found();
    await store.asked[1]!.confirm();
    expect(looks).toHaveLength(2);
    await found();
    await store.clock.advance(1_000);
    expect(store.asked).toHaveLength(2);
  });

  test("asked to look, begins one that is not older than the asking, shared by all who ask meanwhile", async () => {
    const made = hint();
    const first = made.look();
    const second = made.look();
    const third = made.look();
    let isSecondOver = false;
    void second.then(() => {
      isSecondOver = true;
    });
    expect(third).toBe(second);
    expect(made.looking).toBe(first);
    await found();
    await first;
    expect(looks).toHaveLength(2);
    expect(isSecondOver).toBe(false);
    await found();
    expect(isSecondOver).toBe(true);
    expect(looks).toHaveLength(2);
    expect(made.looking).toBe(null);
  });

  test("asked to look during one that fails, looks all the same", async () => {
    const made = hint();
    const first = made.look();
    const second = made.look();
    looks[0]!.reject(lost());
    await expect(first).rejects.toThrow("lost");
    await found();
    await second;
  });

  test("stopped, looks no more, and can be started again", async () => {
    const made = await following();
    store.asked[0]!.say("1");
    store.asked[0]!.say("2");
    await made.stop();
    await found();
    store.asked[0]!.say("3");
    await store.clock.advance(10_000);
    expect(looks).toHaveLength(2);
    expect(store.asked[0]!.isClosed).toBe(true);
    expect(store.clock.timers.size).toBe(0);
    void made.start();
    await store.asked[1]!.confirm();
    expect(looks).toHaveLength(3);
  });

  test("stopped while it starts, does not follow", async () => {
    const made = hint();
    const started = made.start();
    await store.asked[0]!.confirm();
    await made.stop();
    await found();
    await started;
    expect(store.asked).toHaveLength(1);
    expect(store.clock.timers.size).toBe(0);
  });

  test("ends at the poll that finds it not needed, or the store closed", async () => {
    let isNeeded = true;
    await following({ isNeeded: () => isNeeded });
    isNeeded = false;
    await store.clock.advance(1_000);
    expect(looks).toHaveLength(1);
    expect(store.asked[0]!.isClosed).toBe(true);
    store = new FakeStore();
    looks = [];
    await following();
    store.close();
    await store.clock.advance(1_000);
    expect(looks).toHaveLength(1);
    expect(store.clock.timers.size).toBe(0);
  });
});
