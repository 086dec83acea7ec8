/**
 * Greek, after Georgios Ntais and Spyridon Saroukos. Accents go; then each of many steps takes off the longest of its endings. Most
 * know stems that lose too much by it, and put a part of the ending back: where such a stem is all that is left, or where what is
 * left ends in it. A word that none of these steps has changed loses a simple inflection; in the end the degrees of comparison go.
 *
 * Snowball 2.2 puts some parts back twice (πιάνε is παναν), and so do the steps here: stems that are made elsewhere stay the same.
 */
import { respelled } from "../respelled.ts";
import { type Endings, endings, longestEnding, type Rules, rules, without } from "./regions.ts";

const PLAIN: Readonly<Record<string, string>> = {
  ά: "α",
  έ: "ε",
  ή: "η",
  ί: "ι",
  ό: "ο",
  ύ: "υ",
  ώ: "ω",
  ΐ: "η",
  ϊ: "η",
  ΰ: "υ",
  ϋ: "υ",
  ς: "σ",
};
const LEAST_LETTERS = 3;

/** What is put back → the stems that get it. */
type Additions = Readonly<Record<string, string>>;

interface Step {
  readonly endings: Endings;
  readonly whole: Rules<string>;
  readonly behind: Rules<string>;
  /** What other stems get. */
  readonly otherwise: string;
  /** Whether a word that it changes may lose a simple inflection too. */
  readonly mayGoOn: boolean;
  /** Whether what is put back behind a stem is put back once more, in the stem's place, if one of the others is all before it. */
  readonly isDoubled: boolean;
}

type Options = Partial<Pick<Step, "otherwise" | "mayGoOn" | "isDoubled">>;

function step(list: string, whole: Additions, behind: Additions = {}, options: Options = {}): Step {
  const { otherwise = "", mayGoOn = false, isDoubled = false } = options;
  return { endings: endings(list), whole: rules(whole), behind: rules(behind), otherwise, mayGoOn, isDoubled };
}

/** Nouns whose stem is not what the endings leave. */
const NOUNS: Rules<string> = rules({
  φα: "φαγια φαγιου φαγιων",
  σκα: "σκαγια σκαγιου σκαγιων",
  ολο: "ολογια ολογιου ολογιων",
  σο: "σογια σογιου σογιων",
  τατο: "τατογια τατογιου τατογιων",
  κρε: "κρεασ κρεατα κρεατοσ κρεατων",
  περ: "περασ περατα περατη περατοσ περατων",
  τερ: "τερασ τερατα τερατοσ τερατων",
  φω: "φωσ φωτα φωτοσ φωτων",
  καθεστ: "καθεστωσ καθεστωτα καθεστωτοσ καθεστωτων",
  γεγον: "γεγονοσ γεγονοτα γεγονοτοσ γεγονοτων",
});

const STEMS_IN_I = `αθρο αναμπα απεκλε αποκλε δανε εκλε εμπα εξαρχα επα επε εσε εσωκλε κλε μετεπε ξαναπα πε περιπα συναθρο χαρτοπα`;
const VOWELS = "α ε η ι ο ω";

/** What -ism- is put behind, without its own ending. */
const BEFORE_ISM = /(αγνωστ|ατομ|γνωστ|εθν|εκλεκτ|σκεπτ|τοπ)ικ$|(αλεξανδρ|βυζαντ|θεατρ)ιν$/;
const ISM = step("ισμο ισμοι ισμοσ ισμου ισμουσ ισμων", {
  ισμ: "αποκλε εγκλε μετασε μικροσε σε",
  ι: "αντιδανε δανε",
});

/** As a whole word, it is a form of άγαμος. */
const AGAME = step("αγαμε ηθηκαμε ηκαμε ησαμε ουσαμε", {});

