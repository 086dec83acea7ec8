/**
 * Lithuanian. One inflection goes, then suffixes of adjectives and participles as long as there is one, each the longest that lies
 * within `r1`; in a word of more than six letters, an a at the beginning does not count for `r1`. Endings that two words share for
 * different reasons are sorted out first; č and dž that came of an i behind them become t and d again.
 */
import { endings, longestEnding, regionAfter, without } from "./regions.ts";

const VOWELS = "aeiouyąęėįųū";

/** Each ending with (i) before it, with an i and without. */
const withI = (list: string): string => list.replace(/\(i\)(\S+)/g, "$1 i$1");

/** Endings that would be taken for longer ones, or shorter. */
const AMBIGUOUS: readonly (readonly [ending: RegExp, by: string])[] = [
  [/(ait|uot|okat)(?:e|ės)$/, "$1ė"],
  [/(av|ėj|oj)ime$/, "$1imas"],
  [/esiu$/, "esys"],
  [/asius$/, "asys"],
];
const INFLECTIONS = endings(
  withI(
    `(i)a (i)ai (i)ais aisi (i)am (i)ame (i)ams (i)amės an (i)as (i)asi asis (i)at (i)ate (i)atės (i)au (i)aus ausi (i)auti
     (i)e ei eisi enie enimis enims enio enis eniu eniui ens enti enyje enys enyse enį eria eriai erie erimi erims ers
     eryje erys eryse erį erų (i)es (i)esi i iem iems im imi imis ims imės inti inėti it ite k ki kimės kite (i)o oj (i)oje
     om ome (i)omis (i)oms omės (i)on (i)os (i)ose osi (i)osna ot ote (i)oti otės (i)s (i)si siesi sim sime simės sit site
     sitės siu siuosi telėti terėti ti tum tumei tumeis tumeisi tumėm tumėme tumėmės tumėt tumėte tumėtės tute tųs tųsi
     (i)u (i)ui uisi (i)uje (i)umi umis ums (i)un uo (i)uos (i)uose (i)uosi (i)uosna (i)uoti (i)us usi y yje ys yse ysis
     ysna yti (i)ą (i)ąs ąsi čiau čiausi ė ėj ėje ėjo ėjosi ėm ėme ėmis ėms ėmės ėn ės ėse ėsi ėsna ėt ėte ėti ėtės ę į įs
     ūs (i)ų ųsi`,
  ),
);
const SUFFIXES = endings(
  withI(
    `ain (i)ais (i)aj am (i)ant auj (i)aus dam dav esn ias iau iej ies ing int iuk iul išk jam (i)oj (i)ok (i)op (i)os ot siant sv
     uliuk (i)uoj (i)uos (i)uot utėait učiuk ykšt ykšč yl yt zgan (i)ąj (i)ąs ėj ėję ėl ėt ę ęs šv (i)ųj`,
  ),
);

export function stemLithuanian(word: string): string {
  const r1 = regionAfter(word, VOWELS, word.startsWith("a") && word.length > 6 ? 1 : 0);
  const change = AMBIGUOUS.find(([ending]) => ending.test(word));
  let stem = change === undefined ? word : word.replace(...change);
  stem = hardened(without(stem, longestEnding(stem, INFLECTIONS, r1).length));
  for (let suffix = " "; suffix !== ""; stem = without(stem, suffix.length)) suffix = longestEnding(stem, SUFFIXES, r1);
  return hardened(stem).replace(/gd$/, "g");
}

const hardened = (stem: string): string => stem.replace(/č$/, "t").replace(/dž$/, "d");
