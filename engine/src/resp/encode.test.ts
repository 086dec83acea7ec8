/** Every kind of reply in RESP2 and RESP3, what is kept of messages, and large words. */
import { describe, expect, it } from "vitest";
import { ReplyError } from "../core/errors.ts";
import {
  BigNumber,
  BLOCKED,
  Double,
  MapReply,
  NIL_ARRAY,
  NO_REPLY,
  OK,
  Push,
  Replies,
  type Reply,
  SetReply,
  Status,
  Verbatim,
  WithAttributes,
  WithMessages,
} from "../core/reply.ts";
import { encode } from "./encode.ts";
import { Output } from "./output.ts";

/** A reply's bytes, which are the same whether the Output holds the process's memory for replies or not. */
function bytes(reply: Reply, protocol: 2 | 3): string {
  const [held, free] = [new Output(), new Output()];
  held.hold();
  free.hold();
  try {
    for (const out of [held, free]) encode(reply, protocol, out);
    expect(held.length).toBe(free.length);
  } finally {
    held.release();
    free.release();
  }
  const [text, other] = [take(held), take(free)];
  expect(text === other).toBe(true);
  return text;
}

function take(out: Output): string {
  const { length } = out;
  const text = out.takeText() ?? out.takeParts().map(partText).join("");
  expect(text).toHaveLength(length);
  expect(out.length).toBe(0);
  return text;
}

const partText = (part: string | Buffer) => (typeof part === "string" ? part : part.latin1Slice());

const KINDS: [what: string, reply: Reply, resp2: string, resp3?: string][] = [
  ["a string", "hello", "$5\r\nhello\r\n"],
  ["an empty string", "", "$0\r\n\r\n"],
  ["bytes", "\x00\xff\r\n", "$4\r\n\x00\xff\r\n\r\n"],
  ["a string of 1023 bytes", "a".repeat(1023), `$1023\r\n${"a".repeat(1023)}\r\n`],
  ["a string of 1024 bytes", "a".repeat(1024), `$1024\r\n${"a".repeat(1024)}\r\n`],
  ["a number", 7, ":7\r\n"],
  ["a large number", 1024, ":1024\r\n"],
  ["a negative number", -1, ":-1\r\n"],
  ["2^53 - 1", Number.MAX_SAFE_INTEGER, ":9007199254740991\r\n"],
  ["an int64", -9223372036854775808n, ":-9223372036854775808\r\n"],
  ["null", null, "$-1\r\n", "_\r\n"],
  ["a null array", NIL_ARRAY, "*-1\r\n", "_\r\n"],
  ["true", true, ":1\r\n", "#t\r\n"],
  ["false", false, ":0\r\n", "#f\r\n"],
  ["an array", ["a", 1, null], "*3\r\n$1\r\na\r\n:1\r\n$-1\r\n", "*3\r\n$1\r\na\r\n:1\r\n_\r\n"],
  ["an empty array", [], "*0\r\n"],
  ["arrays in arrays", [[["x"]], []], "*2\r\n*1\r\n*1\r\n$1\r\nx\r\n*0\r\n"],
  ["a status", OK, "+OK\r\n"],
  ["a status with line breaks", new Status("a\r\nb"), "+a  b\r\n"],
  ["an error", new ReplyError("ERR no"), "-ERR no\r\n"],
  ["an error with line breaks", new ReplyError("ERR a\r\n+OK\nb"), "-ERR a  +OK b\r\n"],
  ["an error in an array", [new ReplyError("ERR no")], "*1\r\n-ERR no\r\n"],
  ["a double", new Double(0.5), "$3\r\n0.5\r\n", ",0.5\r\n"],
  ["a whole double", new Double(3), "$1\r\n3\r\n", ",3\r\n"],
  ["infinity", new Double(Number.NEGATIVE_INFINITY), "$4\r\n-inf\r\n", ",-inf\r\n"],
  ["a map", new MapReply(["k", 1]), "*2\r\n$1\r\nk\r\n:1\r\n", "%1\r\n$1\r\nk\r\n:1\r\n"],
  ["an empty map", new MapReply([]), "*0\r\n", "%0\r\n"],
  ["a set", new SetReply(["a", "b"]), "*2\r\n$1\r\na\r\n$1\r\nb\r\n", "~2\r\n$1\r\na\r\n$1\r\nb\r\n"],
  [
    "a push",
    new Push(["message", "c", "m"]),
    "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n",
    ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n",
  ],
  ["text for people", new Verbatim("hi"), "$2\r\nhi\r\n", "=6\r\ntxt:hi\r\n"],
  ["text in markdown", new Verbatim("# hi", "mkd"), "$4\r\n# hi\r\n", "=8\r\nmkd:# hi\r\n"],
  [
    "a big number",
    new BigNumber("1234567890123456789012"),
    "$22\r\n1234567890123456789012\r\n",
    "(1234567890123456789012\r\n",
  ],
  [
    "attributes",
    new WithAttributes(new MapReply(["ttl", 5]), "v"),
    "$1\r\nv\r\n",
    "|1\r\n$3\r\nttl\r\n:5\r\n$1\r\nv\r\n",
  ],
  ["several replies", new Replies([OK, 1]), "+OK\r\n:1\r\n"],
  [
    "a reply with messages",
    new WithMessages(OK, [new Push(["invalidate", null])]),
    "+OK\r\n*2\r\n$10\r\ninvalidate\r\n$-1\r\n",
    "+OK\r\n>2\r\n$10\r\ninvalidate\r\n_\r\n",
  ],
  ["no reply", NO_REPLY, ""],
  ["a reply that comes later", BLOCKED, ""],
];

