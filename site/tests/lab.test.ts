/** What the live parts are made of, without a page: lines and words, replies, values, links, hints, programs. */
import { inspect } from "node:util";
import { Engine } from "@cinnabar/engine";
import { describe, expect, test } from "vitest";
import { formatted } from "../lab/format.ts";
import { completed, hintFor } from "../lab/hints.ts";
import { said } from "../lab/inspect.ts";
import { addressIn, runnable } from "../lab/program.ts";
import { encode, Replies, type Reply } from "../lab/resp.ts";
import { linesFrom, linkWith } from "../lab/share.ts";
import { serveStore } from "../lab/store.ts";
import { quoted, textOf, wordsOf } from "../lab/words.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("a line", () => {
  test.each([
    ["SET a 1", ["SET", "a", "1"]],
    ['SET a "two words" \'it"s\'', ["SET", "a", "two words", 'it"s']],
    ['ECHO "a\\nb\\x41\\"" 你好', ["ECHO", 'a\nbA"', "你好"]],
    ["  ", []],
  ])("%j has its words", (line, words) => {
    expect(wordsOf(line)?.map(textOf)).toEqual(words);
  });

  test.each(['SET "a', "'a'b", '"a"b'])("%j is refused", (line) => {
    expect(wordsOf(line)).toBeNull();
  });

  test("keeps bytes that are no text, and shows them", () => {
    const [, word] = wordsOf('ECHO "\\xff\\x00"')!;
    expect([...word!]).toEqual([255, 0]);
    expect(quoted(word!)).toBe('"\\xff\\x00"');
    expect(quoted(bytes('a"b\\ü\n'))).toBe('"a\\"b\\\\ü\\n"');
  });
});

describe("replies", () => {
  const all = "+OK\r\n-ERR no\r\n:42\r\n$5\r\nhe\r\no\r\n$-1\r\n*2\r\n:1\r\n*1\r\n$1\r\na\r\n%1\r\n+k\r\n:1\r\n_\r\n";

  test("are the same at every split point", () => {
    const whole = new Replies().feed(bytes(all));
    expect(whole.map(({ kind }) => kind)).toEqual([
      "status",
      "error",
      "integer",
      "string",
      "nil",
      "array",
      "map",
      "nil",
    ]);
    for (let at = 1; at < all.length; at++) {
      const replies = new Replies();
      expect([...replies.feed(bytes(all.slice(0, at))), ...replies.feed(bytes(all.slice(at)))]).toEqual(whole);
    }
  });

  test("are printed as redis-cli prints them", () => {
    const lines = (reply: Reply) => formatted(reply).map(({ text }) => text);
    const string = (text: string): Reply => ({ kind: "string", bytes: bytes(text) });
    const inner: Reply = { kind: "array", items: [string("a"), { kind: "nil" }] };
    expect(lines({ kind: "array", items: [{ kind: "integer", text: "1" }, inner, string("b")] })).toEqual([
      "1) (integer) 1",
      '2) 1) "a"',
      "   2) (nil)",
      '3) "b"',
    ]);
    expect(lines({ kind: "map", items: [string("k"), { kind: "integer", text: "1" }] })).toEqual([
      '1# "k" => (integer) 1',
    ]);
    expect(lines({ kind: "array", items: [] })).toEqual(["(empty array)"]);
    expect(formatted(string("# Server\r\na:1\r\n"), true).map(({ text }) => text)).toEqual(["# Server", "a:1"]);
  });

  test("commands are encoded by their bytes", () => {
    expect(textOf(encode(wordsOf("SET a 你")!))).toBe("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$3\r\n你\r\n");
  });
});

