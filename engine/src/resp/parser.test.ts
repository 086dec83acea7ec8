/** Bytes in, commands out: whole, byte by byte and cut anywhere; what is malformed; what is large. */
import { describe, expect, it } from "vitest";
import { ReplyError } from "../core/errors.ts";
import { LONGEST_WORD } from "../core/longest-string.ts";
import { RequestParser } from "./parser.ts";
import { splitWords } from "./split-words.ts";

const LIMIT = 512 * 1024 * 1024;

function parser(limits: { maxWordBytes?: number; unauthenticated?: boolean } = {}): RequestParser {
  return new RequestParser({ maxWordBytes: LIMIT, unauthenticated: false, ...limits });
}

type Outcome = string[] | string;

/** Takes what is complete; an error stands as its text, at the end. */
function take(from: RequestParser, into: Outcome[] = []): Outcome[] {
  for (;;) {
    const next = from.next();
    if (next === undefined) return into;
    into.push(next instanceof ReplyError ? next.text : next);
    if (next instanceof ReplyError) return into;
  }
}

/** What comes out when the text arrives in these pieces. */
function parse(pieces: readonly string[], from = parser()): Outcome[] {
  const outcomes: Outcome[] = [];
  for (const piece of pieces) {
    from.feed(Buffer.from(piece, "latin1"));
    take(from, outcomes);
  }
  return outcomes;
}

const error = (what: string) => `ERR Protocol error: ${what}`;

/** Each form of request and what it means. Asked of a real 7.0.15 where it is not plain. */
const FORMS: [what: string, bytes: string, outcomes: Outcome[]][] = [
  ["an array", "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", [["GET", "k"]]],
  ["two arrays", "*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n", [["PING"], ["ECHO", "hi"]]],
  ["an empty word", "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", [["ECHO", ""]]],
  ["a word of line breaks", "*2\r\n$4\r\nECHO\r\n$4\r\n\r\n\r\n\r\n", [["ECHO", "\r\n\r\n"]]],
  ["all bytes", `*2\r\n$4\r\nECHO\r\n$6\r\n\x00\x7f\x80\xff\r*\r\n`, [["ECHO", "\x00\x7f\x80\xff\r*"]]],
  ["a wrong end of a word, passed over unread", "*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n", [["PING"], ["PING"]]],
  ["arrays of nothing", "*0\r\n*-5\r\n*-1\r\n*1\r\n$4\r\nPING\r\n", [["PING"]]],
  ["a line", "PING\r\n", [["PING"]]],
  [
    "lines with LF only",
    "SET a b\nGET a\n",
    [
      ["SET", "a", "b"],
      ["GET", "a"],
    ],
  ],
  ["empty lines", "\r\n\n  \r\nPING\r\n\r\n", [["PING"]]],
  ["spaces around words", "  ECHO \t hi  \r\n", [["ECHO", "hi"]]],
  ["double quotes", 'ECHO "a\\x41\\n \\"q\\" \\\\"\r\n', [["ECHO", 'aA\n "q" \\']]],
  ["single quotes", "ECHO 'a\\'b \\n'\r\n", [["ECHO", "a'b \\n"]]],
  ["an empty quoted word", "ECHO \"\" ''\r\n", [["ECHO", "", ""]]],
  ["a line, then an array", "PING\r\n*1\r\n$4\r\nPING\r\n", [["PING"], ["PING"]]],
  ["an array, then a line", "*1\r\n$4\r\nPING\r\nPING\r\n", [["PING"], ["PING"]]],
  ["a large array announced", "*1048577\r\n$4\r\nECHO\r\n", []],
  ["an unfinished word", "*1\r\n$4\r\nPIN", []],
];