describe("replies", () => {
  it.each(KINDS)("%s", (_what, reply, resp2, resp3) => {
    expect(bytes(reply, 2)).toBe(resp2);
    expect(bytes(reply, 3)).toBe(resp3 ?? resp2);
  });

  it("writes aggregates of any size with their number of elements", () => {
    for (const size of [1023, 1024, 5000]) {
      const items = new Array<Reply>(size).fill(1);
      expect(bytes(items, 2).startsWith(`*${size}\r\n:1`)).toBe(true);
      expect(bytes(new SetReply(items), 3).startsWith(`~${size}\r\n:1`)).toBe(true);
    }
  });

  it("writes integers of every length", () => {
    for (let digits = 1; digits <= 16; digits++) {
      for (const value of [10 ** (digits - 1), 10 ** digits - 1, Number("1234567890123456".slice(0, digits))]) {
        if (!Number.isSafeInteger(value)) continue;
        expect(bytes(value, 2)).toBe(`:${value}\r\n`);
        expect(bytes(-value, 2)).toBe(`:${-value}\r\n`);
      }
    }
    for (const value of [0, 1023, 1024, 2 ** 31 - 1, 2 ** 31, -(2 ** 31)])
      expect(bytes(value, 3)).toBe(`:${value}\r\n`);
  });

  it("refuses a value that is not a reply", () => {
    expect(() => bytes({} as Reply, 2)).toThrow(TypeError);
  });
});

describe("a message to many", () => {
  it("is encoded once for each protocol", () => {
    const push = new Push(["message", "c", "m"]);
    const first = bytes(push, 2);
    expect(push.resp2).toBe(first);
    expect(push.resp3).toBeNull();
    push.resp2 = "kept";
    expect(bytes(push, 2)).toBe("kept");
    expect(bytes(push, 3)).toMatch(/^>3/);
    expect(push.resp3).toMatch(/^>3/);
  });

  it("is not kept as one string when it is large", () => {
    const word = "x".repeat(2_000_000);
    const push = new Push(["message", "c", word]);
    expect(bytes(push, 2)).toBe(`*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2000000\r\n${word}\r\n`);
    expect(push.resp2).toBeNull();
  });
});

describe("the memory for replies", () => {
  it("is one Output's at a time, and holds more than its size", () => {
    const [one, two] = [new Output(), new Output()];
    one.hold();
    two.hold();
    for (let i = 0; i < 20_000; i++) {
      encode("one", 2, one);
      encode("two!", 2, two);
    }
    two.release();
    encode("one", 2, one);
    one.release();
    two.hold();
    encode("two!", 2, two);
    two.release();
    expect(take(one)).toBe("$3\r\none\r\n".repeat(20_001));
    expect(take(two)).toBe("$4\r\ntwo!\r\n".repeat(20_001));
  });

  it.each([94, 95, 96, 97, 98])("takes words of any length around its own limit: %d", (length) => {
    const word = "\xe9".repeat(length);
    expect(bytes([word, word], 2)).toBe(`*2\r\n${`$${length}\r\n${word}\r\n`.repeat(2)}`);
    expect(bytes(new Status(word), 2)).toBe(`+${word}\r\n`);
  });
});

describe("large words", () => {
  it.each([64 * 1024 - 1, 64 * 1024, 3_000_000])("of %d bytes", (length) => {
    const word = "\xe9".repeat(length);
    expect(bytes([word, "b", word], 2)).toBe(`*3\r\n$${length}\r\n${word}\r\n$1\r\nb\r\n$${length}\r\n${word}\r\n`);
    expect(bytes(new Verbatim(word), 3)).toBe(`=${length + 4}\r\ntxt:${word}\r\n`);
  });

  it("stand alone and uncopied, so that together they may pass the longest string", () => {
    const out = new Output();
    const word = "x".repeat(100_000);
    encode([word, word], 2, out);
    expect(out.takeText()).toBeNull();
    const parts = out.takeParts();
    expect(parts.filter((part) => part === word)).toHaveLength(2);
    expect(out.takeText()).toBe("");
  });

  it("stops in the middle of a reply that is over the limit", () => {
    const out = new Output();
    out.limit = 10_000;
    encode(
      Array.from({ length: 1_000_000 }, () => "0123456789"),
      2,
      out,
    );
    expect(out.isFull).toBe(true);
    expect(out.length).toBeLessThan(20_000);
  });

  it("leaves no long string of small replies joined", () => {
    const out = new Output();
    for (let i = 0; i < 300_000; i++) encode("0123456789", 2, out);
    expect(out.length).toBe(300_000 * 17);
    const parts = out.takeParts();
    expect(parts.length).toBeGreaterThan(3);
    expect(parts.map(partText).join("")).toBe("$10\r\n0123456789\r\n".repeat(300_000));
  });
});
