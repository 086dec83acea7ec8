/** One folding for search, ads, autocomplete and streaming. */
import { expect, test } from "vitest";
import { wordsOf as adWords } from "../components/ads/words.ts";
import { fold as nameFold } from "../components/autocomplete/fold.ts";
import { analyser } from "../components/search/index.ts";
import { wordsOf as trackWords } from "../components/streaming/words.ts";
import { fold, foldTurkic, withoutDiacritics } from "./fold.ts";

const searched = (text: string): string[] => {
  const words: string[] = [];
  analyser({ language: "und" }).words(text, (word) => void words.push(word));
  return words;
};

test.each([
  ["Straße", "STRASSE"],
  ["ﬁne", "FINE"],
  ["Ｒｅｄｉｓ", "redis"],
  ["ΟΔΟΣ", "οδος"],
  ["Cafe\u0301", "CAFÉ"],
  ["गर्\u200dयो", "गर्यो"],
  ["क्\u200cष", "क्ष"],
  ["Ինչո՞ւ", "ԻՆՉՈՒ"],
  ["երևան", "ԵՐԵՒԱՆ"],
])("%s is %s, for everybody who compares words", (one, other) => {
  for (const words of [
    searched,
    adWords,
    (text: string) => [...trackWords(text)],
    (text: string) => [nameFold(text)],
  ]) {
    expect(words(one)).toEqual(words(other));
  }
});

test("a picture is a word, for everybody who looks for words", () => {
  for (const words of [searched, adWords, (text: string) => [...trackWords(text)]]) {
    expect(words("go 🚀")).toEqual(["go", "🚀"]);
  }
});

test("letters with something added are those letters without diacritics", () => {
  expect(withoutDiacritics(fold("Łódź Ørsted Đặng Œuvre Þór Straße"))).toBe("lodz orsted dang oeuvre thor strasse");
  expect(withoutDiacritics(fold("हिन्दी が 한글"))).toBe(fold("हिन्दी が 한글"));
});

test("in Turkish i and ı are two letters", () => {
  expect([foldTurkic("IŞIK"), foldTurkic("İSTANBUL")]).toEqual(["ışık", "istanbul"]);
});
