/**
 * Every stemmer against Snowball's own program (`stemwords`, Debian's libstemmer-tools): 50 000 words of each language, made at
 * random of letters and of beginnings and endings that rules are about; where Debian's snowball-data is installed, its
 * vocabularies are compared too: all of them in the full run.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { full } from "../../../../scripts/full.ts";
import { installed } from "../../../tests/kit/servers.ts";
import { STEMMER_NAMES, type StemmerName, stemmer, stemmerOf } from "./index.ts";

const WORDS = 50_000;
/** Arabic's vocabulary has nine million words: outside the full run, so many of them are enough. */
const MOST_WORDS = 50_000;
const VOCABULARIES = "/usr/share/snowball/data";
const LATIN = "abcdefghijklmnopqrstuvwxyz";

const PIECES: Readonly<Record<StemmerName, readonly [letters: string, pieces: string]>> = {
  arabic: [
    "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىي\u0640\u064b\u064e\u0651\u0652٣\ufe8e\ufefb\ufef5",
    `ه ك ني نا ها هم هن كم كن هما كما كمو ت ا ن ي تا تن ان ون ين تما و تمو وا تم ات ة ى ال بال كال لل
     والبال فال فبال وكال أأ أآ أؤ أا أإ ف و فا وا ب بب با كك س سي ست سن سأ يست نست تست سيست سأست فسي أ إ آ ؤ ئ`,
  ],
  armenian: [
    "աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆևաեիոը",
    `ա ալ ալի ալիս ալիք ալով ալու ալուց ածո ակ ական ակի ամբ ան անալ անակ անդ անը անիք անով անում անք անօց ավ ավետ ավոր ատ
     ատել ար արան արք աց ացա ացան ացանք ացավ ացար ացաք ացի ացին ացինք ացիր ացիք ացնալ ացվել ացրեց ացրի ացրին ացրինք ացրիր
     ացրիք աք բար գար գին դ ել ելիս ելով ելու ելուց եկեն եղ եղէն են ենալ ենք եր երդ երեն երը երի երին երից երն երով երորդ
     երում եց եցա եցավ եցար եցի եցին եցինք եցիր եցիք եցնել եցվել ը ըալ ըել ի իլ իկ ին իչ իչք իվ ից իք լայն կոտ կոտել մունք
     յակ յուն ն նել ներ ներդ ները ների ներին ներից ներն ներով ներում ոնք ոջ ոջդ ոջը ոջից ոջս ով ովին ոտել որակ որդ որէն ոց ու
     ուդ ության ությանդ ությանը ությանն ությանս ություն ուկ ուհի ում ույթ ույք ուն ունք ուս ուստ ուց չել չեք պան պես սա ստան
     վա ված վածք վան վանդ վանը վանից վանս վե վել վեցի վեցին վեցինք վեցիր վեցիք վի վից վով վոր վում վուն տել րորդ ց ցան ցանք
     ցաք ցի ցից ցնել ք`,
  ],
  basque: [
    `${LATIN}ñaeiou`,
    `ago aldatu aldi aldia an arazi ari atu atze bera bide bidea dako du dura ean era errez eta etan etari ez eza ezin gai gailu
     gaitza gale go gunea gura ide ka kan kari karri kera keta ki kide kin kizun kor korra kuna kunde kune kuntza kura la lari le men or orra pen pera
     rean rekin taile taldi tarazi tari tatu tezin tio tu tun tura tzaga tzaile tzaka tzake tzat tze tzeke tzez garri garria tza arabera atseden baditu ada
     ail aizun ak alde anda anga antza ar ara aro arte asi asun aurre behar bizia burua buru dar degi denda di dun duri duru egi ek eko eme ena enea eria ero
     eroz estu etako etara etxe ezia ga gabe garna garren ge gei gela gerren gibel gile gintza gintzo gintzu giro goi handi kabe kada kail kalde kana keria
     ket kintza kirri ko koa koi koitz kondo kote kume larri leku liar mendi mendu mentu min na nahi ne ngo ñi no ño ohi oi ola ondo ontzi orde ordu oro os
     oso oste pe ra ro sa ska skila sko sta ta tako talde tan tar tarik tariko taro tasun te tegi teria ti tiar tila to toki tra tsu tto tuko txo txu tz tzain
     tzale tzar tzarra tzara tzo tzu una une urren xka z za zain zale zaro zino zio zione zka zko zp zto zu en ten tzen ora ren joka trako minutuko zehar
     geldi igaro aurka dade date tade tate gi larik lanik ik ztik rik zlea`,
  ],
  catalan: [
    `${LATIN}àèéíïòóúüç·aeiou`,
    `'hi 'ho 'l 'ls 'm 'n 'ns 's 't -la -les -li -ls -m -me -n -nos -ns -te -us a aba abais aban abas able ables acions ació
     ad ada adas ades ado ador adora adores adors ados adura aire al all alla allengües als am amen ament aments amos ams an
     ana ancia ancies ando ant ants ar ara arais aran aras arem aremos aren ares areu ari aria arian arien aries aris aron
     arà aràs ará arán arás aré aréis arés aría aríais aríamos arían arías aríem aríeu as ase aseis asen ases ass assa assen
     asses asseu assim assin assis assiu assos aste asteis at atge atges atiu atius ativa atives ativitat ativitats ats
     atòria atòries au ava avem aven aves bilitat bilitats ble bles cions ció dor dora doras dores dors dre dur dures dís e
     ed egar eix eixen eixer eixes eixi eixin eixis eixo ejar ell ella ells em en enc enca encia encies ens ent ents er era
     erass erau eremos eren eres eresseu eria eries ers erá erán erás eré eréis ería eríais eríamos erían erías es esa esc
     esca eses esos esquen esques esqui esquin esquis ess essa essen esses esseu essim essin essis et eta ets eu fer formes
     hi ho i ia ialisme ialismes ialista ialistes ible ibles ic ica ici icis ics icte ictes id ida idas ides ido idores idors
     idos ids ie ien iendo ient iera ierais ieran ieras ieron ies iese ieseis iesen ieses ieu ificar iguem igueu ii il ima
     imes imos ims in ina ines ineu ini inia inies inin inis int io ionisme ionista ionistes ions iqu iques ir ira iran irem
     iremos iren ires ireu iria irien iries irà iràs irá irán irás irè iré iréis irìem irìeu iría iríais iríamos irían irías
     iríem iríeu is isam isament isc isca isin isis isme ismes isquen issa issem issen isses isseu issim issin issis issiu
     issos ista iste isteis istes it ita itar itat itats ites its itz itza itzar itzeu itzi itzis itzo itzà iu ius iva ives
     ivisme ivitat ivitats ix ixa ixen ixes ixo ià iéramos iésemos iï iïn iïs ió la las le les li lo logi logia logies logis
     logía logíes los ls lógica lógics lógiques me ment ments nces nos nça o or ora ores ors os osa oses osos ot ota otes ots
     ques quíssim quíssima quíssimes quíssims r1 r2 re s se sela selas selo selos sfera sin sis tori toris triu trius tzar ud
     uda udes uds us ut uts vos à àrem àren àreu ària àries às àssem àsseu àssim àssiu àvem àveu á ábamos áis áramos ásemos
     ávem áveu ència ències ès èssim èssiu é és éssem éssen ésseu éssim éssiu ì ìeu ìssem ìsseu ìssin í ía íais íamos ían ías
     íci ícia ícies ícis íem íeu íinia ínies írem íreu ís íssem ísseu íssim íssima íssimes íssims íssiu ístic ívol ívola ï ïa
     ïda ïdes ïen ïes ïguem ïgueu ïm ïn ïra ïren ïres ïs ïsc ïsca ïsquen ïsques ïssen ïsses ïssin ïssis ït ïtat ïtats ïu ïx
     ïxen ïxes ïxo ó ós`,
  ],
  danish: [
    `${LATIN}æåø`,
    `hed ethed ered e erede ende erende ene erne ere en heden eren er heder erer heds es endes erendes enes ernes eres ens
     hedens erens ers ets erets et eret s gd dt gt kt igst ig lig elig els løst ll nn tt`,
  ],
  dutch: [
    `${LATIN}äáëéïíöóüúè`,
    `heden en ene s se gem gemen e te de ke heid enheid cheid end ing igend iging eigend ig eig lijk elijk lijke baar bar bare
     kken dden tten kk dd tt aa ee oo uu aan een oon uun j`,
  ],
  english: [
    `${LATIN}'`,
    `gener commun arsen s ss us sses ies ied eed eedly ed edly ing ingly at bl iz y ay tional enci anci abli entli izer
     ization ational ation ator alism aliti alli fulness ousli ousness iveness iviti biliti bli ogi logi fulli lessli li
     alize icate iciti ical ful ness ative al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize ion
     tion sion e l ll 's 's' '`,
  ],
  finnish: [
    "abcdefghijklmnopqrstuvwxyzäöaeiouyäö",
    `kin kaan kään ko kö han hän pa pä sti si ksi ni kseni nsa nsä mme nne an än en taan ssaan staan llaan ltaan naan tään ssään
     stään llään ltään nään lleen ineen hen hin hon hön siin den tten iden itten seen aaseen a ä tta ttä ta tä ssa ssä sta
     stä lla llä lta ltä lle na nä ine n aan een ien mpi mpa mpä mmi mma mmä pomma pompi impi impa impä immi imma immä eja ejä i
     j t mmat immat pommat oj uj jo aa kk tt ll`,
  ],
  french: [
    `${LATIN}âàëéêèïîôûùç`,
    `par col tap qu ance ique isme able iste eux ances iques ismes ables istes atrice ateur ation icatrice icateur ications logie logies
     usion ution usions utions ence ences ement ements ivement ativement eusement ablement iquement ièrement ité ités abilité icité
     ivité if ive ifs ives atif icatif eaux aux euse euses issement issements amment emment ment ments îmes ît îtes i ie ies ir ira
     irai iraient irais irait iras irent irez iriez irions irons iront is issaient issais issait issant issante issantes issants
     isse issent isses issez issiez issions issons it ions é ée ées és èrent er era erai eraient erais erait eras erez eriez
     erions erons eront ez iez âmes ât âtes a ai aient ais ait ant ante antes ants as asse assent asses assiez assions eant
     ion sion tion ier ière e s enn onn ett ell eill enne ette ay oy ui y ç ïs gu guë`,
  ],
  german: [
    `${LATIN}äöüß`,
    `em ern er e en es s niss nisse st est end ung ig eig ik isch lich heit keit igkeit lichkeit erheit enheit igend igung`,
  ],
  greek: [
    "αβγδεζηθικλμνξοπρστυφχψωάέήίόύώϊϋΐΰς",
    `α αβαρ αβαστ αβρ αγ αγα αγαμ αγαμε αγαν αγανε αγατε αγε αγεσ αγκ αγνωστικ αδ αδαπ αδεσ αδηφ αδων αει αειμν αειπ αζ αθ
     αθιγγ αθρο αιθ αιμοστ αιν αιρ αιφν ακαταπ ακι ακια ακτ αλ αλεξανδριν αλισφ αλλοσουσ αμ αμαι αμαλ αμαλλι αμαν αμβρ αμε
     αμερικαν αμεταμφ αμηχ αμμοχαλ αμπαρ αν αναμπα αναπ αναρρ ανε ανηθ ανηκ ανθρ ανικ ανοργ αντιδ αντιδανε ανυπ ανυστ αορ απ
     απεκλε απερ απηγ απιθ απλ αποθ αποκ αποκλε αποστ αποτ αρ αρακι αρακια αρκ αρρ αρτιπ αρχ ασ ασαι ασβ ασε ασουσ ασπ ασπαρ
     ασυμπ ασχ ατα αται ατομικ ατσιγγ αφ αχαρ αχν αχρ αχτ αω β βαθυγαλ βαθυρι βαλ βαμβ βαρ βαρκ βαρον βασ βασκ βελ βεν
     βετερ βι βιομηχ βλεπ βολ βολβορ βουβ βουλκ βρ βραχμ βραχυκ βρομ βρωμ βυζαντιν γ γαλ γε γεγονοσ γεγονοτα γεγονοτοσ
     γεγονοτων γεμ γερ γηπ γιαγι γιαν γιγαντοαφ γκ γκε γκρ γλ γλυκορ γλυκυρ γνωστικ γυρ δ δανε δαπ δε δεκ δερβεν δεσποζ
     δευτερευ δημοκρατ διαθ διατ διαφ διπλ δραδουμ δροσοπ δυσχρ δωδεκαν ε εγκλε εδεσ εδων εθνικ ει εισ ειτε εκθ εκλε εκλεκτικ
     εκλιπ εκτελ ελ εμ εμπ εμπα εν εναρ ενδ ενδιαφερ ενθ ενοργ εξαρχα εξωδ εξων επα επε επιτ επταν ερ ερημον εσ εσαι εσε
     εστατ εστε εστερ εσωκλε εται ετε ευθ ευπ ευρ ευχρ εχθ εων εωσ ζ ζω ζωντ η ηγουμεν ηδ ηδεσ ηδων ηθ ηθει ηθεισ ηθειτε
     ηθηκα ηθηκαμε ηθηκαν ηθηκανε ηθηκατε ηθηκε ηθηκεσ ηθουμε ηθουν ηθουνε ηθω ηκα ηκαμε ηκαν ηκανε ηκατε ηκε ηκεσ ησ ησα
     ησαμε ησαν ησανε ησατε ησε ησει ησεσ ησετε ησου ησουμε ησουν ησουνε ηστε ησω ηφα θ θαρρ θεατριν θει θυσ ι ια ιβ ιδ ιδια
     ιδιο ιδιων ιεμαι ιεμαστε ιεσαι ιεσαστε ιεστε ιεται ιζα ιζαμε ιζαν ιζανε ιζατε ιζε ιζει ιζεισ ιζεσ ιζετε ιζουμε ιζουν
     ιζουνε ιζω ικ ικα ικο ικου ικων ιμπ ιομασταν ιομαστε ιομουν ιομουνα ιονταν ιοντανε ιοντουσαν ιοσασταν ιοσαστε ιοσουν
     ιοσουνα ιοταν ιοτανε ιου ιουμα ιουμαστε ιουνται ιουνταν ιουντανε ιπ ιρ ισ ισα ισαμε ισαν ισανε ισατε ισε ισει ισεισ ισεσ
     ισετε ισκε ισκο ισκοσ ισκου ισμο ισμοι ισμοσ ισμου ισμουσ ισμων ισουμε ισουν ισουνε ιστα ιστε ιστεσ ιστη ιστησ ιστο
     ιστοι ιστοσ ιστου ιστουσ ιστων ισω ιτσα ιτσασ ιτσεσ ιτσων ιων κ καθ καθαρευ καθεστωσ καθεστωτα καθεστωτοσ καθεστωτων
     καιμ κακ κακομουτσ καλιακ καλλιν καλπ καλπουζ καπακ καπνοβιομηχ καρδ καστ καστελ καταγαλ καταδ κατραπ κλε κλιβ κλιμ
     κοιλαρφ κοινοχρ κολλ κομ κον κοπ κορ κορμορ κορν κρασπ κρε κρεασ κρεατα κρεατοσ κρεατων κροκαλοπ κτ κυλ κυματ κυρ λ λαβρ
     λαμπιδ λαοπλ λαρ λαχ λεχ ληγ λι λιβ λιχ λλ λου λουθηρ λουλ λοχ λυγ λυκ μ μα μαιντ μακ μακρυν μαλ μαλλ μαμ μαν μαντιλ μαρ
     μαρκ ματα ματοσ ματων μεγ μεγαλον μεγλοβιομηχ μεδ μελ μερ μεσαζ μετασε μετεπε μην μικροβιομηχ μικροσε μιλ μουλ μουσουλμ
     μουστ μπαγιατ μπαμπ μπαν μπολ μπορ μποσ μπρ μωαμεθ ν ναγκασ ναρθ ναυ ναυλοχ νεοπ νετ νισ νιτ νιφ νομοτ νταβ νταντ ντρ
     νυφ ξ ξαναπα ξεθ ξεφ ξηροκλιβ ξικ ο οβελ οδ οθ οι οκ ολιγοδαμ ολο ολογαλ ολογια ολογιου ολογιων ολοπ ομ ομαι ομασταν
     ομαστε ομοτ ομουν ομουνα ον ονται ονταν οντανε οντασ οντουσαν οπ ορφ οσ οσασταν οσαστε οσουν οσουνα οταν οτανε οτατ οτερ
     ου ουδακι ουδακια ουδεσ ουδων ουλ ουλαμ ουμαι ουμαστε ουμε ουν ουνε ουνται ουνταν ουντανε ουρ ουσ ουσα ουσαμε ουσαν
     ουσανε ουσατε ουσε ουσεσ οφ π πα παγ παιχν παλιμψ παμφ πανταχ παρ παρακαλ παρακαταθ παρασουσ πατ πατερ πε πεθ πεθερ πελ
     πελεκ πενταρφ περασ περατα περατη περατοσ περατων περηφ περιπα περιτρ πεταλ πετσ πιθ πικαντ πικρ πιπερορ πιτσ πλ πλατ
     πλε πλεξ πλιατσ ποδαρ πολισ πολυδαπ πολυμηχ πολυρ πολυφ πον πορτολ ποστελν ποτ πουκαμ πουριτ πρ προ προσθ προστ
     προσωποπ πρωτ πρωτοδ πυρ ρ ραθ ροθ ρον ρπ ρυ σ σαρακατσ σβ σε σερπ σερτ σθ σιγ σιδηροπ σιχ σκ σκαγια σκαγιου σκαγιων
     σκελ σκεπτικ σκουλ σκωλ σλοβ σμην σογια σογιου σογιων σοκ σουλτ σπ σπαν σπι στεγ στεφ στραβομουτσ συμπ συν συναδ συναθρο
     συνδ συνθ συνομηλ συντ συρφ σφ σχ τ ταβ ταθ τατογια τατογιου τατογιων ταχ τερασ τερατα τερατοσ τερατων τετ τζ τιθ τοκ
     τοπικ τοσ τρ τραγ τριπολ τσ τσα τσαγ τσαμ τσαρλατ τσεχοσλοβ τσιγγ τσοπ υ υπ υπερηφ υπερθ υποδ υποκοπ υποτ υποτειν υσ
     υτατ υτερ υψ φ φα φαγ φαγια φαγιου φαγιων φαρμ φαρμακ φε φιλ φιλον φλ φορ φρ φραγκ φρυδ φυλ φυλοδ φυσ φωσ φωτα φωτοσ
     φωτοστεφ φωτων χ χαδ χαμηλοδαπ χαρ χαρτοπα χασ χερσον χν χορτ χρ χτ χωρ ψ ψαλ ψηλοταβ ψοφ ψυχοπλ ω ωθηκα ωθηκαμε ωθηκαν
     ωθηκανε ωθηκατε ωθηκε ωθηκεσ ων ωντασ ωριοπλ ωτατ ωτερ ωφελ`,
  ],
  hindi: [
    "अआइईउऊऋएऐओऔकखगघङचछजझञटठडढणतथदधनपफबभमयरलळवशषसहािीुूृेैोौंँः्\u{93c}",
    `ाएंगी ाएंगे ाऊंगी ाऊंगा ाइयाँ ाइयों ाइयां ाएगी ाएगा ाओगी ाओगे ेंगी ेंगे ूंगी ूंगा ातीं ियाँ ियों ियां ाकर ाइए
     ाईं ाया ेगी ेगा ोगी ोगे ाने ाना ाते ाती ाता ाओं ाएं ुओं ुएं ुआं ाओ िए ाई ाए ीं ाँ ां ों ें ो े ू ु ी ि ा ्
     आएंगी आएंगे आऊंगी आऊंगा आइयाँ आइयों आइयां आएगी आएगा आओगी आओगे एंगी एंगे ऊंगी ऊंगा आतीं इयाँ इयों इयां आकर आइए
     आईं आया एगी एगा ओगी ओगे आने आना आते आती आता आओं आएं उओं उएं उआं आओ इए आई आए ईं आँ आं ओं एं ओ ए ऊ उ ई इ आ अ
     नाओं नाएं ताओं ताएं तीं कर ने नी ना ते ती ता अताओं अनाएं अतीं अकर अने अना अता`,
  ],
  hungarian: [
    "abcdefghijklmnopqrstuvwxyzáéíóöőúüűaeioué",
    `cs gy ly ny sz ty zs dzs bb cc ccs dd ff gg ggy jj kk ll lly mm nn nny pp rr ss ssz tt tty vv zz zzs al el ban ben ba be ra re
     nak nek val vel tól től ról ről ból ből hoz hez höz nál nél ig at et ot öt ért képp képpen kor ul ül vá vé onként enként
     anként ként en on an ön n t én án ánként astul estül stul stül ástul éstül á é oké öké aké eké ké éi áké áéi éké ééi éé
     ünk unk nk juk jük uk ük em om am m od ed ad öd d ja je a e o ánk ájuk ám ád énk éjük ém éd jaim jeim aim eim im jaid jeid
     aid eid id jai jei ai ei i jaink jeink eink aink ink jaitok jeitek aitok eitek itek jeik jaik aik eik ik áim áid ái áink
     áitok áik éim éid éink éitek éik ök ak ok ek k ák ék`,
  ],
  indonesian: [
    `${LATIN}aeiou`,
    `kah lah pun ku mu nya kan an i si di meng men me ter ke peng pen meny peny mem pem per pe ber be beker beter belajar pelajar
     memper diper keber pember mengan`,
  ],
  irish: [
    `${LATIN}áéíóúaeiou`,
    `h- n- t- d' m' b' d'fh b'fh sh mb gc nd bhf ng bp ts dt bh ch dh fh gh mh ph th amh eamh abh eabh aibh ibh aimh imh íocht íochta
     aíocht aíochta ire irí aire airí acht eacht ach each eachtúil eachta achta achtúil arcacht arcachtaí arcachta gineach gineas
     ginis grafaíoch grafaíocht grafaíochta grafaíochtaí paiteach paite patach pataigh patacha óideach óideacha óidigh imid aimid ímid aímid faidh fidh
     adh eadh áil ain tear tar`,
  ],
  italian: [
    `${LATIN}àèìòùáéíóú`,
    `qu ci gli la le li lo mi ne si ti vi sene gliela glielo mela tele celi velo vene ando endo ar er ir anza ico ici ica ice iche
     ichi ismo abile ibile ista iste istà oso osi osa ose mente atrice ante anti azione icazione atore icatore logia logie uzione
     usione enza enze amento imenti amente ivamente ativamente osamente icamente abilmente abilamente ità abilità icità ività
     ivo ativo icativo iva ive ammo ano are arono asse assero assi assimo ata ate ati ato ava avamo avano avate avi avo emmo enda
     ende endi erà erai eranno ere erebbe erebbero erei eremmo eremo ereste eresti erete erò erono essero ete eva evamo evano evate
     evi evo iamo immo irà irai iranno ire irebbe irebbero irei iremmo iremo ireste iresti irete irò irono isca iscano isce isci
     isco iscono issero ita ite iti ito ivamo ivano ivate ivi ono uta ute uti uto ch gh chi ghe ia ii io`,
  ],
  lithuanian: [
    `${LATIN}ąčęėįšųūžaeiouė`,
    `' a ai ain ais aisi aite aitės aj am ame ams amės an ant as asi asis asius at ate atės au auj aus ausi auti avime dam
   dav dž e ei eisi enie enimis enims enio enis eniu eniui ens enti enyje enys enyse enį eria eriai erie erimi erims ers eryje erys eryse erį erų es esi esiu esn gd i ia iai iais
   iaj iam iame iams iamės iant ias iasi iat iate iatės iau iaus iauti ie iej iem iems ies iesi im imi imis ims imės ing
   int inti inėti io ioj ioje iok iomis ioms ion iop ios iose iosna ioti is isi it ite iu iui iuje iuk iul iumi iun iuoj
   iuos iuose iuosi iuosna iuot iuoti ius ią iąj iąs išk ių iųj jam k ki kimės kite o oj oje ojime ok okate okatės om ome
   omis oms omės on op os ose osi osna ot ote oti otės s si siant siesi sim sime simės sit site sitės siu siuosi sv telėti
   terėti ti tum tumei tumeis tumeisi tumėm tumėme tumėmės tumėt tumėte tumėtės tute tųs tųsi u ui uisi uje uliuk umi umis
   ums un uo uoj uos uose uosi uosna uot uote uoti uotės us usi utėait učiuk y yje ykšt ykšč yl ys yse ysis ysna yt yti
   zgan ą ąj ąs ąsi č čiau čiausi ė ėj ėje ėjime ėjo ėjosi ėję ėl ėm ėme ėmis ėms ėmės ėn ės ėse ėsi ėsna ėt ėte ėti ėtės ę
   ęs į įs šv ūs ų ųj ųsi`,
  ],
  nepali: [
    "अआइईउऊएऐओऔकखगघङचछजझञटठडढणतथदधनपफबभमयरलवशषसहािीुूृेैोौंँः्",
    `मार्फत द्वारा सँगै संग सँग लाइ लाई पछि ले रत मै मा को का कि की कै एको ेका एकै
     यौँ छौं नौँ थें यौ छौ नौ थे त्रै त्र ँ ं ै इएका इएकी इएको इछ इछन् इछस् इछौ इदा इदै इदो इन्छ इयो इस् एका एकी एछ एछन् एछस् एछु एछौ छ छन् छस् छिन् छु छे
     छेस् छ्यौ थिइस् थिए थिन् थियो थियौ थिस् थी थ्यो थ्यौ दा दियो दी देखि देखी दै दो नु ने नेका नेकै नेको नेछ नेछन् नेछस् नेछु नेछौ पर् भयो माथि
     यो लान् हरु हरू हुनेछ हुन्छ होस् िएका िएकी िएको िछ िछन् िछस् िछौ िदा िदै िदो िन्छ ियो िस् ेकी ेकै ेको ेछ ेछन् ेछस् ेछु ेछौ`,
  ],
  norwegian: [
    `${LATIN}æåø`,
    `a e ede ande ende ane ene hetene en heten ar er heter as es edes endes enes hetenes ens hetens ers ets et het ast s ks
     erte ert dt vt leg eleg ig eig lig elig els lov elov slov hetslov`,
  ],
  portuguese: [
    `${LATIN}áéíóúâêôãõç`,
    `eza ezas ico ica icos icas ismo ismos ável avel ível ista istas oso osa osos osas amento amentos imento imentos adora ador ação
     adoras adores ações ante antes ância logia logias ução uções ência ências amente ivamente ativamente osamente icamente
     adamente mente antemente avelmente ivelmente idade idades abilidade icidade ividade iva ivo ivas ativo eira eiras ira iras
     ada ida ia aria eria iria ará ara erá era irá ava asse esse isse aste este iste ei arei erei irei am iam ariam eriam iriam
     aram eram iram avam em arem erem irem assem essem issem ado ido ando endo indo arão erão irão ar er ir as adas idas ias
     arias erias irias arás aras erás eras irás avas es ardes erdes irdes ares eres ires asses esses isses astes estes istes is
     ais eis íeis aríeis eríeis iríeis áreis areis éreis ereis íreis ireis ásseis ésseis ísseis áveis ados idos ámos amos íamos
     aríamos eríamos iríamos áramos éramos íramos ávamos emos aremos eremos iremos ássemos êssemos íssemos imos armos ermos irmos
     eu iu ou os a i o á í ó e é ê gue cie ci ç çe`,
  ],
  romanian: [
    `${LATIN}âîăşţaeiou`,
    `ul ului aua ea ele elor ii iua iei iile iilor ilor ile abile atei aţie aţia abilitate abilitati abilităi abilităţi ibilitate
     ivitate ivitati ivităi ivităţi icitate icitati icităi icităţi icator icatori iciv iciva icive icivi icivă ical icala icale
     icali icală ativ ativa ative ativi ativă aţiune atoare ator atori ătoare ător ători itiv itiva itive itivi itivă iţiune itoare
     itor itori at ata ată ati ate ut uta ută uti ute it ita ită iti ite ic ica ice ici ică abil abila abili abilă ibil ibila
     ibile ibili ibilă oasa oasă oase os osi oşi ant anta ante anti antă itate itati ităi ităţi iv iva ive ivi ivă iune iuni ţiune
     ţiuni ism isme ist ista iste isti istă işti are ere ire âre ind ând indu ându eze ească ez ezi ează esc eşti eşte ăsc ăşti
     ăşte am ai au eam eai eaţi eau iam iai ia iaţi iau ui aşi arăm arăţi ară uşi urăm urăţi ură işi irăm irăţi iră âi âşi
     ârăm ârăţi âră asem aseşi ase aserăm aserăţi aseră isem iseşi ise iserăm iserăţi iseră âsem âseşi âse âserăm âserăţi âseră
     usem useşi use userăm userăţi useră ăm aţi em eţi im iţi âm âţi seşi serăm serăţi seră sei se sesem seseşi sese seserăm
     seserăţi seseră a e i ie ă`,
  ],
  russian: [
    "абвгдежзийклмнопрстуфхцчшщъыьэюяёаеиоуыя",
    `в вши вшись ив ивши ившись ыв ывши ывшись ав явши ее ие ые ое ими ыми ей ий ый ой ем им ым ом его ого ему ому их ых ую юю ая
     яя ою ею аем нн нный авш ющ ающ щ ащ ивш ывш ующ ся сь ла на ете йте ли й л н ло но ет ют ны ть ешь нно ала ать янно ила ыла
     ена ейте уйте ите или ыли уй ил ыл ен ило ыло ено ят ует уют ит ыт ены ить ыть ишь ю а ев ов ье е иями ями ами еи ии и ией
     иям ям ием ам о у ах иях ях ы ь ию ью ия ья я ост ость ейш ейше ннейш ннейше`,
  ],
  serbian: [
    "abcčćdđefghijklmnoprsštuvzžaeiourабвгдђежзијклљмнњопрстћуфхцчџш",
    `a ac aca acak acaka acka aj ajac ajaca ajaka ajca ajka alac alaca alan alca alni ama an anaka anata anih anj anjac anjca
     anki anta antan antni aoca ar as asan asni ast asta astaj at atak ataka atan atci atcima atka atni av ava avilan avilni
     avsi avši ać ač ača ačak ačaka ačka ašan ašni baci bas baš bij bilan bilni bojci bojka caj cajan cajni cci ccima centar
     centara centra cij cin cka daba dba des deš dij dj dose dosmo doše dr dusan dusni dušan dušni e ec eci eg ega ejac ejaca
     ejca ekat ekata ekta el elac elaca elca em emo emu en enat enj enog enom enta er eran erni es esama esan eskan eskna
     esma esni est et etak etaka ete etka ev eva evima evit eć eći eš fij g ganij gas gaš gij gilan gilni h hu i ih ija ijal
     ije ijec ijeg ijega ijem ijemu iji ijih ijim ijima ijoj iju ikat im ima in ina ing inj inom inzi inzima is ist ista
     istaj istar istara istra itak itaka itci itka iv iva izam izama izma iš išt ja jaci jacima jak jas jaš je jebe jebi jem
     jemo jes jeti ješ jmo jo jte ju juci jući k kas kaš kst kusan kuse kusi kusni kustava kustva l la laj lama laran larni
     lat le lem li lij lima ljac ljaca ljca lo log loga lom lov lozi lozima lu m mac maca manij mca metar metara metra mij mo
     mov n nac naca nal nas naš nca nem nes neš ni nicima nij nik nilan nilni njac njaca njca nstava nstva o og oga oj ojac
     ojaca ojaka ojca ojka ojsci ojska ol olac olaca olca olce olov om ome omu on or os oscu ost osta ostaj osti otak otaka
     oti otka ov ova ovima ovit ozan ozil ozni oš ošću panij peh pesi pesima pij pletan pletni pravan pravni rac raca raj ram
     ranij rari rave ravi rca rij rilan rilni rosi roši s sac saca save savi sca se si sij silan silni sivan sivni sk smo sn
     snici snik snj stavan stavni ste stv t ta tanij tas taš te temo tes tetan tetici teticima tetika tetni teš ti tican
     ticima ticni tij tik tilan tilni tivan tivni tičan tični tuci tući tvenici tvenik u uc uci ug ugov uh uj ujes uješ ula
     usak uska ut utak utaka utci utcima utka uto uva uvsi uvši uć ući ušak uška vac vaca vas vaš vca vojci vojka voljan
     voljni vsi vši zicima zij zik ćaj čaj čajan čajni čci čcima čin čka đaj š šac šaca šave šavi šca še šk šn šnj štv žij а
     ања ије ијом ом ски ђи`,
  ],
  spanish: [
    `${LATIN}áéíóúüñ`,
    `me se sela selo selas selos la le lo las les los nos iéndo ándo ár ér ír ando iendo ar er ir yendo uyendo iéndolo anza anzas
     ico ica icos icas ismo ismos able ables ible ibles ista istas oso osa osos osas amiento imientos adora icadora ador ación
     icación adores aciones ante antes ancia ancias logía logías ución uciones encia encias amente ivamente ativamente osamente
     icamente adamente mente antemente ablemente iblemente idad idades abilidad icidad ividad iva ivo ivas ativo ya ye yan yen
     yeron yo yó yas yes yais yamos uya uye uyó uyeron en es éis emos guen gues arían arías arán arás aríais aría aréis
     aríamos aremos ará aré erían erías erán erás eríais ería eréis eríamos eremos erá eré irían irías irán irás iríais iría
     iréis iríamos iremos irá iré aba ada ida ía ara iera ad ed id ase iese aste iste an aban ían aran ieran asen iesen aron ieron
     ado ido ió as abas adas idas ías aras ieras ases ieses ís áis abais íais arais ierais aseis ieseis asteis isteis ados idos
     amos ábamos íamos imos áramos iéramos iésemos ásemos os a o á í ó e é gue gué`,
  ],
  swedish: [
    `${LATIN}äåö`,
    `a arna erna heterna orna ad e ade ande arne are aste en anden aren heten ern ar er heter or as arnas ernas ornas es ades
     andes ens arens hetens erns at andet het ast s dd gd nn dt gt kt tt lig ig els löst fullt`,
  ],
  tamil: [
    "அஆஇஈஉஊஎஏஐஒஓஔகஙசஜஞடணதநனபமயரறலளழவஷஸஹாிீுூெேைொோௌ்்்கதபமன",
    `எக் எவ் அப் இந் உய் இவ் அவ்வோ எவ்வு வோ வொ வு வூ ந் ந்த ந்த் ய் ைய் ிய் ீய் ட்ப் ட்க் ன்ற் ற்க் ட்ட் த்த் ைத்த் ுக் ுக்க்
     க்க் ச்ச் ட் ற் ப்ப் ்ய் ்ர் ்ல் ்ள் ்ங் ்ம் ்ன் வ் வ ய னு ானு ங் ைங் ் ா் ்் ோ ே ா ும் ுடன் ில்லை ிடம் ின்றி ாகி ாகிய ென்று ுள்ள ுடைய ுடை ெனும் ல்ல ால்ல ென படு
     பட்ட பட்டு பட்டது பட்டண குரிய பற்றி விடு விட்டு படிதான படி தான ெல்லாம் னை ினை ை கை ்கை ொடு ோடு ில் ிற் ின் மின் ின்று ிருந்து விட ால் ாமல் ல் ுல்
     ுள் கண் முன் மேல் மேற் கீழ் பின் து ுது ீ கள் ுங்கள் குங்கள் ற்கள் ட்கள் பி வி கொண்டிர் மார் னன் னான் னாள் னார் வன் அவன் னள் வள் னர் வர் ன ப க த பன் பள்
     பர் ிற்று பம் னம் தும் றும் கும் டும் னென் வை ான் சான் ாள் ார் ேன் ாம் ெம் ேம் ோம் ாய் னிர் ீர் ீயர் கு ்கு ்து ாநின்ற ாநின்ற் கின்ற கின்ற் கிற கிற்`,
  ],
  turkish: [
    "abcçdefgğhıijklmnoöprsştuüvyzaeıioöuü",
    `ad soyad mız miz muz müz nız niz nuz nüz m n ım in um ün ı i u ü sı si su sü ları leri yı yi yu yü nı ni nu nü ın un nın nin
     a e ya ye na ne da de ta te nda nde dan den tan ten ndan nden la le yla yle ki daki deki nınki ndaki ndeki ca ce nca nce im üm
     yım yim sın sin sun sün ız iz uz üz yız sınız siniz sunuz sünüz lar ler tır tir tur tür dır dir dur dür casına cesine
     tım dim tum düm tın din tun dün tık dik tuk dük tı ti du dü ydı ydi sam sen sak sa se ysa yse mış miş muş müş ymış ymiş ken
     yken b c d g ğ larda lerde larından lerinden sında sinde`,
  ],
  yiddish: [
    "אבגדהוזחטיכלמנסעפצקרשתװױײךםןףץאויע\u05b7\u05b8\u05bc\u05b4\u05bf",
    `וו וי יי גע געלט געבנ געבן אדורכ דורך אהינ אהער אװעק מיט אנטקעגנ אקעגנ אנידער אראפ ארױס ארױפ ארומ ארײנ ארונטער אריבער נאכ
     פארבײ אהײמ אפיר פארױס פונאנדער צוזאמענ צונױפ צוריק אױס אױפ אומ אונטער איבער אײנ אנ אפ בײ פאר צו אנט בא דער צע אױסגע אױסצו באגע פארגע פארצו צוגנ
     אנצוגנ אנצוקט אױפצוקנ צוקט צוקנ שפר שטר שטש דזש ערס ענ נס ענערס עס ע נ ס עמ ער ט עט עטנ עטס עטע עטער ונג הײט קײט יקײט שאפט יזמ יזמענ ימ עלעכ עלע לעכ
     עלעס עלענ יסטנ סטו סטער סטע סטנ סט יע יעס ענע ענעמ ענער ענס טנ טע טער טס טנס טענע טענעמ טענער ות יסט גיסט שיסט גײנ גאנגענ גאנג נומענ נומ געמיטנ מיטנ
     געביטנ געביסנ ביסנ װיזנ טריבנ געליטנ קליבנ ריבנ געריסנ שװיגנ שמיסנ שניטנ שריבנ בונדנ װוטשנ זונגנ טרונקנ צװונגנ שלונגנ בױגנ הױבנ פארלױרנ שטאנענ שטאנ
     שװױרנ שװױר בראכט בראכ געבראכט ל יג יק יש ניק דיק נדיק ענדיק בליק גליק`,
  ],
};

