/** Words in quotes. */
import { expect, test } from "vitest";
import { splitWords } from "../resp/split-words.ts";
import { quoteWord } from "./quote.ts";

test("shows every byte", () => {
  expect(quoteWord("plain word")).toBe('"plain word"');
  expect(quoteWord('a"b\\c')).toBe('"a\\"b\\\\c"');
  expect(quoteWord("\n\r\t\x07\b\0\xff")).toBe('"\\n\\r\\t\\a\\b\\x00\\xff"');
});

test("is read back as it was", () => {
  const word = String.fromCharCode(...Array.from({ length: 256 }, (_, i) => i));
  expect(splitWords(quoteWord(word))).toEqual([word]);
});
