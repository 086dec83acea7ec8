/** One connection on a stream that answers when it is told to: order, deadlines, bounds, messages, the end. */
import { Duplex } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { manualClock } from "../../tests/kit/manual-clock.ts";
import { request } from "./dial.ts";
import { Wire, type WireBounds } from "./wire.ts";

class Paper extends Duplex {
  readonly chunks: Buffer[] = [];
  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.chunks.push(chunk);
    done();
  }

  override _writev(all: { chunk: Buffer }[], done: () => void): void {
    this.chunks.push(Buffer.concat(all.map(({ chunk }) => chunk)));
    done();
  }

  get written(): string {
    return Buffer.concat(this.chunks).toString("utf8");
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const outcome = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error) => error);

function wireOnPaper(bounds: WireBounds = {}) {
  const paper = new Paper();
  const clock = manualClock();
  const wire = new Wire(paper, "paper:1", clock, bounds);
  const answer = async (bytes: string): Promise<void> => {
    paper.push(Buffer.from(bytes));
    await settled();
  };
  return { wire, paper, clock, answer };
}

const UNLIMITED = { timeoutMs: undefined };

describe("requests", () => {
  test("of one turn leave in one write, and get their answers in order", async () => {
    const { wire, paper, answer } = wireOnPaper();
    const answers = Promise.all([
      wire.ask(request("GET", "a"), UNLIMITED),
      wire.ask({ words: ["SET", "b", 12, Buffer.from([0, 255])], key: "b", buffers: false }, UNLIMITED),
      wire.ask({ words: ["GET", "ü"], key: "ü", buffers: true }, UNLIMITED),
    ]);
    await settled();
    expect(paper.chunks).toHaveLength(1);
    expect(paper.chunks[0]).toEqual(
      Buffer.concat([
        Buffer.from("*2\r\n$3\r\nGET\r\n$1\r\na\r\n*4\r\n$3\r\nSET\r\n$1\r\nb\r\n$2\r\n12\r\n$2\r\n"),
        Buffer.from([0, 255]),
        Buffer.from("\r\n*2\r\n$3\r\nGET\r\n$2\r\nü\r\n"),
      ]),
    );
    await answer("$1\r\nx\r\n+OK\r\n$1\r\ny\r\n");
    expect(await answers).toEqual(["x", "OK", Buffer.from("y")]);
  });

  test("of a turn with much work leave in several writes, so that the server can begin", async () => {
    const inWrites = async (words: readonly string[], count: number): Promise<number[]> => {
      const { wire, paper } = wireOnPaper();
      for (let nth = 0; nth < count; nth++) void outcome(wire.ask(request(...words), UNLIMITED));
      await settled();
      return paper.chunks.map((chunk) => chunk.toString().split("*2\r\n").length - 1);
    };
    expect(await inWrites(["GET", "a"], 100)).toEqual([100]);
    expect(await inWrites(["GET", "a"], 300)).toEqual([128, 128, 44]);
    // Scripts keep a server busy for longer.
    expect(await inWrites(["EVALSHA", "a"], 50)).toEqual([16, 16, 16, 2]);
  });

  test("with long words arrive as they were", async () => {
    const { wire, paper } = wireOnPaper();
    const long = "ä".repeat(20_000);
    const bytes = Buffer.alloc(100_000, 7);
    void outcome(wire.ask({ words: ["X", long, "y", bytes, "z"], key: undefined, buffers: false }, UNLIMITED));
    await settled();
    expect(Buffer.concat(paper.chunks)).toEqual(
      Buffer.concat([
        Buffer.from(`*5\r\n$1\r\nX\r\n$40000\r\n${long}\r\n$1\r\ny\r\n$100000\r\n`),
        bytes,
        Buffer.from("\r\n$1\r\nz\r\n"),
      ]),
    );
  });

  test("may change short Buffers as soon as they are made", async () => {
    const { wire, paper } = wireOnPaper();
    const bytes = Buffer.from("before");
    void outcome(wire.ask({ words: ["X", bytes], key: undefined, buffers: false }, UNLIMITED));
    bytes.write("after!");
    await settled();
    expect(paper.written).toContain("before");
  });

  test("100 000 at once get each its own answer", async () => {
    const { wire, answer } = wireOnPaper();
    const asked = Array.from({ length: 100_000 }, () => wire.ask(request("INCR", "n"), UNLIMITED));
    await settled();
    await answer(Array.from({ length: 100_000 }, (_, at) => `:${at}\r\n`).join(""));
    const answers = await Promise.all(asked);
    expect(answers.every((each, at) => each === at)).toBe(true);
  });
});