/** Where the program counts bytes to limit a region, one byte has to be one letter. */
const ENCODINGS: Partial<Record<StemmerName, readonly [set: string, encoding: BufferEncoding]>> = {
  dutch: ["ISO_8859_1", "latin1"],
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
  const isPacked = !existsSync(file);
  if (isPacked && !existsSync(`${file}.gz`)) return [];
  const bytes = isPacked ? gunzipSync(readFileSync(`${file}.gz`)) : readFileSync(file);
  const words = bytes.toString("utf8").split("\n");
  const every = full ? 1 : Math.ceil(words.length / MOST_WORDS);
  return every === 1 ? words : words.filter((_, nth) => nth % every === 0);
}

describe.skipIf(!installed("stemwords"))("stems are those of Snowball's own program (needs libstemmer-tools)", () => {
  test.each(STEMMER_NAMES)("%s", { timeout: 120_000 }, (name) => {
    const words = [...madeWords(name, WORDS), ...vocabulary(name)].filter((word) => word !== "");
    const input = `${words.join("\n")}\n`;
    const [set, encoding] = ENCODINGS[name] ?? (["UTF_8", "utf8"] as const);
    const run = spawnSync("stemwords", ["-l", name, "-c", set], {
      input: Buffer.from(input, encoding),
      maxBuffer: 2 ** 28,
    });
    const expected = run.stdout.toString(encoding).split("\n");
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
