/**
 * Basque. Suffixes follow each other, so endings of verbs go as long as there is one, then endings of nouns, then one of an
 * adjective: most within `rv`, some within `r1` or `r2`. Some words look as if they had an ending: they stay, and endings go on in
 * front of them. Many endings come with the article, which is written here as (a).
 */
import { Draft, longestEnding, type Rules, rules, verbRegion } from "./regions.ts";

const VOWELS = "aeiou";

type Region = "rv" | "r1" | "r2" | "kept";

/** Each ending with an article or another end in parentheses, with it and without. */
const withArticles = (list: string): string => list.replace(/(\S+)\((\S+)\)/g, "$1 $1$2");

const VERBS: Rules<Region> = rules({
  rv: withArticles(
    `ago aldatu aldi(a) an arazi ari atu atze bera bide(a) dako du dura ean era errez(a) eta(n) etari ez(a) ezin(a) gai(a)
     gailu(a) gaitz(a) gale(a) go gune(a) gura ide(a) ka(n) kaitz(a) kari(a) karri(a) kera keta ki kide(a) kin(a) kizun(a)
     kor(ra) kuna kunde(a) kune(a) kuntza kura la lari le men(a) or(ra) pen(a) pera pide(a) rean rekin taile(a) taldi(a)
     tarazi tari tatu tezin(a) tio tu tun(a) tura tzaga tzaile(a) tzaka tzake tzat tze tzeke tzez`,
  ),
  r2: withArticles("garri(a) tza"),
  kept: "arabera atseden baditu",
});
const NOUNS: Rules<Region> = rules({
  rv: withArticles(
    `ada ail aizun ak alde(a) aldi(a) anda anga antza ar(a) ari(a) aro(a) arte(a) asi(a) asun(a) aurre(a) behar bera bizia
     burua dar(a) degi(a) denda di du(a) dun(a) duri(a) duru(a) egi(a) ek eko eme(a) ena enea eria ero(a) eroz(a) estu(a)
     eta(n) etako etara etxe(a) ez(a) ezia ga gabe(a) gai(a) garna garren(a) ge gei(a) gela gerren(a) gibel(a) gile(a) gintza
     gintzo gintzu giro go goi gune(a) handi(a) ka kabe(a) kada kail(a) kalde(a) kan(a) kari(a) kera keria ket(a) ki(a) kide
     kin(a) kintza kirri(a) ko(a) koi(a) koitz(a) kondo(a) kor(ra) kote(a) kume(a) kuntza lari(a) larri(a) leku(a) liar(a)
     mendi(a) mendu(a) mentu(a) min(a) na nahi(a) ne(a) ngo(a) ñi no(a) ño(a) ohi(a) oi(a) ola ondo(a) ontzi(a) orde(a)
     ordu(a) oro(a) os(a) oso(a) oste(a) pe(a) pera ra ro sa ska skila sko sta ta tako(a) talde(a) taldi(a) tan tar(a) tari(a)
     tarik tariko taro(a) tasun(a) te(a) tegi(a) teria ti(a) tiar(a) tila to(a) toki(a) tra tsu(a) tto(a) tu(a) tuko txo(a)
     txu(a) tz tzain(a) tzale(a) tzar(ra) tzara tzo(a) tzu(a) una une(a) urren(a) xka z(a) zain(a) zale(a) zaro(a) zino(a)
     zio(a) zione(a) zka zko(a) zp zto(a) zu(a)`,
  ),
  r1: "en tatu ten tzen",
  r2: withArticles("buru garri(a) or(a) ren tza"),
  kept: "aurka geldi igaro joka minutuko trako zehar",
});
const ADJECTIVES: Rules<Region> = rules({
  rv: "dade date era ero gi go ik keria ki la lanik larik rik ro tade tate to ztik",
  kept: "zlea",
});
/** What stays of a word that is kept, where it is not all of it. */
const KEPT: Readonly<Record<string, string>> = { joka: "jok", minutuko: "minutu", trako: "tra", zlea: "z" };

export function stemBasque(word: string): string {
  const draft = new Draft(word, VOWELS, verbRegion(word, VOWELS));
  let tail = "";
  const drops = (list: Rules<Region>): boolean => {
    const ending = longestEnding(draft.word, list.all);
    const region = list.actions.get(ending);
    if (region === undefined) return false;
    if (region !== "kept") return draft.replace(ending, "", draft[region]);
    tail = (KEPT[ending] ?? ending) + tail;
    return draft.replace(ending, "");
  };
  while (drops(VERBS));
  while (drops(NOUNS));
  drops(ADJECTIVES);
  return draft.word + tail;
}