const MALFORMED: [what: string, bytes: string, text: string][] = [
  ["a count that is no number", "*abc\r\n", "invalid multibulk length"],
  ["a count of nothing", "*\r\n", "invalid multibulk length"],
  ["a count past 2^31 - 1", "*2147483648\r\n", "invalid multibulk length"],
  ["a count past 2^63", "*9223372036854775808\r\n", "invalid multibulk length"],
  ["a count with a plus", "*+1\r\n", "invalid multibulk length"],
  ["a count with a leading zero", "*01\r\n", "invalid multibulk length"],
  ["a count of minus zero", "*-0\r\n", "invalid multibulk length"],
  ["a count with a space", "*3 \r\n", "invalid multibulk length"],
  ["a length that is no number", "*1\r\n$abc\r\n", "invalid bulk length"],
  ["a length of nothing", "*1\r\n$\r\n", "invalid bulk length"],
  ["a negative length", "*1\r\n$-1\r\n", "invalid bulk length"],
  ["a length with a leading zero", "*1\r\n$04\r\n", "invalid bulk length"],
  ["a length past the limit", "*1\r\n$536870913\r\n", "invalid bulk length"],
  ["a length past V8's longest string", `*1\r\n$${LONGEST_WORD + 1}\r\n`, "invalid bulk length"],
  ["an integer for a word", "*1\r\n:4\r\n", "expected '$', got ':'"],
  ["a line for a word", "*1\r\nPING\r\n", "expected '$', got 'P'"],
  ["a byte past ASCII for a word", "*1\r\n\xff\r\n", "expected '$', got '\xff'"],
  ["a quote that is not closed", 'ECHO "a\r\n', "unbalanced quotes in request"],
  ["a single quote that is not closed", "ECHO 'a\r\n", "unbalanced quotes in request"],
  ["something right behind a quote", 'ECHO "a"b\r\n', "unbalanced quotes in request"],
  ["a line of more than 64 KB", "A".repeat(65 * 1024), "too big inline request"],
  ["a count of more than 64 KB", `*${"1".repeat(65 * 1024)}`, "too big mbulk count string"],
  ["a length of more than 64 KB", `*1\r\n$${"1".repeat(65 * 1024)}`, "too big bulk count string"],
];

