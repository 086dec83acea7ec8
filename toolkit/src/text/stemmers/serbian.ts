/**
 * Serbian, in Cyrillic or Latin letters, after the Croatian stemmer of Nikola Ljubešić and Ivan Pandžić. Letters become Latin, and
 * ije and je between consonants e, so that the dialects meet. Stems that an ending has changed become regular; then the longest
 * ending goes, within `r1`: what follows the first vowel, or the first r that is one. An ending is known together with the end of
 * the stem before it, which stays. A word that has none of them loses a simple case.
 *
 * People leave out carons and acutes, so a word without any has the same endings without them.
 */
import { respelled } from "../respelled.ts";
import { endings, longestEnding, without } from "./regions.ts";

const LATIN: Readonly<Record<string, string>> = {
  а: "a",
  б: "b",
  в: "v",
  г: "g",
  д: "d",
  ђ: "đ",
  е: "e",
  ж: "ž",
  з: "z",
  и: "i",
  ј: "j",
  к: "k",
  л: "l",
  љ: "lj",
  м: "m",
  н: "n",
  њ: "nj",
  о: "o",
  п: "p",
  р: "r",
  с: "s",
  т: "t",
  ћ: "ć",
  у: "u",
  ф: "f",
  х: "h",
  ц: "c",
  ч: "č",
  џ: "dž",
  ш: "š",
};
const IJE = /([bvgdzjklmnprstfhcčćžšđ])ije(?=[bvgdzjklmnprstfhcčćžšđ])/g;
const JE = /([bvgdzjklmnprstfhcčćžšđ])je(?=[bvgdzjklmnprstfhcčćžšđ])/g;
const HAS_MARKS = /[čćžšđ]/;
const MARKS: Readonly<Record<string, string>> = { č: "c", ć: "c", ž: "z", š: "s" };
const withoutMarks = (text: string): string => respelled(text, /[čćžš]/g, MARKS);

/** What a changed stem becomes. */
const CHANGED = `ajac ajaca ajca, ajaka ajka, alac alaca aoca alca, alan alni, anjac anjca, anaka anki, anata anta, antan antni,
  atak ataka atci atcima atka, atan atni, avilan avilni, ačak ačaka ačka, ašan ašni, baci baci, bilan bilni,
  bojci bojka, centar centara centra, daba dba, dušan dušni, ejac ejaca ejca, ekat ekata ekta, elac elaca elca,
  enat enta, eran erni, eskan eskna, esama esma, esan esni, etak etaka etka, gilan gilni, inzi inzima ing,
  istar istara istra, itak itaka itci itka, izam izama izma, jaci jacima jak, jebe jebi, kuse kusi, kusan kusni,
  kustava kustva, laran larni, ljac ljaca ljca, lozi lozima loga, mac maca mca, metar metara metra, nac naca nca,
  nicima nik, nilan nilni, njac njaca njca, nstava nstva, ojac ojaca ojca, ojaka ojka, ojsci ojska,
  olac olaca olce olca, ošću osti, otak otaka otka, ozan ozni, pesi pesima peh, pletan pletni, pravan pravni, rave ravi,
  rac raca rca, rilan rilni, sac saca sca, silan silni, sivan sivni, snici snik, stavan stavni, tetici teticima tetika,
  tetan tetni, ticima tik, tilan tilni, tivan tivni, tičan tični, tvenici tvenik, utak utaka utci utcima utka,
  ušak uška, vac vaca vca, vojci vojka, voljan voljni, zicima zik, čajan čajni, čci čcima čka, šave šavi, šac šaca šca`;

