/** From a text to a hit in each language: a search for one form of a word finds the others. */
import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { analyser, SearchIndex } from "./index.ts";

/** A language's tag, a text, queries with other forms of its words, and queries that find nothing. */
const FORMS: readonly (readonly [tag: string, text: string, found: readonly string[], not: readonly string[]])[] = [
  [
    "ar",
    "كَتَبَ المعلمون عن السيارات في كتـــابهم ١٩٩٠",
    ["كتبوا", "معلم", "سيارة", "سيارته", "الكتاب", "بالكتاب", "ﻛﺘﺎﺏ", "1990"],
    ["مدرسة"],
  ],
  [
    "ca",
    "Els col·legis de la ciutat parlaven de castells",
    ["col·legi", "COŀLEGI", "collegi", "ciutats", "parlar", "castell"],
    ["legi", "cantar"],
  ],
  [
    "el",
    "Οι δρόμοι της πόλης και τα βιβλία του μαθητή",
    ["ΔΡΟΜΟΣ", "δρόμους", "πόλη", "βιβλίων", "ΒΙΒΛΙΑ", "μαθητές"],
    ["θάλασσα"],
  ],
  ["eu", "Lagunak liburuak irakurtzen ditu hirian", ["lagun", "LIBURU", "irakurtze", "hiriko"], ["mendian"]],
  [
    "hy",
    "Ինչո՞ւ են ուսանողները Երևանի քաղաքներում աշխատում",
    ["ինչու", "ուսանող", "ԵՐԵՒԱՆ", "քաղաքից", "աշխատել"],
    ["համալսարան"],
  ],
  [
    "lt",
    "Vaikams mieste skaito knygas po MEDŽIAIS",
    ["vaikai", "miestų", "skaityti", "knygose", "medis", "medžių"],
    ["draugas"],
  ],
  [
    "ne",
    "कर्मचारीहरूले काम गर्\u200dयो र परिवारसँग पुग्नेछौँ",
    ["कर्मचारी", "कर्मचारीहरुको", "गर्यो", "परिवारहरु", "पुग्छन्"],
    ["कक्षा"],
  ],
  [
    "sr",
    "Учитељи и ЧОВЈЕК са књигама, lijepo mlijeko",
    ["učitelja", "УЧИТЕЉИМА", "čovek", "човека", "knjige", "лепа", "млека"],
    ["студенти"],
  ],
  [
    "ta",
    "ஆசிரியர்களால் புத்தகமோ கட்டுரையோ",
    ["ஆசிரியர்", "ஆசிரியருக்கு", "ஆசிரியர\u0bc7\u0bbe", "புத்தகம்", "கட்டுரையே"],
    ["மரம்"],
  ],
  [
    "yi",
    "דער סופֿר האָט אָנגעגורט די שװערד מיט אַ פֿרעמדשפּראַך",
    ["סופרים", "סופֿרישער", "אָנצוגורטן", "\u{fb2f}נגורטן", "שווערדלעך", "פרעמדשפראכן"],
    ["קריטיק"],
  ],
];

describeBackends("search in languages", { audit: "tags" }, (backend) => {
  test.each(FORMS)("%s", async (language, text, found, not) => {
    const index = new SearchIndex(backend.store, "texts", {
      fields: { body: { type: "text", store: true, analyser: analyser({ language }) } },
    });
    await index.setMany([
      ["it", { body: text }],
      ["other", { body: "Xyzzy" }],
    ]);
    const ids = async (query: string) => (await index.search(query)).hits.map(({ id }) => id);
    for (const query of found) expect([query, await ids(query)]).toEqual([query, ["it"]]);
    for (const query of not) expect([query, await ids(query)]).toEqual([query, []]);
  });
});
