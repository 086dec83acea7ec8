/** Which characters words are made of, by how their scripts are written. For character classes of regular expressions. */

/** Chinese, Japanese and Korean: parts of words are looked for, and where words end is a matter of opinion. */
export const IDEOGRAPHIC =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー\\p{Script=Hangul}\\p{Script=Bopomofo}";

/** Scripts without spaces between words. */
export const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";

/** Letters, digits and the marks that they wear. */
export const LETTERS = "\\p{L}\\p{N}\\p{M}";

/**
 * A run of letters. In scripts of India a joiner behind a mark says how the letters around it look (Nepali गर्‍यो), and parts no
 * words; elsewhere joiners do (Persian writes parts of a word so). Armenian writes the marks of emphasis, exclamation and question
 * into the word, behind the vowel that is stressed (ինչո՞ւ).
 */
export const LETTER_RUN = `[${LETTERS}]+(?:(?:(?<=\\p{M})[\\u200c\\u200d]|[\\u055b\\u055c\\u055e])+[${LETTERS}]+)*`;

/** One picture, or the two letters of a flag; without what only changes its looks. */
export const PICTURE = "\\p{RI}{2}|\\p{Extended_Pictographic}";
export const PICTURES = "\\p{RI}\\p{Extended_Pictographic}";