const DECLINED = "a ega emu ih ija ije ijeg ijega ijem ijemu iji ijih ijim ijima im ima og oga oj om ome omu u";
const ADJECTIVE = `${DECLINED} em eg ijoj iju i e o`;
const PARTICIPLE = "a e eg ega em emu ih im ima og oga oj om ome omu uh";
const NOUN = "a ama e i ima o om u";
const NOUN_IN_R = "a ama e i ima om u";
const NOUN_IN_S = "a ama e em i ima om u";
const VERB_IN_VA = "h hu j jmo jte ju jući la le li lo m mo n na ne ni no o smo ste t te ti v š še";
const VERB_IN_I = "h la le li lo m mo o smo ste t te ti š še";
const VERB_IN_STA =
  "de dem demo dete deš doh dosmo doste doše du la le li lo ne nem nemo nete neš nila nimo nite nu o t ti vši";

/** Ends of stems, and the endings that go behind them. */
const ENDINGS: readonly (readonly [stems: string, endings: string])[] = [
  ["ast evit ovit sk šk", `${DECLINED} em ijoj i e o`],
  ["at", `${DECLINED} em eg iju o`],
  ["anj el enj n šnj", ADJECTIVE],
  ["av ev iv", `${ADJECTIVE} ama`],
  ["ov", `${DECLINED} eg ijoj iju i e o`],
  ["oš", `${DECLINED} em eg ijoj iju i e`],
  ["k", `${ADJECTIVE} ov`],
  ["ać eć uć", PARTICIPLE],
  ["čin", "a ama e i ih im ima o og oga oj om ome omu u"],
  ["stv štv", "a ima o om u"],
  ["ganij manij panij ranij tanij", "a ama e i ima om u"],
  ["an", "a e eg ega em emu i ima in ina ine inom inu om u"],
  ["en šn", "eg ega em emu"],
  ["bij cij dij est et fij gij ijal in ist kst lem mij nal ost pij rij tij zij žij", NOUN],
  ["lij sij", "ama e i ima o om"],
  ["nij", "ama o om"],
  ["on", "a e i ima om ova ove ovi ovima u"],
  ["olov ugov", "a e i ima"],
  ["ram ug", "a ama e i o om u"],
  ["log", "a ama e om u"],
  ["g", "a ama e i o om ova ove ovi ovima u"],
  ["li oti rari si", "ja jem ju o"],
  ["uj", "e em emo ete eš mo u ući"],
  ["caj laj raj ćaj čaj đaj", "a ama e em eva eve evi evima i ima u"],
  ["aj", "a ama eva eve evi evima i ima"],
  ["lov mov ol ozil", "a e i ima om u"],
  ["ar dr er or", NOUN_IN_R],
  ["es is", "a e ima om u"],
  ["baš eš gaš iš jaš kaš naš taš vaš", NOUN_IN_S],
  ["ikat lat", "a e i ima o om u"],
  ["et", "avši em emo eš imo ući"],
  ["išt", "a e em ima u"],
  ["ova", "h hu la le li lo o smo ste t ti še"],
  ["ava eva iva uva", VERB_IN_VA],
  ["roši", `${VERB_IN_I} vši`],
  ["jeti", VERB_IN_I],
  [
    "ir",
    `ujemo ujete ujući ajući ivat ujem uješ ujmo ujte avši asmo aste ati amo ate aju aše ahu ala alo ali ale uje uju uj al an am aš at
     ah ao`,
  ],
  ["ač", "e en ena ene eni eno eći i ih ila ile ili ilo im imo io ismo iste it ite iti iš iše"],
  ["ača", "h hu ju la le li lo m mo n na ne ni no o smo ste t te ti vši š še"],
  ["n", "emo ete eš imo ite ula ule uli ulo uo usmo uste ut uta uti uto uvši ući"],
  ["ni", "la le li lo o smo ste ti vši š"],
  ["a", "h hu j je jem jmo jte ju jući l la lama le li lima lo loj lom lu m mo n no o smo t te ti vši š še"],
  ["ur", "ah ahu aj ajmo ajte aju ajući al ala ale ali alo am amo an ana ane ani ano ao asmo aste at ate ati aš aše"],
  ["astaj istaj ostaj", "ah ahu ala ale ali alo ao asmo aste at ati aše e em emo ete eš mo te u ući"],
  ["asta ista osta", VERB_IN_STA],
  ["ta", "h j jmo jte ju la le li lo m mo n na ne ni no o smo ste t te ti vši š"],
  ["inj", "ah ahu ala ale ali alo ao asmo aste at ati aše em emo ete eš"],
  ["as", "la le li lo temo tete teš timo tite tući"],
  ["i", "eći h j je jem jemo jete ješ jmo jte ju l la lama le li lima lo lom lu m mo o smo t te ti vši š"],
  [
    "luč",
    `ujete ujući ujemo ujem uješ ismo iste ujmo ujte uje uju iše iti imo ite ila ilo ili ile ena eno eni ene uj io en im iš it ih e i`,
  ],
  ["e", "l lama m mo š"],
];
const CASES = endings(
  "a ama ani anih anim ano anog anoj e ena eni enih enim eno enog enoj enom enu i ima o og oga om ost u",
);

