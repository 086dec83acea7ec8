import { describe, expect, it } from "vitest";
import { compileGlob, globMatch } from "./glob.ts";

const CASES: [pattern: string, matching: string[], other: string[]][] = [
  ["", [""], ["a"]],
  ["abc", ["abc"], ["", "ab", "abcd", "ABC"]],
  ["*", ["a", "abc"], [""]],
  ["**", ["a"], [""]],
  ["a*", ["a", "abc"], ["", "ba"]],
  ["*c", ["c", "abc"], ["", "ca"]],
  ["*b*", ["b", "abc"], ["", "ac"]],
  ["a*c", ["ac", "abbc"], ["a", "ab", "acb"]],
  ["a*b*c", ["abc", "axbxc"], ["acb"]],
  ["?", ["a", "?"], ["", "ab"]],
  ["a?c", ["abc"], ["ac", "abbc"]],
  ["[abc]", ["a", "b"], ["d", "", "ab"]],
  ["[a-c]x", ["ax", "cx"], ["dx", "-x"]],
  ["[c-a]", ["b"], ["d"]],
  ["[^a-c]", ["d", "^"], ["a", ""]],
  ["[a^]", ["a", "^"], ["b"]],
  ["[\\]a]", ["]", "a"], ["\\"]],
  ["[a-]", ["a", "^", "]"], ["-", "b"]],
  ["[abc", ["a", "c"], ["["]],
  ["[", [], ["[", "a"]],
  ["[^", ["a", "["], [""]],
  ["[]", [], ["a", "]"]],
  ["[]a]", [], ["a", "]"]],
  ["\\*", ["*"], ["a", "\\*"]],
  ["\\", ["\\"], ["", "a"]],
  ["a\\bc", ["abc"], ["a\\bc"]],
  ["[\x80-\x90]", ["\x85"], ["a", "\x95"]],
  // Bytes are signed: from 0xff (−1) to `a`.
  ["[a-\xff]", ["\x00", "A", "a"], ["b", "\x80"]],
];

describe("globMatch", () => {
  it.each(CASES)("%j", (pattern, matching, other) => {
    for (const text of matching) expect([text, globMatch(pattern, text)]).toEqual([text, true]);
    for (const text of other) expect([text, globMatch(pattern, text)]).toEqual([text, false]);
  });

  it.each(CASES)("compiled: %j", (pattern, matching, other) => {
    const matches = compileGlob(pattern);
    for (const text of matching) expect([text, matches(text)]).toEqual([text, true]);
    for (const text of other) expect([text, matches(text)]).toEqual([text, false]);
  });

  it("drops the case where told to", () => {
    expect(globMatch("aBc*", "AbCd", true)).toBe(true);
    expect(globMatch("[A-C]", "b", true)).toBe(true);
    expect(globMatch("[a-c]", "B", true)).toBe(true);
    expect(globMatch("[a]", "A", true)).toBe(true);
    expect(globMatch("\\A", "a", true)).toBe(true);
    // A backslash inside a class keeps the case; a range is turned before its case is dropped.
    expect(globMatch("[\\A]", "a", true)).toBe(false);
    expect(globMatch("[Z-a]", "z", true)).toBe(false);
    expect(compileGlob("ABC", true)("abc")).toBe(true);
  });

  it("never takes more steps than the pattern and the text allow", () => {
    expect(globMatch(`${"*a".repeat(40)}*b`, "a".repeat(20_000))).toBe(false);
    expect(globMatch(`${"*".repeat(100_000)}b`, "a".repeat(1000))).toBe(false);
    expect(globMatch(`${"*?".repeat(1000)}x`, "a".repeat(2000))).toBe(false);
  });
});
