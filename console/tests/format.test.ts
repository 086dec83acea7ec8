/** How the page reads what is typed, and writes what is stored. */
import { expect, test } from "vitest";
import { wordOf } from "../src/values.ts";
import { bytes, counted, duration, editable, micros, number, sendable, shown, splitWords } from "../ui/format.ts";

test.each([
  ["SET a b", ["SET", "a", "b"]],
  ["  GET   a  ", ["GET", "a"]],
  ["SET a \"two words\" 'and more'", ["SET", "a", "two words", "and more"]],
  ['SET a "line\\n\\"quoted\\""', ["SET", "a", 'line\n"quoted"']],
  ["SET a 'it\\'s'", ["SET", "a", "it's"]],
  ['SET a ""', ["SET", "a", ""]],
  ["SET a it's", ["SET", "a", "it's"]],
])("%j is read as words", (line, words) => {
  expect(splitWords(line)).toEqual(words);
});

test.each(['GET "a', "GET 'a", 'GET "a"b'])("%j is not balanced", (line) => {
  expect(splitWords(line)).toContain("not balanced");
});

test("bytes reach the store as they were typed", () => {
  const [, word] = splitWords('GET "\\xff\\x00é"') as string[];
  expect(wordOf(word!)).toEqual(Buffer.from([0xff, 0x00, 0xc3, 0xa9]));
});

test("names come back as they were, those included that look like bytes", () => {
  for (const name of ["plain", "", "é:ü", "base64:AAAA", "base64:"]) {
    expect(Buffer.from(wordOf(sendable(name)) as string).toString()).toBe(name);
    expect(Buffer.from(wordOf((splitWords(`GET '${name}'`) as string[])[1]!) as string).toString()).toBe(name);
  }
  expect(wordOf(sendable({ bytes: "//4=" }))).toEqual(Buffer.from([0xff, 0xfe]));
  expect(shown({ bytes: "//4=" })).toBe("0xfffe");
});

test("figures are short", () => {
  expect([bytes(0), bytes(1_536), bytes(5 * 2 ** 30)]).toEqual(["0 B", "1.5 KB", "5.0 GB"]);
  expect([number(999), number(12_345), number(2_500_000)]).toEqual(["999", "12.3 k", "2.5 M"]);
  expect([micros(12), micros(1_500), micros(2_000_000)]).toEqual(["12 µs", "1.5 ms", "2.0 s"]);
  expect([duration(250), duration(90_000), duration(600_000)]).toEqual(["250 ms", "90 s", "10 min"]);
});

test.each(["plain", "one\ntwo", "one\r\ntwo\r\n", "one\r\ntwo\nthree\r", "C:\\raw\r", "\r", "a\\\\r\rb"])(
  "%j survives a field of a browser, which knows one end of a line",
  (text) => {
    const { value, read } = editable(text);
    const typed = value.replace(/\r\n?/g, "\n");
    expect(read(typed)).toBe(text);
    // Some browsers send CRLF for each end.
    expect(read(typed.replaceAll("\n", "\r\n")).replaceAll("\r\n", "\n")).toBe(text.replaceAll("\r\n", "\n"));
  },
);

test("a count agrees with what it counts", () => {
  expect([0, 1, 2].map((count) => counted(count, "key"))).toEqual(["0 keys", "1 key", "2 keys"]);
  expect(counted(1, "entry", "entries")).toBe("1 entry");
  expect(counted(12_300, "entry", "entries")).toBe("12.3 k entries");
});
