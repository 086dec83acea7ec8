/**
 * Armenian. Four endings go, each the longest of its list within `rv`, what follows the first vowel: that of a case with article
 * and possessive (if it lies within `r2`), then one of a verb, of an adjective and of a noun.
 */
import { Draft, endings, longestEnding } from "./regions.ts";

const VOWELS = "աեէըիոօւ";
const CASES = endings(
  `ամբ ան անդ անը անում անով դ եր երդ երը երի երին երից երն երում երով ը ի ին ից ն ներ ներդ ները ների ներին ներից ներն ներում
   ներով ոջ ոջդ ոջը ոջից ոջս ով ոց ուդ ուն ուց ության ությանդ ությանը ությանն ությանս սա վա վան վանդ վանը վանից վանս վի վից
   վով ց ցից`,
);
const VERBS = endings(
  `ա ալ ալիս ալու ալուց ալով ան անալ անք ար ավ աք աց ացա ացան ացանք ացար ացավ ացաք ացի ացին ացինք ացիր ացիք ացնալ ացվել ացրեց
   ացրի ացրին ացրինք ացրիր ացրիք ատել եցնել ել ելիս ելու ելուց ելով ենալ եց եցա եցավ եցար եցի եցին եցինք եցիր եցիք եցվել ըալ ըել
   կոտել նել չել ոտել ում ված վե վել վեցի վեցին վեցինք վեցիր վեցիք վում տել ցան ցանք ցաք ցնել`,
);
const ADJECTIVES = endings(
  `ալի ական ակի ատ արան ավետ բար գին եկեն եղ են երեն երորդ ին իվ լայն կոտ որակ որէն ովին պես վուն րորդ`,
);
const NOUNS = endings(
  `ածո ակ ալիք ան անակ անիք անօց արան արք ավոր գար եղէն ենք իլ իկ իչ իչք իք յակ յուն մունք ոնք ոց որդ ու ուկ ուհի ույթ ույք ունք
   ուս ուստ ություն չեք պան ստան վածք վոր ցի ք`,
);

export function stemArmenian(word: string): string {
  const firstVowel = word.search(/[աեէըիոօւ]/);
  const draft = new Draft(word, VOWELS, firstVowel < 0 ? word.length : firstVowel + 1);
  const ending = longestEnding(word, CASES, draft.rv);
  draft.replace(ending, "", draft.r2);
  for (const list of [VERBS, ADJECTIVES, NOUNS]) draft.dropVerb(list);
  return draft.word;
}
