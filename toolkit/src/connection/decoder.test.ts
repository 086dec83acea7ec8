/** Replies as bytes: every form, cut at every place, and damaged at random. */
import { describe, expect, test } from "vitest";
import { ServerError } from "../base/errors.ts";
import { Decoder, ProtocolError, serverError } from "./decoder.ts";
import type { Answer, Reply } from "./port.ts";

interface Heard {
  readonly replies: Answer[];
  readonly pushes: Reply[][];
  large: number;
}

function decoder(asBytes = false, maxBytes = 1 << 24) {
  const heard: Heard = { replies: [], pushes: [], large: 0 };
  const made = new Decoder(
    {
      wantsBytes: () => asBytes,
      reply: (answer) => heard.replies.push(answer),
      tooLarge: () => heard.large++,
      push: (items) => heard.pushes.push(items),
    },
    maxBytes,
  );
  /** The bytes are lent, as sockets do: they are others' as soon as it returns. */
  const feed = (bytes: string | Buffer): void => {
    const lent = Buffer.from(bytes);
    made.feed(lent, true);
    lent.fill("!");
  };
  return { heard, feed, feedOwn: (bytes: Buffer) => made.feed(bytes) };
}

const decoded = (bytes: string, asBytes = false): Answer[] => {
  const { heard, feed } = decoder(asBytes);
  feed(bytes);
  return heard.replies;
};

const FORMS: readonly (readonly [string, Answer])[] = [
  ["+OK\r\n", "OK"],
  ["+\r\n", ""],
  ["+a longer line than those that are searched by steps\r\n", "a longer line than those that are searched by steps"],
  ["-ERR no\r\n", new ServerError("ERR no")],
  [":0\r\n", 0],
  [":-1\r\n", -1],
  [":+7\r\n", 7],
  [":9007199254740991\r\n", 9_007_199_254_740_991],
  [":9223372036854775807\r\n", "9223372036854775807"],
  [":-9223372036854775808\r\n", "-9223372036854775808"],
  ["$0\r\n\r\n", ""],
  ["$5\r\nhello\r\n", "hello"],
  ["$6\r\n\r\n$3\r\n\r\n", "\r\n$3\r\n"],
  ["$7\r\ngrün €\r\n".replace("$7", `$${Buffer.byteLength("grün €")}`), "grün €"],
  ["$-1\r\n", null],
  ["*0\r\n", []],
  ["*-1\r\n", null],
  ["*3\r\n:1\r\n$1\r\na\r\n*2\r\n+x\r\n$-1\r\n", [1, "a", ["x", null]]],
  ["*2\r\n*0\r\n*1\r\n*0\r\n", [[], [[]]]],
  ["*2\r\n-OOM full\r\n:1\r\n", [new ServerError("OOM full") as never, 1]],
  ["_\r\n", null],
  ["#t\r\n", 1],
  ["#f\r\n", 0],
  [",1.5\r\n", "1.5"],
  [",inf\r\n", "inf"],
  ["(3492890328409238509324850943850943825024385\r\n", "3492890328409238509324850943850943825024385"],
  ["!9\r\nERR wrong\r\n", new ServerError("ERR wrong")],
  ["=7\r\ntxt:abc\r\n", "abc"],
  ["%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n", ["a", 1, "b", 2]],
  ["~2\r\n+a\r\n+b\r\n", ["a", "b"]],
  ["|1\r\n+ttl\r\n:3\r\n:5\r\n", 5],
  ["*2\r\n|1\r\n+ttl\r\n:3\r\n:5\r\n:6\r\n", [5, 6]],
];

