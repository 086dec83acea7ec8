/**
 * Serbian, in Cyrillic or Latin letters, after the Croatian stemmer of Nikola Ljubešić and Ivan Pandžić. Letters become Latin, and
 * ije and je between consonants e, so that the dialects meet. Stems that an ending has changed become regular; then the longest
 * ending goes, within `r1`: what follows the first vowel, or the first r that is one. An ending is known together with the end of
 * the stem before it, which stays. A word that has none of them loses a simple case.
 *
 * People leave out carons and acutes, so a word without any has the same endings without them.
 */
import { endings, longestEnding, without } from "./regions.ts";

const CYRILLIC = new Map(
  "а a б b в v г g д d ђ đ е e ж ž з z и i ј j к k л l љ lj м m н n њ nj о o п p р r с s т t ћ ć у u ф f х h ц c ч č џ dž ш š"
    .match(/\S+ \S+/g)!
    .map((pair) => pair.split(" ") as [string, string]),
);
const IJE = /([bvgdzjklmnprstfhcčćžšđ])ije(?=[bvgdzjklmnprstfhcčćžšđ])/g;
const JE = /([bvgdzjklmnprstfhcčćžšđ])je(?=[bvgdzjklmnprstfhcčćžšđ])/g;
const HAS_MARKS = /[čćžšđ]/;
const MARKS: Readonly<Record<string, string>> = { č: "c", ć: "c", ž: "z", š: "s" };
const withoutMarks = (text: string): string => text.replace(/[čćžš]/g, (letter) => MARKS[letter]!);

/** What a changed stem becomes. */
const CHANGED = `lozi lozima loga, pesi pesima peh, vojci vojka, bojci bojka, jaci jacima jak, čajan čajni, eran erni, laran larni,
  esan esni, anjac anjca, ajac ajaca ajca, ljac ljaca ljca, ejac ejaca ejca, ojac ojaca ojca, ajaka ajka, ojaka ojka, šac šaca šca,
  inzi inzima ing, tvenici tvenik, tetici teticima tetika, nstava nstva, nicima nik, ticima tik, zicima zik, snici snik, kuse kusi,
  kusan kusni, kustava kustva, dušan dušni, antan antni, bilan bilni, tilan tilni, avilan avilni, silan silni, gilan gilni,
  rilan rilni, nilan nilni, alan alni, ozan ozni, rave ravi, stavan stavni, pravan pravni, tivan tivni, sivan sivni, atan atni,
  enat enta, tetan tetni, pletan pletni, šave šavi, anata anta, ačak ačaka ačka, ušak uška, atak ataka atci atcima atka,
  etak etaka etka, itak itaka itci itka, otak otaka otka, utak utaka utci utcima utka, eskan eskna, tičan tični, ojsci ojska,
  esama esma, metar metara metra, centar centara centra, istar istara istra, ošću osti, daba dba, čci čcima čka, mac maca mca,
  nac naca nca, voljan voljni, anaka anki, vac vaca vca, sac saca sca, rac raca rca, aoca alac alaca alca, elac elaca elca,
  olac olaca olce olca, njac njaca njca, ekat ekata ekta, izam izama izma, jebe jebi, baci baci, ašan ašni`;

const DECLINED = "ijima ijega ijemu ijem ijeg ijim ijih iji ije ija ega emu oga ome omu og om oj ima im ih a u";
const ADJECTIVE = `${DECLINED} em eg ijoj iju i e o`;
const PARTICIPLE = "oga ome omu ega emu ima oj ih om eg em og uh im e a";
const NOUN = "ima ama om a e i u o";
const NOUN_IN_R = "ama ima om u a e i";
const NOUN_IN_S = "ama ima om em a u i e";
const VERB_IN_VA = "jući smo ste jmo jte ju la le li lo mo na ne ni no te ti še hu h j m n o t v š";
const VERB_IN_I = "smo ste še mo te ti li la lo le m š t h o";
const VERB_IN_STA =
  "dosmo doste doše nemo demo nete dete nimo nite nila vši nem dem neš deš doh de ti ne nu du la li lo le t o";