describe("requests", () => {
  it.each(FORMS)("%s", (_what, bytes, outcomes) => {
    expect(parse([bytes])).toEqual(outcomes);
  });

  it.each(FORMS)("%s, byte by byte", (_what, bytes, outcomes) => {
    expect(parse([...bytes])).toEqual(outcomes);
  });

  it.each(FORMS)("%s, cut in two and in three at every place", (_what, bytes, outcomes) => {
    for (let i = 0; i <= bytes.length; i++) {
      expect(parse([bytes.slice(0, i), bytes.slice(i)])).toEqual(outcomes);
      for (let j = i; j <= bytes.length; j++) {
        expect(parse([bytes.slice(0, i), bytes.slice(i, j), bytes.slice(j)])).toEqual(outcomes);
      }
    }
  });

  it("reads all forms one behind the other, cut at every place", () => {
    const complete = FORMS.filter(([, , outcomes]) => outcomes.length > 0);
    const bytes = complete.map(([, text]) => text).join("");
    const outcomes = complete.flatMap(([, , expected]) => expected);
    for (let i = 0; i <= bytes.length; i++) expect(parse([bytes.slice(0, i), bytes.slice(i)])).toEqual(outcomes);
  });

  it("reads random commands in random pieces", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      return (seed >>> 8) % below;
    };
    for (let round = 0; round < 30; round++) {
      const commands: string[][] = [];
      let bytes = "";
      for (let i = 0; i < 40; i++) {
        const words = Array.from({ length: 1 + random(5) }, () => {
          const length = random(30) === 0 ? 32_000 + random(2000) : random(40);
          return String.fromCharCode(...Array.from({ length }, () => random(256)));
        });
        commands.push(words);
        bytes += `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;
      }
      const pieces: string[] = [];
      for (let at = 0; at < bytes.length; ) {
        const next = at + 1 + random(random(4) === 0 ? 20_000 : 50);
        pieces.push(bytes.slice(at, next));
        at = next;
      }
      expect(parse(pieces)).toEqual(commands);
    }
  });
});

describe("malformed requests", () => {
  it.each(MALFORMED)("%s", (_what, bytes, text) => {
    expect(parse([bytes])).toEqual([error(text)]);
    expect(parse(["*1\r\n$4\r\nPING\r\n", bytes])).toEqual([["PING"], error(text)]);
  });

  it.each(MALFORMED.filter(([, bytes]) => bytes.length < 100))("%s, byte by byte", (_what, bytes, text) => {
    expect(parse([...bytes])).toEqual([error(text)]);
  });

  it("takes nothing more after an error", () => {
    const failed = parser();
    expect(parse(["*x\r\n"], failed)).toEqual([error("invalid multibulk length")]);
    expect(parse(["*1\r\n$4\r\nPING\r\n"], failed)).toEqual([]);
  });

  it("sees a line break in place of a word (which is written as a space)", () => {
    expect(parse(["*1\r\n\r\n"])).toEqual([error("expected '$', got '\r'")]);
  });
});

describe("before AUTH", () => {
  const array = (words: number) => `*${words}\r\n${"$1\r\na\r\n".repeat(words)}`;

  it("takes ten words, and no more", () => {
    expect(parse([array(10)], parser({ unauthenticated: true }))).toEqual([Array(10).fill("a")]);
    const refused = parse([array(11)], parser({ unauthenticated: true }));
    expect(refused).toEqual([error("unauthenticated multibulk length")]);
  });

  it("takes words of 16 KB, and no longer ones", () => {
    const word = (length: number) => `*1\r\n$${length}\r\n${"x".repeat(length)}\r\n`;
    expect(parse([word(16384)], parser({ unauthenticated: true }))).toEqual([["x".repeat(16384)]]);
    const refused = parse([word(16385)], parser({ unauthenticated: true }));
    expect(refused).toEqual([error("unauthenticated bulk length")]);
  });

  it("lifts the limits between two commands", () => {
    const one = parser({ unauthenticated: true });
    one.feed(Buffer.from(array(2) + array(11)));
    expect(one.next()).toEqual(["a", "a"]);
    one.limits.unauthenticated = false;
    expect(one.next()).toHaveLength(11);
  });
});

describe("large requests", () => {
  it("refuses words past proto-max-bulk-len", () => {
    expect(parse(["*1\r\n$101\r\n"], parser({ maxWordBytes: 100 }))).toEqual([error("invalid bulk length")]);
  });

  it("gathers a word from many small pieces in time that grows with its length", () => {
    // 64 MB in 16 KB pieces: joining all that has come at each of 4096 pieces would copy 128 GB.
    const length = 64 * 1024 * 1024;
    const piece = Buffer.alloc(16 * 1024, "x");
    const one = parser();
    one.feed(Buffer.from(`*2\r\n$4\r\nECHO\r\n$${length}\r\n`));
    for (let sent = 0; sent < length; sent += piece.length) {
      expect(one.next()).toBeUndefined();
      one.feed(piece);
    }
    one.feed(Buffer.from("\r\n"));
    const words = one.next() as string[];
    expect(words[1]).toHaveLength(length);
    expect(one.pendingBytes).toBe(0);
  });

  it("keeps what it may not run yet in time that grows with its length", () => {
    // A blocked client goes on sending: nothing is taken between the pieces.
    const command = Buffer.from(`*2\r\n$4\r\nECHO\r\n$1000\r\n${"y".repeat(1000)}\r\n`);
    const one = parser();
    const count = 32_000;
    for (let i = 0; i < count; i++) one.feed(command);
    expect(one.pendingBytes).toBe(count * command.length);
    let taken = 0;
    while (one.next() !== undefined) taken++;
    expect(taken).toBe(count);
    expect(one.pendingBytes).toBe(0);
  });

  it("reserves no memory for what was only announced", () => {
    const before = process.memoryUsage();
    const many = Array.from({ length: 500 }, () => {
      const one = parser();
      one.feed(Buffer.from("*2147483647\r\n$536870000\r\nx"));
      expect(one.next()).toBeUndefined();
      return one;
    });
    const after = process.memoryUsage();
    expect(many.every((one) => one.pendingBytes === 1)).toBe(true);
    // 500 of half a gigabyte were announced; each keeps 64 KB.
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(100 * 1024 * 1024);
  });

  it("takes a word that ends exactly with a piece, and its line end later", () => {
    const word = "z".repeat(40_000);
    const head = `*1\r\n$${word.length}\r\n`;
    expect(parse([head, word, "\r\n"])).toEqual([[word]]);
    expect(parse([head + word, "\r", "\n"])).toEqual([[word]]);
    expect(parse([head, word.slice(0, 39_999), "z\r", "\nPING\r\n"])).toEqual([[word], ["PING"]]);
  });

  it("reads a million commands in one piece", () => {
    const one = parser();
    one.feed(Buffer.from("*1\r\n$4\r\nPING\r\n".repeat(1_000_000)));
    let taken = 0;
    while (one.next() !== undefined) taken++;
    expect(taken).toBe(1_000_000);
  });

  it("reads a command of a million words", () => {
    const [words] = parse([`*1000000\r\n${"$1\r\nw\r\n".repeat(1_000_000)}`]);
    expect(words).toHaveLength(1_000_000);
  });
});

describe("memory that is used again", () => {
  it("has been copied, wherever it was cut", () => {
    const text = `*2\r\n$4\r\nECHO\r\n$3\r\nabc\r\nPING\r\n*2\r\n$3\r\nGET\r\n$40000\r\n${"k".repeat(40_000)}\r\n`;
    const wanted = [["ECHO", "abc"], ["PING"], ["GET", "k".repeat(40_000)]];
    for (let cut = 0; cut < text.length; cut += cut < 80 ? 1 : 7_919) {
      const parser = new RequestParser({ maxWordBytes: LIMIT, unauthenticated: false });
      const commands: unknown[] = [];
      for (const piece of [text.slice(0, cut), text.slice(cut, cut + 3), text.slice(cut + 3)]) {
        const memory = Buffer.from(piece, "latin1");
        parser.feed(memory);
        for (let next = parser.next(); next !== undefined; next = parser.next()) commands.push(next);
        parser.keep();
        memory.fill("!");
      }
      expect(commands).toEqual(wanted);
    }
  });
});

describe("a line of words", () => {
  it("means what a person's line means, short or long, plain or not", () => {
    const alphabet = ["a", "B", "7", "\xe9", "\x7f", "\\", " ", " ", " ", "\t", "\v", "\0", "\r", '"', "'"];
    let state = 7;
    const below = (n: number): number => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return Math.floor((state / 4294967296) * n);
    };
    let plain = 0;
    for (let round = 0; round < 20_000; round++) {
      // Half of them without what makes a line a special one.
      const letters = round % 2 === 0 ? 9 : alphabet.length;
      const length = below(10) === 0 ? 200 + below(120) : below(12);
      const line = Array.from({ length }, () => alphabet[below(letters)]).join("");
      const end = below(2) === 0 ? "\r\n" : "\n";
      const words = splitWords(end === "\n" ? line.replace(/\r$/, "") : line);
      if (words === undefined) expect(parse([line + end])).toEqual([error("unbalanced quotes in request")]);
      else {
        plain++;
        expect(parse([`${line}${end}*1\r\n$4\r\nPING\r\n`])).toEqual(
          words.length === 0 ? [["PING"]] : [words, ["PING"]],
        );
      }
    }
    expect(plain).toBeGreaterThan(10_000);
  });
});
