/** Words too common to tell documents apart, by language. Others' lists go to `analyser({ stopWords })`. */

const split = (words: string): readonly string[] => words.trim().split(/\s+/);

export const STOP_WORDS: Readonly<Record<string, readonly string[]>> = {
  en: split(`
    a about after all also an and any are as at be because been before being between both but by can could did do does
    down each few for from further had has have having he her here hers him his how i if in into is it its just me more
    most my no nor not now of off on once only or other our out over own same she should so some such than that the their
    them then there these they this those through to too under until up very was we were what when where which while who
    whom why will with would you your`),
  de: split(`
    aber als am an auch auf aus bei bin bis bist da damit das dass dein dem den der des die dies doch du durch ein eine
    einem einen einer eines er es für hat hatte ich ihr im in ist ja kann mein mich mir mit nach nicht noch nur ob oder
    ohne sehr sein sich sie sind so über um und uns unter vom von vor war was wenn wer wie wir wird zu zum zur`),
  fr: split(`
    au aux avec ce ces cette comme dans de des du elle elles en est et eux il ils je la le les leur leurs lui ma mais me
    même mes moi mon ne nos notre nous on ou où par pas pour qu que qui sa se ses si son sont sur ta te tes toi ton tu un
    une vos votre vous c d j l m n s t y à été être`),
  es: split(`
    a al algo ante como con contra cual cuando de del desde donde el ella ellas ellos en entre era es esa ese eso esta
    este esto fue ha hay la las le les lo los mas me mi muy más ni no nos o os otra otro para pero por porque que quien se
    ser si sin sobre son su sus también te tiene tu un una uno unos y ya yo él`),
  it: split(`
    a ad agli ai al alla alle anche c che chi ci come con cui da dagli dai dal dalla degli dei del della delle di e ed era
    gli ha ho i il in io l la le lei li lo loro lui ma mi mia mio ne nei nel nella no noi non o per però più quella quello
    questa questo se sei si sia sono su sua sul sulla suo ti tra tu un una uno vi voi è`),
  pt: split(`
    a ao aos as até com como da das de dela dele do dos e ela elas ele eles em entre era essa esse esta este eu foi há
    isso isto já lhe mais mas me mesmo meu minha muito na nas nem no nos não o os ou para pela pelo por qual quando que
    quem se sem ser seu sua são também te tem um uma você à às é`),
  nl: split(`
    aan al als bij dan dat de der deze die dit doch door dus een en er ge had heb heeft hem het hier hij hoe hun ik in is
    ja je kan kon maar me meer men met mij mijn naar niet nog nu of om omdat ons ook op over te tot u uit uw van veel voor
    was wat we wel werd wie wij wil worden zal ze zich zij zijn zo zou`),
};