/** What takes the place of an ending, and whether only in words without marks. */
interface Replacement {
  readonly by: string;
  readonly isUnmarked: boolean;
}

type Replacements = ReadonlyMap<string, Replacement>;

/** With the same endings without marks, where these are none of the others. */
function replacements(pairs: readonly (readonly [ending: string, by: string])[]): Replacements {
  const all = new Map(pairs.map(([ending, by]) => [ending, { by, isUnmarked: false }]));
  for (const [ending, by] of pairs) {
    const plain = withoutMarks(ending);
    if (!all.has(plain) && !/čc/.test(ending)) all.set(plain, { by: withoutMarks(by), isUnmarked: true });
  }
  return all;
}

interface Tables {
  readonly changes: Replacements;
  readonly inflections: Replacements;
}

/** Two thousand endings, which take milliseconds to make: made when the first word comes. */
let tables: Tables | undefined;

function madeTables(): Tables {
  const changes = CHANGED.split(/,\s*/).flatMap((group) => {
    const stem = group.replace(/^.*\s/s, "");
    const changed = group.slice(0, -stem.length).trimEnd().split(/\s+/);
    return changed.map((each) => [each, stem] as const);
  });
  const inflections = ENDINGS.flatMap(([stems, list]) =>
    stems.split(" ").flatMap((stem) => list.split(/\s+/).map((ending) => [stem + ending, stem] as const)),
  );
  return { changes: replacements(changes), inflections: replacements(inflections) };
}

export function stemSerbian(word: string): string {
  tables ??= madeTables();
  const plain = respelled(word, /[а-џ]/g, LATIN).replace(IJE, "$1e").replace(JE, "$1e").replaceAll("dj", "đ");
  const isMarked = HAS_MARKS.test(plain);
  const r1 = regionOf(plain);
  const regular = replaced(plain, tables.changes, isMarked, 0) ?? plain;
  const stem = replaced(regular, tables.inflections, isMarked, r1);
  if (stem !== undefined) return stem;
  const ending = longestEnding(regular, CASES);
  return regular.length - ending.length >= r1 ? without(regular, ending.length) : regular;
}

function replaced(word: string, list: Replacements, isMarked: boolean, region: number): string | undefined {
  for (let at = 0; at < word.length; at++) {
    const found = list.get(word.slice(at));
    if (found !== undefined)
      return at < region || (found.isUnmarked && isMarked) ? undefined : word.slice(0, at) + found.by;
  }
  return undefined;
}

/** Where `r1` begins. An r with a consonant behind it is a vowel. */
function regionOf(word: string): number {
  const vowel = word.search(/[aeiou]/);
  const ofVowel = vowel === 0 ? /^[aeiou]+[^aeiou]/.exec(word)?.[0].length : vowel < 0 ? word.length : vowel + 1;
  const r1 = ofVowel ?? 1;
  const r = word.indexOf("r");
  const ofR = r === 0 ? /^r+[^r]/.exec(word)?.[0].length : r + 1;
  return r >= 0 && ofR !== undefined && r1 - ofR > 1 ? ofR : r1;
}