describe("answers", () => {
  test("are not kept alive by the connection, while others wait on it", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const { wire, answer } = wireOnPaper();
    const reply = async (): Promise<WeakRef<object>> => {
      const asked = wire.ask({ words: ["GET", "a"], key: "a", buffers: true }, UNLIMITED);
      void outcome(wire.ask(request("GET", "b"), UNLIMITED));
      await settled();
      await answer("$5\r\nhello\r\n");
      return new WeakRef((await asked) as Buffer);
    };
    const kept = await reply();
    await expect
      .poll(() => {
        collect();
        return kept.deref() === undefined;
      })
      .toBe(true);
  });
});

describe("bounds", () => {
  test("requests beyond the bytes that may be under way wait, and are sent in order", async () => {
    const { wire, paper, answer } = wireOnPaper({ inFlightBytes: 100 });
    const asked = ["a", "b", "c"].map((name) => wire.ask(request("SET", name, "x".repeat(90)), UNLIMITED));
    await settled();
    expect(paper.written.match(/SET/g)).toHaveLength(1);
    await answer("+OK\r\n");
    expect(paper.written.match(/SET/g)).toHaveLength(2);
    await answer("+OK\r\n");
    await answer("+OK\r\n");
    expect(await Promise.all(asked)).toEqual(["OK", "OK", "OK"]);
  });

  test("one that was never sent has certainly not run", async () => {
    const { wire, clock, paper, answer } = wireOnPaper({ inFlightBytes: 10 });
    const first = wire.ask(request("SET", "a", "1"), UNLIMITED);
    const late = outcome(wire.ask(request("SET", "b", "1"), { timeoutMs: 100 }));
    const last = outcome(wire.ask(request("SET", "c", "1"), UNLIMITED));
    await settled();
    clock.advance(100);
    expect(await late).toMatchObject({ code: "TIMEOUT", maybeExecuted: false });
    expect(wire.closed).toBe(false);
    await answer("+first\r\n");
    expect(await first).toBe("first");
    // The one in between was given up: it is not sent, and no answer is taken for its own.
    await answer("+last\r\n");
    expect(await last).toBe("last");
    expect(paper.written).not.toContain("$1\r\nb\r\n");
  });

  test("one whose caller has given up while it waited is never sent", async () => {
    const { wire, paper, answer } = wireOnPaper({ inFlightBytes: 10 });
    const attempt = { isAbandoned: false, isWritten: false };
    const first = wire.ask(request("SET", "a", "1"), UNLIMITED);
    const given = outcome(wire.ask({ ...request("SET", "b", "1"), attempt }, UNLIMITED));
    const last = wire.ask(request("SET", "c", "1"), UNLIMITED);
    await settled();
    attempt.isAbandoned = true;
    await answer("+first\r\n");
    await answer("+last\r\n");
    expect([await first, await last]).toEqual(["first", "last"]);
    expect(await given).toMatchObject({ maybeExecuted: false });
    expect(paper.written).not.toContain("$1\r\nb\r\n");
  });

  test("an answer that is too large fails alone", async () => {
    const { wire, answer } = wireOnPaper({ replyBytes: 10 });
    const large = outcome(wire.ask(request("GET", "a"), UNLIMITED));
    const small = wire.ask(request("GET", "b"), UNLIMITED);
    await settled();
    await answer(`$20\r\n${"x".repeat(20)}\r\n$1\r\ny\r\n`);
    expect(await large).toMatchObject({ code: "REPLY_TOO_LARGE", maybeExecuted: true });
    expect(await small).toBe("y");
  });
});