const STEPS: readonly Step[] = [
  step("ιζα ιζαμε ιζαν ιζανε ιζατε ιζε ιζει ιζεισ ιζεσ ιζετε ιζουμε ιζουν ιζουνε ιζω", {
    ι: "αθρο αναμπα δανε εμπα επα ξαναπα πα περιπα συναθρο",
    ιζ: `αμπαρ αρρ β βαθυρι βαρκ βολβορ γκρ γλυκορ γλυκυρ ιμπ κορν λ λου μ μαρ μαρκ μπρ π πιπερορ πολυρ πρ ρ`,
  }),
  step("ωθηκα ωθηκαμε ωθηκαν ωθηκανε ωθηκατε ωθηκε ωθηκεσ", { ων: "αλ βι εν ζω λι σ υψ χ" }),
  step("ισα ισαμε ισαν ισανε ισατε ισε ισεσ", {
    ι: STEMS_IN_I,
    ισ: "αν αφ γε γιγαντοαφ γκ γκε δημοκρατ κομ λαρ μ ολο π πουκαμ",
  }),
  step("ισει ισεισ ισετε ισουμε ισουν ισουνε ισω", { ι: STEMS_IN_I }),
  step("ιστα ιστε ιστεσ ιστη ιστησ ιστο ιστοι ιστοσ ιστου ιστουσ ιστων", {
    ι: "ασε δανε εσωκλε κλε πλε σε συναθρο",
    ιστ: `ακτ αορ απ αρ ασχ ατα αχν αχτ γεμ γυρ εμπ ευπ εχθ ηδ ηφα καθ κακ κτ κυλ λυγ μ μακ μεγ π σκ σχ ταχ υψ φα φιλ χρ χτ χωρ`,
  }),
  ISM,
  step("αρακι αρακια ουδακι ουδακια", { αρακ: "σ χ" }),
  step(
    "ακι ακια αρακι αρακια ιτσα ιτσασ ιτσεσ ιτσων",
    {
      ακ: `αλισφ αμβρ ανθρ βαμβ βρ κ καιμ καπακ κατραπ κλιμ κον κορ λαβρ λουλ μαλ μερ μουστ ναγκασ πλ ρ ρυ σ σκ σλοβ σοκ σπαν σφ
           τζ τσεχοσλοβ φ φαρμ φυλ χ`,
      ιτσ: "β βαλ γιαν γλ ζ ηγουμεν καρδ μακρυν νυφ π πατερ τοσ τριπολ",
    },
    { ιτσ: "κορ" },
  ),
  step("ιδια ιδιο ιδιων", { ιδ: "αιφν ιρ ολο ψαλ" }, { ιδ: "ε παιχν" }),
  step("ισκε ισκο ισκοσ ισκου", { ισκ: "δ ιβ λυκ μην οβελ ρ φραγκ" }),
  step("αδεσ αδων", {}, { "": "γιαγι θει κυρ μαμ μαν μπαμπ νταντ οκ πατερ πεθερ" }, { otherwise: "αδ", mayGoOn: true }),
  step("εδεσ εδων", {}, { εδ: "γηπ δαπ εμπ ιπ κρασπ μιλ οπ υπ" }, { mayGoOn: true }),
  step("ουδεσ ουδων", {}, { ουδ: "αρκ βελ καλιακ λιχ λουλ πεταλ πλεξ σ σκ σπ τραγ φε φλ φρ χν" }, { mayGoOn: true }),
  step("εων εωσ", { ε: "γαλ δ ελ θ ιδ ν π παρ" }),
  step("ια ιου ιων", {}, { ι: `${VOWELS} υ` }),
  step(
    "ικα ικο ικου ικων",
    {
      ικ: `αδ αλ αμαν αμμοχαλ ανηθ αντιδ βρωμ γερ ενδ εξωδ ηθ καλλιν καλπ καταδ μουλ μπαγιατ μπαν μπολ μποσ νιτ ξικ πετσ πικαντ πιτσ
           πλιατσ ποστελν πρωτοδ σερτ συναδ συνομηλ τσαμ υποδ φιλον φυλοδ φυσ χασ`,
    },
    { ικ: `${VOWELS} υ` },
    { isDoubled: true },
  ),
  AGAME,
  step("αμε", { αμ: "αναπ αποθ αποκ αποστ βουβ ξεθ ουλ πεθ πικρ ποτ σιχ χ" }),
  step("αγανε ηθηκανε ηκανε ησανε ιοντανε ιοτανε ιουντανε οντανε οτανε ουντανε ουσανε", { αγαν: "τρ τσ" }),
  step(
    "ανε",
    {
      αν: `αγ αδαπ αθιγγ αμερικαν αμηχ ανικ ανοργ απηγ απιθ ατσιγγ βαθυγαλ βασ βασκ βετερ βιομηχ βουλκ βραχμ βραχυκ γ γαλ γερ δεκ
           διατ διαφ διπλ δραδουμ ενοργ ερ ζωντ θ θυσ ικ καλπουζ καπνοβιομηχ καστ καστελ καταγαλ κλιβ κοιλαρφ κοπ κορμορ λαοπλ λιβ
           λιχ λουθηρ μ μαιντ μεγλοβιομηχ μελ μικροβιομηχ μουσουλμ μωαμεθ ν νταβ ξηροκλιβ ολιγοδαμ ολογαλ ορφ ουλ ουρ π πελεκ
           πενταρφ περηφ περιτρ πιθ πλ πλατ πολισ πολυδαπ πολυμηχ πορτολ πουριτ σ σαρακατσ σιγ σουλτ σπ στεγ στεφ ταβ τετ
           τραγ τσαγ τσαρλατ τσιγγ τσοπ υπερηφ υποκοπ φ φωτοστεφ χ χαμηλοδαπ ψηλοταβ ψυχοπλ`,
    },
    { αν: VOWELS },
    { isDoubled: true },
  ),
  step("ησετε", {}),
  step(
    "ετε",
    {
      ετ: `αβαρ αβρ αδ αθ αν απλ βαρον βεν δ εμ εναρ θ θαρρ κοπ μπορ νιφ ντρ παγ παρακαλ σερπ σκ σκελ συρφ τοκ υ`,
    },
    {
      ετ: `${VOWELS} αιν αιρ αρκ βαρ βολ βρ διαθ εκθ ενδ ενθ ευθ ευρ καθ νετ οδ πον πυρ ραθ ροθ ρον σθ συν συνδ συνθ σχ ταθ τιθ
           υπερθ φορ χωρ ωφελ`,
    },
    { isDoubled: true },
  ),
  step("οντασ ωντασ", { οντ: "αρχ" }, { ωντ: "κρε" }),
  step("ιομαστε ομαστε", { ομαστ: "ον" }),
  step("ιεστε", { ιεστ: "ακαταπ αμεταμφ απ ασυμπ π συμπ" }),
  step("εστε", { ιεστ: "αλ αρ εκτελ ζ μ νισ ξ παρακαλ προ" }),
  step("ηθηκα ηθηκε ηθηκεσ", {}),
  step("ηκα ηκε ηκεσ", { ηκ: "διαθ θ παρακαταθ προσθ συνθ" }, { ηκ: "ναρθ οθ πιθ σκουλ σκωλ σφ" }),
  step(
    "ουσα ουσε ουσεσ",
    {
      ουσ: `αγκ αιθ αμ αναρρ ανηκ βρομ δε δεσποζ δευτερευ εκλιπ ενδιαφερ καθαρευ λ λαμπιδ λεχ μ μεδ μεσαζ πατ πλε ρ τσα υποτειν
            φαρμακ χαδ`,
    },
    { ουσ: "βλεπ κυματ λαχ ληγ μαλλ μαντιλ ομ πανταχ ποδαρ πρωτ φαγ φρυδ" },
  ),
  step("ησα ησε ησου", { ησ: "δωδεκαν επταν ερημον μεγαλον ν χερσον" }),
  step(
    "αγα αγε αγεσ",
    {
      αγ: `αβαστ αδηφ αειπ αιμοστ αμαλ αμαλλι ανυπ ανυστ απερ αποτ αρτιπ ασπ ασπαρ αφ αχαρ δερβεν διατ δροσοπ εν επιτ κροκαλοπ λ μ ναυ
           νεοπ νομοτ ξεφ ολοπ ομοτ ουλαμ ουρ π παμφ πολυφ προστ προσωποπ ρ σιδηροπ συμπ συντ τ τρ υποτ χαρ`,
    },
    { "": "ναυλοχ ψοφ", αγ: "κολλ λλ λοχ οφ πελ πρ ρπ σμην σφ φρ χορτ" },
  ),
  step("ηστε", { ηστ: "αειμν απλ ασβ αχρ δυσχρ ευχρ κοινοχρ παλιμψ σβ χρ" }),
  step("ηθουνε ησουνε ουνε", { ουν: "εξων κακομουτσ ν ρ σπι στραβομουτσ" }),
  step("ηθουμε ησουμε ουμε", { ουμ: "αζ αλλοσουσ ασουσ παρασουσ φ χ ωριοπλ" }),
];
const NEUTERS = /ματ(?:α|οσ|ων)$/;
const INFLECTIONS = endings(
  `α αγαν αγατε αει αμαι αν ασ ασαι αται αω ε ει εισ ειτε εσ εσαι εται η ηδεσ ηδων ηθει ηθεισ ηθειτε ηθηκαν ηθηκατε ηθουν ηθω ηκαν
   ηκατε ησ ησαν ησατε ησει ησεσ ησουν ησω ι ιεμαι ιεμαστε ιεσαι ιεσαστε ιεται ιομασταν ιομουν ιομουνα ιονταν ιοντουσαν ιοσασταν
   ιοσαστε ιοσουν ιοσουνα ιοταν ιουμα ιουμαστε ιουνται ιουνταν ο οι ομαι ομασταν ομουν ομουνα ονται ονταν οντουσαν οσ οσασταν
   οσαστε οσουν οσουνα οταν ου ουμαι ουμαστε ουν ουνται ουνταν ουσ ουσαν ουσατε υ υσ ω ων`,
);
const DEGREES = endings("εστατ εστερ οτατ οτερ υτατ υτερ ωτατ ωτερ");

