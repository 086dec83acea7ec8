/** The waiting kit on ports that tests hold in their hands: each message, loss, answer and moment comes when a test says so. */
import { getEventListeners } from "node:events";
import { beforeEach, describe, expect, test } from "vitest";
import { type ManualClock, manualClock } from "../../tests/kit/manual-clock.ts";
import type { Clock, Timer } from "../base/clock.ts";
import { ClosedError, ConnectionError } from "../base/errors.ts";
import type { WaitOptions } from "../connection/blocking.ts";
import type { Reply, Word } from "../connection/port.ts";
import type { Subscription } from "../connection/subscriptions.ts";
import { BlockingLoop } from "./blocking-loop.ts";
import { Channel } from "./channel.ts";
import { Hint, type HintOptions } from "./hint.ts";
import { settleWhen, type Waiting } from "./settle-when.ts";

/** Everything that promises which are settled lead to has happened. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const lost = (): ConnectionError => new ConnectionError("lost", { maybeExecuted: true });

/** One that a test settles by hand. */
class Pending<T> {
  resolve!: (value: T) => void;
  reject!: (error: unknown) => void;
  readonly promise = new Promise<T>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}

/** A subscription that was asked for. */
class Asked implements Subscription {
  readonly channel: string;
  readonly message: (message: Buffer) => void;
  readonly resumed: (() => void) | undefined;
  readonly answer = new Pending<Subscription>();
  isClosed = false;

  constructor(channel: string, message: (message: Buffer) => void, resumed: (() => void) | undefined) {
    this.channel = channel;
    this.message = message;
    this.resumed = resumed;
  }

  say(text: string): void {
    this.message(Buffer.from(text));
  }

  async confirm(): Promise<void> {
    this.answer.resolve(this);
    await turn();
  }

  async refuse(): Promise<void> {
    this.answer.reject(lost());
    await turn();
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

/** A clock that also knows which of its timers are under way, and whether they keep the process alive. */
class WatchedClock implements Clock {
  readonly manual: ManualClock = manualClock();
  readonly timers = new Set<{ readonly ms: number; readonly keepAlive: boolean }>();

  monotonicMs = (): number => this.manual.monotonicMs();
  wallMs = (): number => this.manual.wallMs();
  random = (): number => this.manual.random();

  after(ms: number, callback: () => void, options?: { readonly keepAlive?: boolean }): Timer {
    const facts = { ms, keepAlive: options?.keepAlive === true };
    this.timers.add(facts);
    const timer = this.manual.after(ms, () => {
      this.timers.delete(facts);
      callback();
    });
    return {
      cancel: () => {
        this.timers.delete(facts);
        timer.cancel();
      },
    };
  }

  async advance(ms: number): Promise<void> {
    this.manual.advance(ms);
    await turn();
  }
}

/** A connection on which each call waits until the test answers it. */
class Blocked {
  readonly key: string;
  readonly calls: {
    readonly words: readonly Word[];
    readonly options: WaitOptions;
    readonly answer: Pending<Reply>;
  }[] = [];
  isClosed = false;

  constructor(key: string) {
    this.key = key;
  }

  call(words: readonly Word[], options: WaitOptions): Promise<Reply> {
    const answer = new Pending<Reply>();
    options.signal?.addEventListener("abort", () => answer.reject(options.signal?.reason), { once: true });
    this.calls.push({ words, options, answer });
    return answer.promise;
  }

  close(): void {
    this.isClosed = true;
    this.calls.at(-1)?.answer.reject(lost());
  }
}

class FakeStore {
  readonly clock = new WatchedClock();
  readonly asked: Asked[] = [];
  readonly connections: Blocked[] = [];
  readonly #closing = new AbortController();
  closed = false;

  get closeSignal(): AbortSignal {
    return this.#closing.signal;
  }

  subscribe(channel: string, message: (message: Buffer) => void, resumed?: () => void): Promise<Subscription> {
    const asked = new Asked(channel, message, resumed);
    this.asked.push(asked);
    return asked.answer.promise;
  }

  blocking(key: string): Blocked {
    const connection = new Blocked(key);
    this.connections.push(connection);
    return connection;
  }

  close(): void {
    this.closed = true;
    this.#closing.abort(new ClosedError());
  }
}

let store: FakeStore;
beforeEach(() => {
  store = new FakeStore();
});

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

describe("a channel", () => {
  let heard: string[];
  const open = (): Channel =>
    new Channel(store, "news", {
      message: (message) => heard.push(message.toString()),
      begun: () => heard.push("(begun)"),
      resumed: () => heard.push("(resumed)"),
    });
  beforeEach(() => {
    heard = [];
  });

  test("is one subscription for all who open it, and tells when it begins and when it was interrupted", async () => {
    const channel = open();
    const opened = Promise.all([channel.open(), channel.open()]);
    expect(channel.isOpen).toBe(false);
    await store.asked[0]!.confirm();
    await opened;
    await channel.open();
    store.asked[0]!.say("a");
    store.asked[0]!.resumed!();
    expect(channel.isOpen).toBe(true);
    expect(store.asked.map((asked) => asked.channel)).toEqual(["news"]);
    expect(heard).toEqual(["(begun)", "a", "(resumed)"]);
  });

  test("rejects when the store cannot be reached, and is asked for anew by the next call", async () => {
    const channel = open();
    const opened = channel.open();
    void store.asked[0]!.refuse();
    await expect(opened).rejects.toThrow("lost");
    const again = channel.open();
    await store.asked[1]!.confirm();
    await again;
    expect(heard).toEqual(["(begun)"]);
  });

  test("hears nothing after it is closed, and can be opened again", async () => {
    const channel = open();
    void channel.open();
    await store.asked[0]!.confirm();
    await channel.close();
    store.asked[0]!.say("late");
    store.asked[0]!.resumed!();
    expect(store.asked[0]!.isClosed).toBe(true);
    expect(channel.isOpen).toBe(false);
    void channel.open();
    await store.asked[1]!.confirm();
    store.asked[1]!.say("b");
    expect(heard).toEqual(["(begun)", "(begun)", "b"]);
  });

  test("closed while its subscription is on its way, does not wait for it and ends it when it comes", async () => {
    const channel = open();
    void channel.open();
    await channel.close();
    expect(store.asked[0]!.isClosed).toBe(false);
    store.asked[0]!.say("early");
    await store.asked[0]!.confirm();
    expect(store.asked[0]!.isClosed).toBe(true);
    expect(channel.isOpen).toBe(false);
    expect(heard).toEqual([]);
  });

  test("opened eventually, tries again until it succeeds, then no more", async () => {
    const channel = open();
    channel.openEventually(1_000);
    await store.asked[0]!.refuse();
    await store.clock.advance(999);
    expect(store.asked).toHaveLength(1);
    await store.clock.advance(1);
    await store.asked[1]!.confirm();
    await store.clock.advance(10_000);
    expect(store.asked).toHaveLength(2);
    expect(heard).toEqual(["(begun)"]);
  });

  test("opened eventually, gives up when it is closed, and with the store", async () => {
    const channel = open();
    channel.openEventually(1_000);
    await channel.close();
    await store.asked[0]!.refuse();
    await store.clock.advance(5_000);
    expect(store.asked).toHaveLength(1);
    channel.openEventually(1_000);
    await store.asked[1]!.refuse();
    await channel.close();
    await store.clock.advance(5_000);
    expect(store.asked).toHaveLength(2);
    channel.openEventually(1_000);
    store.closed = true;
    await store.asked[2]!.refuse();
    await store.clock.advance(5_000);
    expect(store.asked).toHaveLength(3);
  });
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