describe("deadlines", () => {
  test("a request that is late is rejected; the connection stays if anything was answered since it was sent", async () => {
    const { wire, clock, answer } = wireOnPaper();
    const first = wire.ask(request("A"), { timeoutMs: 100 });
    const second = outcome(wire.ask(request("B"), { timeoutMs: 100 }));
    await settled();
    clock.advance(90);
    await answer(":1\r\n");
    expect(await first).toBe(1);
    clock.advance(10);
    expect(await second).toMatchObject({ code: "TIMEOUT", maybeExecuted: true });
    expect(wire.closed).toBe(false);
    // Its answer still comes, and goes to nobody else.
    const third = wire.ask(request("C"), { timeoutMs: 100 });
    await settled();
    await answer(":2\r\n");
    await answer(":3\r\n");
    expect(await third).toBe(3);
  });

  test("a caller who gives up early says nothing of the connection, whose own deadline holds all the same", async () => {
    const { wire, clock, answer } = wireOnPaper();
    const hasty = outcome(wire.ask({ ...request("A"), timeoutMs: 10 }, { timeoutMs: 100 }));
    await settled();
    clock.advance(10);
    expect(await hasty).toMatchObject({ code: "DEADLINE", maybeExecuted: true });
    expect(wire.closed).toBe(false);
    // Its answer goes to nobody else.
    const next = wire.ask({ ...request("B"), timeoutMs: 50 }, { timeoutMs: 100 });
    await settled();
    await answer(":1\r\n:2\r\n");
    expect(await next).toBe(2);
    clock.advance(1);
    const silent = outcome(wire.ask({ ...request("C"), timeoutMs: 10 }, { timeoutMs: 100 }));
    await settled();
    clock.advance(10);
    expect(await silent).toMatchObject({ code: "DEADLINE" });
    clock.advance(89);
    await settled();
    expect(wire.closed).toBe(false);
    clock.advance(1);
    await settled();
    expect(wire.closed).toBe(true);
  });

  test("a caller whose request was not sent gives it up for good", async () => {
    const { wire, clock, paper, answer } = wireOnPaper({ inFlightBytes: 10 });
    const first = wire.ask(request("SET", "a", "1"), { timeoutMs: 100 });
    const hasty = outcome(wire.ask({ ...request("SET", "b", "1"), timeoutMs: 10 }, { timeoutMs: 100 }));
    await settled();
    clock.advance(10);
    expect(await hasty).toMatchObject({ code: "DEADLINE", maybeExecuted: false });
    await answer("+OK\r\n");
    expect(await first).toBe("OK");
    await settled();
    expect(paper.written).not.toContain("$1\r\nb\r\n");
  });

  test("silence past a deadline ends the connection, and everything that waits on it", async () => {
    const { wire, clock, paper } = wireOnPaper();
    const first = outcome(wire.ask(request("A"), { timeoutMs: 100 }));
    await settled();
    clock.advance(50);
    const second = outcome(wire.ask(request("B"), { timeoutMs: 100 }));
    const unlimited = outcome(wire.ask(request("C"), UNLIMITED));
    await settled();
    clock.advance(50);
    for (const each of [first, second, unlimited]) expect(await each).toMatchObject({ maybeExecuted: true });
    expect(wire.closed).toBe(true);
    expect(paper.destroyed).toBe(true);
    expect(await outcome(wire.ask(request("D"), { timeoutMs: 100 }))).toMatchObject({ maybeExecuted: false });
  });

  test("the nearest deadline counts, also behind a farther one", async () => {
    const { wire, clock } = wireOnPaper();
    void outcome(wire.ask(request("A"), { timeoutMs: 5_000 }));
    const near = outcome(wire.ask(request("B"), { timeoutMs: 100 }));
    await settled();
    clock.advance(100);
    expect(await near).toMatchObject({ code: "TIMEOUT" });
  });

  test("an answer that has arrived is not late because the process was stopped", async () => {
    const { wire, clock, paper } = wireOnPaper();
    const asked = wire.ask(request("A"), { timeoutMs: 100 });
    await settled();
    // Both at once, as after SIGCONT: the time is over, and the bytes are there to be read.
    clock.advance(5_000);
    paper.push(Buffer.from("+here\r\n"));
    expect(await asked).toBe("here");
    expect(wire.closed).toBe(false);
  });

  test("what has no deadline waits", async () => {
    const { wire, clock, answer } = wireOnPaper();
    const waiting = wire.ask(request("BLPOP"), UNLIMITED);
    await settled();
    clock.advance(1_000_000);
    await answer("*-1\r\n");
    expect(await waiting).toBeNull();
  });
});

