/** Deadlines and the shape of answers, on a link that answers when it is told to. */
import { describe, expect, test } from "vitest";
import { manualClock } from "../../tests/kit/manual-clock.ts";
import { ServerError } from "../base/errors.ts";
import { request } from "./dial.ts";
import { normalised, type RawAnswer, type RawLink, serverError, Wire } from "./wire.ts";

function wireOnPaper() {
  const waiting: { resolve(answer: RawAnswer): void; reject(error: Error): void }[] = [];
  const written: (readonly (string | Buffer)[])[] = [];
  let destroyed = 0;
  let close: (error?: Error) => void = () => {};
  const link: RawLink = {
    exact: true,
    write: (words, resolve, reject) => {
      written.push(words);
      waiting.push({ resolve, reject });
    },
    cork() {},
    uncork() {},
    subscribe: async () => {},
    unsubscribe: async () => {},
    onClose: (listener) => {
      close = listener;
    },
    destroy: () => {
      destroyed++;
    },
  };
  const clock = manualClock();
  const wire = new Wire(link, "paper:1", clock);
  const answer = async (raw: RawAnswer): Promise<void> => {
    waiting.shift()!.resolve(raw);
    await Promise.resolve();
  };
  return { wire, clock, answer, written, close: (error?: Error) => close(error), destroyed: () => destroyed };
}

const outcome = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error) => error);

describe("deadlines", () => {
  test("a request that is late is rejected; the connection stays if anything was answered since it was sent", async () => {
    const { wire, clock, answer } = wireOnPaper();
    const first = wire.ask(request("A"), { timeoutMs: 100 });
    const second = outcome(wire.ask(request("B"), { timeoutMs: 100 }));
    clock.advance(90);
    await answer("1");
    expect(await first).toBe(1);
    clock.advance(10);
    expect(await second).toMatchObject({ code: "TIMEOUT", maybeExecuted: true });
    expect(wire.closed).toBe(false);
    // Its answer still comes, and goes to nobody else.
    const third = wire.ask(request("C"), { timeoutMs: 100 });
    await answer("2");
    await answer("3");
    expect(await third).toBe(3);
  });

  test("silence past a deadline ends the connection, and everything that waits on it", async () => {
    const { wire, clock, destroyed } = wireOnPaper();
    const first = outcome(wire.ask(request("A"), { timeoutMs: 100 }));
    clock.advance(50);
    const second = outcome(wire.ask(request("B"), { timeoutMs: 100 }));
    const unlimited = outcome(wire.ask(request("C"), { timeoutMs: undefined }));
    clock.advance(50);
    for (const each of [first, second, unlimited]) expect(await each).toMatchObject({ maybeExecuted: true });
    expect(wire.closed).toBe(true);
    expect(destroyed()).toBe(1);
    expect(await outcome(wire.ask(request("D"), { timeoutMs: 100 }))).toMatchObject({ maybeExecuted: false });
  });

  test("the nearest deadline counts, also behind a farther one", async () => {
    const { wire, clock } = wireOnPaper();
    void outcome(wire.ask(request("A"), { timeoutMs: 5_000 }));
    const near = outcome(wire.ask(request("B"), { timeoutMs: 100 }));
    clock.advance(100);
    expect(await near).toMatchObject({ code: "TIMEOUT" });
  });

  test("what has no deadline waits", async () => {
    const { wire, clock, answer } = wireOnPaper();
    const waiting = wire.ask(request("BLPOP"), { timeoutMs: undefined });
    clock.advance(1_000_000);
    await answer(null);
    expect(await waiting).toBeNull();
  });
});

describe("the end", () => {
  test("of a connection says why, without what the library hung on the error", async () => {
    const { wire, close } = wireOnPaper();
    const waiting = outcome(wire.ask(request("SET", "k", "a secret"), { timeoutMs: 100 }));
    close(Object.assign(new Error("read ECONNRESET"), { command: { args: ["a secret"] } }));
    const error = (await waiting) as Error;
    expect(error.message).toBe("the connection to paper:1 was lost: read ECONNRESET");
    expect(JSON.stringify([error, error.cause])).not.toContain("secret");
  });

  test("waits for answers when it is asked to, but not for ever", async () => {
    const { wire, clock, answer } = wireOnPaper();
    const first = wire.ask(request("A"), { timeoutMs: undefined });
    const second = outcome(wire.ask(request("B"), { timeoutMs: undefined }));
    const drained = wire.drain(1_000, "closing");
    await answer(Buffer.from("OK"));
    expect(await first).toBe("OK");
    expect(wire.closed).toBe(false);
    clock.advance(1_000);
    await drained;
    expect(await second).toMatchObject({ message: "closing", maybeExecuted: true });
  });
});

describe("answers", () => {
  test("of links that tell integers from strings are told apart", () => {
    const raw: RawAnswer = ["12", Buffer.from("12"), "9007199254740993", null, [Buffer.from("ü")]];
    expect(normalised(raw, false, true)).toEqual([12, "12", "9007199254740993", null, ["ü"]]);
    expect(normalised(raw, true, true)).toEqual([12, Buffer.from("12"), "9007199254740993", null, [Buffer.from("ü")]]);
  });

  test("of RESP3 take RESP2's shape", () => {
    expect(normalised([true, false, 1.5, 3, 2n ** 60n, undefined], false, false)).toEqual([
      1,
      0,
      "1.5",
      3,
      String(2n ** 60n),
      null,
    ]);
  });

  test("a replica's refusal is seen inside of what an older server wraps it into", () => {
    const text =
      "ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica.";
    expect(serverError(text).code).toBe("READONLY");
    expect(serverError("ERR Error running script (call to f_1): something else").code).toBe("ERR");
    expect(normalised([new ServerError("OOM x")], false, true)).toEqual([new ServerError("OOM x")]);
  });
});