describe("a reply", () => {
  test.each(FORMS)("%j", (bytes, expected) => {
    expect(decoded(bytes)).toEqual([expected]);
  });

  test("has Buffers for strings where they are asked for", () => {
    expect(decoded("*3\r\n$1\r\na\r\n+b\r\n:1\r\n", true)).toEqual([[Buffer.from("a"), Buffer.from("b"), 1]]);
  });

  test("that is a small Buffer does not keep the chunk that brought it", () => {
    const { heard, feedOwn } = decoder(true);
    const chunk = Buffer.from(`$3\r\nabc\r\n$60000\r\n${"x".repeat(60_000)}\r\n`);
    feedOwn(chunk);
    const [small, large] = heard.replies as Buffer[];
    expect(small!.toString()).toBe("abc");
    expect(small!.buffer).not.toBe(chunk.buffer);
    expect(large).toEqual(Buffer.from("x".repeat(60_000)));
  });

  test("of many chunks is whole, as text and as a Buffer", () => {
    const text = Array.from({ length: 300_000 }, (_, at) => String.fromCharCode(0x20 + (at % 0x700))).join("");
    const bytes = Buffer.from(`$${Buffer.byteLength(text)}\r\n${text}\r\n:7\r\n`);
    for (const asBytes of [false, true]) {
      for (const size of [1_000, 65_536, 400_000]) {
        const { heard, feed } = decoder(asBytes);
        for (let at = 0; at < bytes.length; at += size) feed(bytes.subarray(at, at + size));
        expect(heard.replies.length).toBe(2);
        expect(String(heard.replies[0]) === text).toBe(true);
        expect(heard.replies[1]).toBe(7);
      }
    }
  });

  test("of many items is whole", () => {
    const items = Array.from({ length: 100_000 }, (_, at) => at);
    expect(decoded(`*${items.length}\r\n${items.map((each) => `:${each}\r\n`).join("")}`)).toEqual([items]);
  });

  test("is the same however the bytes are cut", () => {
    const stream = Buffer.from(FORMS.map(([bytes]) => bytes).join(""));
    const expected = FORMS.map(([, answer]) => answer);
    for (let at = 1; at < stream.length; at++) {
      const { heard, feed } = decoder();
      feed(stream.subarray(0, at));
      feed(stream.subarray(at));
      expect(heard.replies, `cut at ${at}`).toEqual(expected);
    }
    for (const size of [1, 2, 3, 7]) {
      const { heard, feed } = decoder();
      for (let at = 0; at < stream.length; at += size) feed(stream.subarray(at, at + size));
      expect(heard.replies, `pieces of ${size}`).toEqual(expected);
    }
  });

  test("of many chunks costs as much for each byte as a short one", () => {
    // Parsing each time from the beginning would take hours.
    const { heard, feed } = decoder(false, 1 << 30);
    const items = 300_000;
    const stream = Buffer.from(`*${items}\r\n${"$3\r\nabc\r\n".repeat(items)}`);
    for (let at = 0; at < stream.length; at += 97) feed(stream.subarray(at, at + 97));
    expect((heard.replies[0] as Reply[]).length).toBe(items);
  });
});

describe("messages", () => {
  test("that nobody asked for stand between replies", () => {
    const { heard, feed } = decoder();
    feed(":1\r\n>3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n:2\r\n");
    expect(heard.replies).toEqual([1, 2]);
    expect(heard.pushes).toEqual([[Buffer.from("message"), Buffer.from("c"), Buffer.from("hi")]]);
  });
});

describe("a reply that is too large", () => {
  test.each([
    ["a string", `$2000\r\n${"x".repeat(2_000)}\r\n`],
    ["a string in pieces", `$200000\r\n${"x".repeat(200_000)}\r\n`],
    ["a list", `*200\r\n${":1\r\n".repeat(200)}`],
    ["a map of strings", `%10\r\n${`$100\r\n${"x".repeat(100)}\r\n`.repeat(20)}`],
  ])("%s: is passed over, and the next is read", (_, bytes) => {
    for (const size of [64, 100_000_000]) {
      const { heard, feed } = decoder(false, 1_000);
      const stream = Buffer.from(`${bytes}+next\r\n`);
      for (let at = 0; at < stream.length; at += size) feed(stream.subarray(at, at + size));
      expect(heard).toMatchObject({ large: 1, replies: ["next"] });
    }
  });

  test("takes no memory because it was announced", () => {
    const before = process.memoryUsage().rss;
    const decoders = Array.from({ length: 50 }, () => decoder());
    for (const { feed } of decoders) feed("*4000000000\r\n$536870912\r\nx");
    expect(process.memoryUsage().rss - before).toBeLessThan(100 << 20);
  });
});

describe("bytes that are not a reply", () => {
  test.each([
    ["another first byte", "hello\r\n"],
    ["a length that is text", "$abc\r\n"],
    ["a length below -1", "$-2\r\n"],
    ["a length beyond all bounds", "*99999999999\r\n"],
    ["a length of many digits", "$99999999999999999999\r\n"],
    ["a number without digits", ":\r\n"],
    ["a line that ends with CR alone", "+OK\rx"],
    ["a string that goes on", "$1\r\nabc\r\n"],
    ["lists in lists without end", "*1\r\n".repeat(10_000)],
    ["a message inside of a reply", "*2\r\n:1\r\n>1\r\n:1\r\n"],
    ["a line without end", `+${"x".repeat(3 << 20)}`],
  ])("%s is refused", (_, bytes) => {
    expect(() => decoder().feed(bytes)).toThrow(ProtocolError);
  });

  test("60 000 damaged replies are read or refused, and nothing else", () => {
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) & 0x7fff_ffff;
      return seed % below;
    };
    const stream = Buffer.from(FORMS.map(([bytes]) => bytes).join(""));
    let refused = 0;
    for (let round = 0; round < 60_000; round++) {
      const damaged = Buffer.from(stream.subarray(random(stream.length)));
      for (let times = 1 + random(3); times > 0 && damaged.length > 0; times--) {
        damaged[random(damaged.length)] = random(256);
      }
      const { feed } = decoder(round % 2 === 0, 10_000);
      const cut = random(damaged.length + 1);
      try {
        feed(damaged.subarray(0, cut));
        feed(damaged.subarray(cut));
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(10_000);
  });
});

test("a replica's refusal is seen inside of what an older server wraps it into", () => {
  const text =
    "ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica.";
  expect(serverError(text).code).toBe("READONLY");
  expect(serverError("ERR Error running script (call to f_1): something else").code).toBe("ERR");
});
