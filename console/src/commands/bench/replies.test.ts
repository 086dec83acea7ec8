import { expect, test } from "vitest";
import { ReplyCounter } from "./replies.ts";

const REPLIES: readonly (readonly [bytes: string, error: string | null])[] = [
  ["+OK\r\n", null],
  [":42\r\n", null],
  ["$5\r\nhe\r\no\r\n", null],
  ["$0\r\n\r\n", null],
  ["$-1\r\n", null],
  ["*-1\r\n", null],
  ["*0\r\n", null],
  ["-ERR no\r\n", "ERR no"],
  ["*3\r\n:1\r\n*2\r\n+a\r\n$1\r\nb\r\n*0\r\n", null],
  // An error inside of a transaction is not the reply.
  ["*2\r\n-WRONGTYPE x\r\n+OK\r\n", null],
  ["*1\r\n*1\r\n*1\r\n$-1\r\n", null],
];
const ALL = Buffer.from(REPLIES.map(([bytes]) => bytes).join(""), "latin1");
const ERRORS = REPLIES.map(([, error]) => error);

test("counts replies and tells errors, wherever what arrives is cut", () => {
  for (let cut = 0; cut <= ALL.length; cut++) {
    const seen: (string | null)[] = [];
    const counter = new ReplyCounter((error) => seen.push(error));
    counter.feed(ALL.subarray(0, cut));
    counter.feed(ALL.subarray(cut));
    expect(seen, `cut at ${cut}`).toEqual(ERRORS);
  }
});

test("and byte by byte", () => {
  const seen: (string | null)[] = [];
  const counter = new ReplyCounter((error) => seen.push(error));
  for (const byte of ALL) counter.feed(Buffer.from([byte]));
  expect(seen).toEqual(ERRORS);
});

test.each(["HTTP/1.1 400\r\n", "$x\r\n", "*1x\r\n"])("bytes that are not a reply are refused: %j", (text) => {
  expect(() => new ReplyCounter(() => {}).feed(Buffer.from(text))).toThrow("the server sent");
});

test("a line without an end does not fill the memory", () => {
  const counter = new ReplyCounter(() => {});
  expect(() => {
    for (let count = 0; count < 100; count++)
      counter.feed(Buffer.from(`${count === 0 ? "+" : ""}${"x".repeat(4_096)}`));
  }).toThrow("without an end");
});