describe("values", () => {
  test.each([
    [{ status: "done", result: "it's" }],
    [[1, -0, null, undefined, true, 10n]],
    [new Map<string, unknown>([["a", { b: [1] }]])],
    [new Set(["x"])],
    [new Date(0)],
    [{ "a-b": [], c: {}, d: () => 1 }],
    [Buffer.from("hi")],
    [{ a: { b: { c: { d: 1 } } } }],
  ])("%o is shown as in Node", (value) => {
    expect(said([value])).toBe(inspect(value).replace(/\[Function: (\w+)\]/, "[Function: $1]"));
  });

  test("text stays text, and a list that is its own item ends", () => {
    const list: unknown[] = [1];
    list.push(list);
    expect(said(["a b", list])).toBe("a b [ 1, [Circular *1] ]");
  });
});

describe("a link", () => {
  test("brings the commands back, in any letters", () => {
    const lines = ['SET a "你好"', "GET a"];
    const link = linkWith("http://x/docs/playground.html?a=1#old", lines);
    expect(link).toMatch(/^http:\/\/x\/docs\/playground\.html\?a=1#run=[\w-]+$/);
    expect(linesFrom(new URL(link).hash)).toEqual(lines);
  });

  test.each(["", "#run=", "#run=%%%", "#run=_w", "#other"])("that is damaged (%j) brings nothing", (hash) => {
    expect(linesFrom(hash)).toEqual([]);
  });
});

describe("the prompt", () => {
  const commands = [
    { name: "GET", syntax: "key", summary: "Returns it." },
    { name: "GETDEL", syntax: "key", summary: "Returns and deletes it." },
    { name: "CONFIG GET", syntax: "parameter", summary: "Reads." },
    { name: "CONFIG SET", syntax: "parameter value", summary: "Writes." },
  ];

  test("hints at what follows, or at the names that begin so", () => {
    expect(hintFor("get ", commands)).toBe("GET key — Returns it.");
    expect(hintFor("config get x", commands)).toBe("CONFIG GET parameter — Reads.");
    expect(hintFor("con", commands)).toBe("CONFIG GET  CONFIG SET");
    expect(hintFor("", commands)).toBe("");
  });

  test("completes as far as only one goes on", () => {
    expect(completed("getd", commands)).toBe("GETDEL ");
    expect(completed("c", commands)).toBe("CONFIG ");
    expect(completed("get", commands)).toBeNull();
    expect(completed("nothing", commands)).toBeNull();
  });
});

describe("a program", () => {
  const address = addressIn((path) => `https://x/run/${path.slice(2)}`);

  test("loses its types and finds our packages", () => {
    const code = `import { open, type Store } from "cinnabar";\nimport { Queue } from "cinnabar/queues";\nimport { Engine } from "@cinnabar/engine";\nconst db: Store = await open();\nconst { a } = await import("cinnabar/cache");\nconst q = new Queue<{ to: string }>(db, "mails", Engine, a!);`;
    const plain = runnable(code, address);
    expect(plain).toContain('from "https://x/run/cinnabar.js"');
    expect(plain).toContain('from "https://x/run/toolkit/queues.js"');
    expect(plain).toContain('from "https://x/run/engine/index.js"');
    expect(plain).toContain('import("https://x/run/toolkit/cache.js")');
    expect(plain).not.toMatch(/Store|<\{|a!/);
  });

  test("keeps other names, which the page then refuses", () => {
    expect(runnable('import x from "ioredis"; x();', address)).toContain('from "ioredis"');
  });
});

test("a prompt's store is closed with its connection, so that emptying it again and again keeps nothing", async () => {
  const engine = await Engine.open();
  const calls = new MessageChannel();
  const visits = new MessageChannel();
  const visited: unknown[] = [];
  serveStore(engine as never, calls.port2, visits.port2, (port) => visited.push(port));
  const browser = new MessageChannel();
  visits.port1.postMessage(browser.port1, [browser.port1]);
  await expect.poll(() => visited.length).toBe(1);
  const client = engine.connect();
  expect(await client.call("PING")).toBe("PONG");
  visits.port1.postMessage(null);
  await expect.poll(() => client.call("PING").catch((error: Error) => error.message)).toMatch(/closed/);
  calls.port1.close();
  browser.port2.close();
});
