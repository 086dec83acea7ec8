/**
 * Hindi, after Ananthakrishnan Ramanathan and Durgesh Rao: the longest of a list of inflections goes, if at least the first letter
 * stays. An inflection that begins with a vowel is written with the vowel's sign behind a consonant and with its letter elsewhere;
 * the vowel a has no sign, so an inflection that begins with it goes only behind a consonant.
 */
import { respelled } from "../respelled.ts";
import { endings, longestEnding, without } from "./regions.ts";

/** The sign of a vowel → its letter. */
const LETTERS: Readonly<Record<string, string>> = {
  "ा": "आ",
  "ि": "इ",
  "ी": "ई",
  "ु": "उ",
  "ू": "ऊ",
  "े": "ए",
  "ो": "ओ",
  "्": "अ",
};
const WITH_SIGN = `ाएंगी ाएंगे ाऊंगी ाऊंगा ाइयाँ ाइयों ाइयां ाएगी ाएगा ाओगी ाओगे ेंगी ेंगे ूंगी ूंगा ातीं ियाँ ियों ियां ाकर ाइए ाईं ाया ेगी ेगा ोगी ोगे ाने
  ाना ाते ाती ाता ाओं ाएं ुओं ुएं ुआं ाओ िए ाई ाए ीं ाँ ां ों ें ो े ू ु ी ि ा ्`;
const WITHOUT_SIGN = "नाओं नाएं ताओं ताएं तीं कर ने नी ना ते ती ता";

/** With the dot (nukta) that makes another consonant of one. */
const CONSONANT = /[क-ह\u{93c}]$/u;

const vowels = WITH_SIGN.split(/\s+/);
const withoutSign = WITHOUT_SIGN.split(" ");
const vowelLetters = vowels.map((each) => respelled(each, /^./, LETTERS));
const WITH_VOWEL = endings([...vowels, ...vowelLetters, ...withoutSign.map((each) => `अ${each}`)].join(" "));
const WITH_A = endings(WITHOUT_SIGN);

export function stemHindi(word: string): string {
  const vowel = longestEnding(word, WITH_VOWEL, 1);
  const withA = longestEnding(word, WITH_A, 1);
  const isLonger = withA.length > vowel.length && CONSONANT.test(without(word, withA.length).slice(1));
  return without(word, (isLonger ? withA : vowel).length);
}
