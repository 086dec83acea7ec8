/**
 * Every stemmer against Snowball's own program (`stemwords`, Debian's libstemmer-tools): 50 000 words of each language, made at
 * random of letters and of beginnings and endings that rules are about; where Debian's snowball-data is installed, its
 * vocabularies are compared too.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { installed } from "../../testing/servers.ts";
import { STEMMER_NAMES, type StemmerName, stemmer, stemmerOf } from "./index.ts";

const WORDS = 50_000;
const VOCABULARIES = "/usr/share/snowball/data";
const LATIN = "abcdefghijklmnopqrstuvwxyz";

const PIECES: Readonly<Record<StemmerName, readonly [letters: string, pieces: string]>> = {
  danish: [
    `${LATIN}æåø`,
    `hed ethed ered e erede ende erende ene erne ere en heden eren er heder erer heds es endes erendes enes ernes eres ens
     hedens erens ers ets erets et eret s gd dt gt kt igst ig lig elig els løst ll nn tt`,
  ],
  english: [
    `${LATIN}'`,
    `gener commun arsen s ss us sses ies ied eed eedly ed edly ing ingly at bl iz y ay tional enci anci abli entli izer
     ization ational ation ator alism aliti alli fulness ousli ousness iveness iviti biliti bli ogi logi fulli lessli li
     alize icate iciti ical ful ness ative al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize ion
     tion sion e l ll 's 's' '`,
  ],
  german: [
    `${LATIN}äöüß`,
    `em ern er e en es s niss nisse st est end ung ig eig ik isch lich heit keit igkeit lichkeit erheit enheit igend igung`,
  ],
  norwegian: [
    `${LATIN}æåø`,
    `a e ede ande ende ane ene hetene en heten ar er heter as es edes endes enes hetenes ens hetens ers ets et het ast s ks
     erte ert dt vt leg eleg ig eig lig elig els lov elov slov hetslov`,
  ],
  swedish: [
    `${LATIN}äåö`,
    `a arna erna heterna orna ad e ade ande arne are aste en anden aren heten ern ar er heter or as arnas ernas ornas es ades
     andes ens arens hetens erns at andet het ast s dd gd nn dt gt kt tt lig ig els löst fullt`,
  ],
};

/** A sequence that is the same in every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function madeWords(name: StemmerName, count: number): string[] {
  const letters = [...PIECES[name][0]];
  const pieces = PIECES[name][1].split(/\s+/);
  const below = seeded(name.length * 7_919 + name.charCodeAt(0));
  const pick = (from: readonly string[]): string => from[below(from.length)]!;
  return Array.from({ length: count }, () => {
    let word = below(6) === 0 ? pick(pieces) : "";
    for (let left = below(8); left > 0; left--) word += pick(letters);
    for (let left = below(4); left > 0; left--) word += pick(pieces);
    return word === "" ? pick(letters) : word;
  });
}

function vocabulary(name: StemmerName): string[] {
  const file = `${VOCABULARIES}/${name}/voc.txt`;
  if (existsSync(file)) return readFileSync(file, "utf8").split("\n");
  if (!existsSync(`${file}.gz`)) return [];
  return gunzipSync(readFileSync(`${file}.gz`))
    .toString("utf8")
    .split("\n");
}

describe.skipIf(!installed("stemwords"))("stems are those of Snowball's own program (needs libstemmer-tools)", () => {
  test.each(STEMMER_NAMES)("%s", { timeout: 120_000 }, (name) => {
    const words = [...madeWords(name, WORDS), ...vocabulary(name)].filter((word) => word !== "");
    const input = `${words.join("\n")}\n`;
    const run = spawnSync("stemwords", ["-l", name], { input, maxBuffer: 2 ** 28 });
    const expected = run.stdout.toString("utf8").split("\n");
    expect(words.length).toBeGreaterThanOrEqual(WORDS);
    const { stem } = stemmer(name);
    const different = words.flatMap((word, at) => {
      const got = stem(word);
      return got === expected[at] ? [] : [`${word}: ${got}, not ${expected[at]}`];
    });
    expect([different.length, different.slice(0, 10)]).toEqual([0, []]);
  });
});

test("unrelated words stay apart, and forms of a word meet", () => {
  const { stem } = stemmerOf("en-GB")!;
  for (const pair of ["car care", "plan plane", "win wine", "code cod", "used us", "james jam"]) {
    const [one, other] = pair.split(" ").map(stem);
    expect([pair, one === other]).toEqual([pair, false]);
  }
  for (const forms of ["use used using uses", "run running runs", "library libraries", "stop stopped stopping"]) {
    expect([forms, new Set(forms.split(" ").map(stem)).size]).toEqual([forms, 1]);
  }
});

test("a language is found by its tag", () => {
  expect(stemmerOf("de-AT")!.stem("häusern")).toBe("haus");
  expect(stemmerOf("sv-FI")!.stem("husarna")).toBe("hus");
  expect(stemmerOf("nb")!.name).toBe(stemmerOf("no")!.name);
  expect(stemmerOf("zh")).toBeUndefined();
});
