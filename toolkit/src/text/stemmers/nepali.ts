/**
 * Nepali. A postposition goes first (not -ko and its forms behind e, where they belong to a participle), then endings of verbs and
 * the plural's -haru as long as there is one. The nasal sign at the end of some forms, and -ai of -trai, go before an ending is
 * looked for. A vowel at the beginning of an ending is written with its letter or, behind a consonant, with its sign.
 */
import { endings, longestEnding, without } from "./regions.ts";

const POSTPOSITIONS = endings("का कि की कै को द्वारा पछि मा मार्फत मै रत लाइ लाई ले सँग सँगै संग");
const GENITIVE_OF_PARTICIPLE = /[एे]क[ोािीै]$/;
const NASAL = /(?<=यौ|छौ|नौ|थे)[ँं]$|(?<=त्र)ै$/;

const WITH_VOWEL = `इएका इएकी इएको इछ इछन् इछस् इछौ इदा इदै इदो इन्छ इयो इस् एका एकी एकै एको एछ एछन् एछस् एछु एछौ`;
const WITHOUT_VOWEL = `छ छन् छस् छिन् छु छे छेस् छौ छ्यौ थिइस् थिए थिन् थियो थियौ थिस् थी थे थ्यो थ्यौ दा दियो दी देखि देखी दै दो नु ने नेका नेकै नेको
  नेछ नेछन् नेछस् नेछु नेछौ पर् भयो माथि यो यौ लान् हरु हरू हुनेछ हुन्छ होस्`;
const withSigns = WITH_VOWEL.replace(/(?<!\S)[इए]/g, (letter) => (letter === "इ" ? "ि" : "े"));
const ENDINGS = endings(`${WITH_VOWEL} ${withSigns} ${WITHOUT_VOWEL}`);

export function stemNepali(word: string): string {
  let stem = GENITIVE_OF_PARTICIPLE.test(word) ? word : without(word, longestEnding(word, POSTPOSITIONS).length);
  for (;;) {
    stem = stem.replace(NASAL, "");
    const ending = longestEnding(stem, ENDINGS);
    if (ending === "") return stem;
    stem = without(stem, ending.length);
  }
}
