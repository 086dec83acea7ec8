/**
 * Catalan. A pronoun behind the verb goes first, then a derivation or, where there is none, a verb's ending, then what is left of
 * an inflection; accents are lost, and the point of a doubled l (l·l) becomes a full stop. Endings go within `r1`, some within
 * `r2`. Among those of verbs are Spanish ones, which Catalan texts contain as well.
 */
import { Draft, endings, longestEnding, type Rules, rules } from "./regions.ts";

const VOWELS = "aeiouàáèéíïòóúü";
const PRONOUNS = endings(
  `'hi 'ho 'l 'ls 'm 'n 'ns 's 't -la -les -li -ls -m -me -n -nos -ns -te -us ens hi ho la las le les li lo los me nos se sela
   selas selo selos us vos`,
);

/** Where an ending has to lie, and what takes its place. */
type Action = "r1" | "r2" | "r1 c" | "r1 ic" | "r2 ic" | "r2 log";

const DERIVATIONS: Rules<Action> = rules({
  r1: `able ables ació adora adors adura aire al all alla allengües als amen ament aments ana ancia ancies ant ants ar ari aris
       assa asses assos atge atiu atius ativa atives ativitat ativitats atòria atòries ats ària àries bilitat bilitats ble bles
       cions ció dís dor dora doras dores dors dur dures egar ejar ell ella ells enc enca encia encies ent ents era eres eria
       eries ers esa esc eses esos essa et eta ets ència ències ès és fer formes ialisme ialismes ialista ialistes ible ibles ici
       icis icte ictes idores idors ient ificar il ima imes ims ina ines inia inies ionisme ionista ionistes ions ió isam isament
       isme ismes issa issem isseu issos ista iste istes ita itar itat itats ites itzar ius iva ives ivisme ivitat ivitats ìssem
       ìsseu ìssin íci ícia ícies ícis íinia ínies ís íssem ísseu íssim íssima íssimes íssims íssiu ístic ívol ívola ïtat ïtats
       ls ment ments nces nça or ora ores ors osa oses osos ot ota otes ots ó ós sfera tori toris triu trius ud uds uts`,
  r2: "acions ada ades",
  "r1 c": "quíssim quíssima quíssimes quíssims",
  "r2 ic": "ic ica ics iques",
  "r2 log": "logi logia logies logis logía logíes lógica lógics lógiques",
});
const VERBS: Rules<Action> = rules({
  r1: `aba abais aban abas ad ada adas ades ado ador adora adores adors ados am amos ams an ant ar ara arais aran aras arà aràs
       ará arán arás arem aremos aren ares areu aré aréis arés aria arian arien aries aría aríais aríamos arían arías aríem aríeu
       aron as ase aseis asen ases ass assen asses asseu assim assin assis assiu aste asteis at atges ats au ava avem aven aves
       àrem àren àreu às àssem àsseu àssim àssiu àvem àveu ábamos áis áramos ásemos ávem áveu dre ed eix eixen eixer eixes eixi
       eixin eixis eixo em en ent ents er erass erau erá erán erás eremos eren eresseu eré eréis ería eríais eríamos erían erías
       es esca esquen esques esqui esquin esquis ess essen esses esseu essim essin essis èssim èssiu és éssem éssen ésseu éssim
       éssiu ia ià id ida idas ides ido idos ids ie ien iendo iera ierais ieran ieras ieron ies iese ieseis iesen ieses ieu
       iéramos iésemos iguem igueu ii iï iïn iïs imos in ineu ini inin inis int io ió ir ira iran irà iràs irá irán irás irem
       iremos iren ires ireu irè iré iréis iria irien iries irìem irìeu iría iríais iríamos irían irías iríem iríeu isc isca isin
       isis isquen issen isses issim issin issis issiu iste isteis it its itz itza itzà itzeu itzi itzis itzo ix ixa ixen ixes
       ixo ìeu í ía íais íamos ían ías íem íeu írem íreu ís íssim íssiu ïa ïda ïdes ïen ïes ïguem ïgueu ïm ïra ïren ïres ïsc ïsca
       ïsquen ïsques ïssen ïsses ïssin ïssis ït ïu ïx ïxen ïxes ïxo ques re sin sis tzar uda udes ut`,
  r2: "ando",
});
const RESIDUES: Rules<Action> = rules({
  r1: "a e eu i ir is it itz iu o os s à á é ì í ï ïn ïs ó",
  "r1 ic": "iqu",
});

export function stemCatalan(word: string): string {
  const draft = new Draft(word, VOWELS, 0);
  draft.dropLongest(PRONOUNS, draft.r1);
  if (!replaced(draft, DERIVATIONS)) replaced(draft, VERBS);
  replaced(draft, RESIDUES);
  return draft.word.replace(/[àáèéìíïòóúü]/g, (letter) => letter.normalize("NFD").charAt(0)).replaceAll("·", ".");
}

function replaced(draft: Draft, list: Rules<Action>): boolean {
  const ending = longestEnding(draft.word, list.all);
  const action = list.actions.get(ending);
  if (action === undefined) return false;
  const [region, by = ""] = action.split(" ") as ["r1" | "r2", string?];
  return draft.replace(ending, by, draft[region]);
}