/** Ends of stems, and the endings that go behind them. */
const ENDINGS: readonly (readonly [stems: string, endings: string])[] = [
  ["sk šk evit ovit ast", `${DECLINED} em ijoj i e o`],
  ["at", `${DECLINED} em eg iju o`],
  ["el anj enj šnj n", ADJECTIVE],
  ["av ev iv", `${ADJECTIVE} ama`],
  ["ov", `${DECLINED} eg ijoj iju i e o`],
  ["oš", `${DECLINED} em eg ijoj iju i e`],
  ["k", `${ADJECTIVE} ov`],
  ["ać eć uć", PARTICIPLE],
  ["čin", "ama ome omu oga ima og om im ih oj a u i o e"],
  ["stv štv", "ima om o a u"],
  ["tanij manij panij ranij ganij", "ama ima om a u e i"],
  ["an", "inom ina inu ine ima in om u i a e emu ega eg em"],
  ["en šn", "emu ega eg em"],
  ["in bij cij dij mij žij gij fij pij rij tij zij nal ijal lem est ist kst ost et", NOUN],
  ["lij sij", "ima ama om e i o"],
  ["nij", "ama om o"],
  ["on", "ovima ova ove ovi ima om a e i u"],
  ["ugov olov", "ima i e a"],
  ["ug ram", "ama om a e i u o"],
  ["log", "ama om a u e"],
  ["g", "ovima ama ovi ove ova om a e i u o"],
  ["rari oti si li", "jem ja ju o"],
  ["uj", "ući emo ete mo em eš e u"],
  ["caj čaj ćaj đaj laj raj", "evima evi eva eve ama ima em a e i u"],
  ["aj", "evima evi eva eve ama ima a i"],
  ["ozil ol mov lov", "ima om a e u i"],
  ["ar dr er or", NOUN_IN_R],
  ["es is", "ima om e a u"],
  ["taš naš jaš kaš baš gaš vaš eš iš", NOUN_IN_S],
  ["ikat lat", "ima om a e i u o"],
  ["et", "avši ući emo imo em eš"],
  ["išt", "ima em a e u"],
  ["ova", "smo ste hu ti še li la le lo t h o"],
  ["eva ava iva uva", VERB_IN_VA],
  ["roši", `${VERB_IN_I} vši`],
  ["jeti", VERB_IN_I],
  [
    "ir",
    `ujemo ujete ujući ajući ivat ujem uješ ujmo ujte avši asmo aste ati amo ate aju aše ahu ala alo ali ale uje uju uj al an am aš at
     ah ao`,
  ],
  ["ač", "ismo iste iti imo ite iše eći ila ilo ili ile ena eno eni ene io im iš it ih en i e"],
  ["ača", "vši smo ste hu ti mo te še la lo li le ju na no ni ne o m š t h n"],
  ["n", "uvši usmo uste ući imo ite emo ete ula ulo ule uli uto uti uta eš uo ut"],
  ["ni", "vši smo ste ti la lo le li š o"],
  ["a", "jući vši smo jmo jte jem loj mo te je ju ti še hu la li le lo no t h o j n m š lama lima lom lu l"],
  ["ur", "ajući asmo aste ajmo ajte amo ate aju ati aše ahu ala ali ale alo ana ano ani ane al at ah ao aj an am aš"],
  ["astaj istaj ostaj", "asmo aste ahu ati emo ete aše ali ući ala alo ale mo ao em eš at ah te e u"],
  ["asta ista osta", VERB_IN_STA],
  ["ta", "smo ste jmo jte vši ti mo te ju la lo le li na no ni ne n j o m š t h"],
  ["inj", "asmo aste ati emo ete ali ala alo ale aše ahu em eš at ah ao"],
  ["as", "temo tete timo tite tući teš li la lo le"],
  ["i", "vši eći smo mo te ti li la lo le m š t h o jemo jete jem ješ jmo jte ju je j lu lama lima lom l"],
  [
    "luč",
    `ujete ujući ujemo ujem uješ ismo iste ujmo ujte uje uju iše iti imo ite ila ilo ili ile ena eno eni ene uj io en im iš it ih e i`,
  ],
  ["e", "mo m š lama l"],
];
const CASES = endings(
  "enom enoj enog enim enih anoj anog anim anih ost eno eni oga ima enu ena ama ano ani om og u o i e a",
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
    const words = group.split(/\s+/);
    return words.slice(0, -1).map((each) => [each, words.at(-1)!] as const);
  });
  const inflections = ENDINGS.flatMap(([stems, list]) =>
    stems.split(" ").flatMap((stem) => list.split(/\s+/).map((ending) => [stem + ending, stem] as const)),
  );
  return { changes: replacements(changes), inflections: replacements(inflections) };
}

export function stemSerbian(word: string): string {
  tables ??= madeTables();
  const plain = word
    .replace(/[а-џ]/g, (letter) => CYRILLIC.get(letter) ?? letter)
    .replace(IJE, "$1e")
    .replace(JE, "$1e")
    .replaceAll("dj", "đ");
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
