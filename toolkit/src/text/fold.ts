/**
 * One form for what people take for the same, for everything in the toolkit that compares words: search, ads, autocomplete,
 * streaming, names of users.
 */
import { respelled } from "./respelled.ts";

const ASCII = /^[\0-\x7f]*$/;
/** What stands inside a word and is no part of it: see LETTER_RUN. */
const INSIDE_WORDS = /(?<=\p{M})[\u200c\u200d]+|[\u055b\u055c\u055e]/gu;
const DIACRITICS = /[\u0300-\u036f]+/g;

/** Letters that have no decomposition, though people take them for another letter with something added. */
const PLAIN: Readonly<Record<string, string>> = {
  æ: "ae",
  ð: "d",
  ø: "o",
  þ: "th",
  đ: "d",
  ħ: "h",
  ı: "i",
  ł: "l",
  ŋ: "n",
  œ: "oe",
  ŧ: "t",
  ƀ: "b",
  ɨ: "i",
  ʉ: "u",
};
const PLAIN_LETTERS = new RegExp(`[${Object.keys(PLAIN).join("")}]`, "g");

/**
 * Unicode's compatibility forms, and no case. Upper case first, so that ß and ss meet; a final sigma is a sigma, or a prefix that
 * ends in one would not match what goes on after it.
 */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const lower = text.normalize("NFKC").toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFKC");
  return lower.replace(INSIDE_WORDS, "");
}

/** The same for Turkish and Azerbaijani, where ı and i are two letters. */
export function foldTurkic(text: string): string {
  return text.normalize("NFKC").toLocaleLowerCase("tr").replaceAll("ß", "ss").normalize("NFKC");
}

/**
 * Folded text without diacritics: é is e, ø is o, ł is l. Only marks that Latin, Greek and Cyrillic letters wear are taken off:
 * those of other scripts are vowels, or make another letter (が is not か).
 */
export function withoutDiacritics(folded: string): string {
  if (ASCII.test(folded)) return folded;
  const plain = respelled(folded, PLAIN_LETTERS, PLAIN);
  return plain.normalize("NFD").replace(DIACRITICS, "").normalize("NFC");
}