describe("messages", () => {
  test("come between answers, as bytes", async () => {
    const { wire, answer } = wireOnPaper();
    const heard: string[] = [];
    const subscribed = wire.subscribe("news", (message) => heard.push(message.toString("utf8")));
    await settled();
    await answer("*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2\r\nhi\r\n");
    await subscribed;
    expect(heard).toEqual(["hi"]);
    const pong = wire.ask(request("PING"), UNLIMITED);
    await settled();
    await answer(
      "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$3\r\nyou\r\n*2\r\n$4\r\npong\r\n$0\r\n\r\n>3\r\n+message\r\n+news\r\n+all\r\n",
    );
    expect(await pong).toEqual(["pong", ""]);
    expect(heard).toEqual(["hi", "you", "all"]);
    const gone = wire.unsubscribe("news");
    await settled();
    await answer("*3\r\n$11\r\nunsubscribe\r\n$4\r\nnews\r\n:0\r\n");
    await gone;
  });
});

describe("the end", () => {
  test("of a connection says why, without what a stream hung on the error", async () => {
    const { wire, paper } = wireOnPaper();
    const waiting = outcome(wire.ask(request("SET", "k", "a secret"), { timeoutMs: 100 }));
    await settled();
    paper.destroy(Object.assign(new Error("read ECONNRESET"), { command: { args: ["a secret"] } }));
    const error = (await waiting) as Error;
    expect(error.message).toBe("the connection to paper:1 was lost: read ECONNRESET");
    expect(JSON.stringify([error, error.cause])).not.toContain("secret");
  });

  test("comes in the middle of every kind of reply", async () => {
    for (const begun of ["+O", "$5\r\nhel", "*3\r\n:1\r\n", ":12", "-ERR", "%1\r\n+a\r\n", "*2\r\n$3\r\nab"]) {
      const { wire, paper, answer } = wireOnPaper();
      const waiting = outcome(wire.ask(request("X"), UNLIMITED));
      await settled();
      await answer(begun);
      paper.push(null);
      paper.destroy();
      expect(await waiting, begun).toMatchObject({ name: "ConnectionError", maybeExecuted: true });
      expect(wire.closed).toBe(true);
    }
  });

  test.each([
    ["bytes that are not a reply", "HTTP/1.1 400 Bad Request\r\n"],
    ["an answer that nobody asked for", "+OK\r\n+OK\r\n"],
  ])("%s ends the connection", async (_, bytes) => {
    const { wire, answer } = wireOnPaper();
    const waiting = outcome(wire.ask(request("X"), UNLIMITED));
    await settled();
    await answer(bytes);
    await waiting;
    expect(wire.closed).toBe(true);
    expect(await outcome(wire.ask(request("Y"), UNLIMITED))).toMatchObject({ maybeExecuted: false });
  });

  test("waits for answers when it is asked to, but not for ever", async () => {
    const { wire, clock, answer } = wireOnPaper();
    const first = wire.ask(request("A"), UNLIMITED);
    const second = outcome(wire.ask(request("B"), UNLIMITED));
    await settled();
    const drained = wire.drain(1_000, "closing");
    await answer("+OK\r\n");
    expect(await first).toBe("OK");
    expect(wire.closed).toBe(false);
    clock.advance(1_000);
    await drained;
    expect(await second).toMatchObject({ message: "closing", maybeExecuted: true });
  });
});