export function stemGreek(word: string): string {
  const plain = respelled(word, /[άέήίόύώΐϊΰϋς]/g, PLAIN);
  if (plain.length < LEAST_LETTERS) return plain;
  const noun = longestEnding(plain, NOUNS.all);
  let stem = without(plain, noun.length) + (NOUNS.actions.get(noun) ?? "");
  let mayGoOn = noun === "";
  for (const each of STEPS) {
    if (each === AGAME && stem === "αγαμε") return plain === stem ? "αγαμ" : "αγαμεαγαμ";
    const next = taken(stem, each);
    if (next !== undefined && !each.mayGoOn) mayGoOn = false;
    stem = next ?? stem;
  }
  stem = stem.replace(NEUTERS, "μα");
  if (mayGoOn) stem = without(stem, longestEnding(stem, INFLECTIONS).length);
  return without(stem, longestEnding(stem, DEGREES).length);
}

/** The word after a step; undefined if it has none of the endings. */
function taken(word: string, { endings: list, whole, behind, otherwise, isDoubled }: Step): string | undefined {
  const ending = longestEnding(word, list);
  if (ending === "") return undefined;
  const rest = without(word, ending.length);
  const last = longestEnding(rest, behind.all);
  const before = without(rest, last.length);
  const doubled = isDoubled && last !== "" ? whole.actions.get(before) : undefined;
  if (doubled !== undefined) return before + doubled + doubled;
  const added = whole.actions.get(rest) ?? behind.actions.get(last);
  if (list === ISM.endings && added === undefined) return rest.replace(BEFORE_ISM, "$1$2");
  return rest + (added ?? otherwise);
}
