/** The members of the guild: names of many scripts, the same every time, with how often each was written to. */

const LATIN: readonly [readonly string[], readonly string[]] = [
  [
    ..."Ada Åsa Björn Carmen Čeněk Dagný Émile Françoise Günter Håkon İrem João Jörg Jürgen Łucja María Nils Noël Øystein Özge Renée Şebnem Søren Tomáš Ülle Zoë".split(
      " ",
    ),
  ],
  [..."Almqvist Brandão Černý Dvořák Estévez Fjeld Grünwald Håland Ibáñez Jääskeläinen".split(" ")],
];
const CYRILLIC: typeof LATIN = [
  [..."Анна Борис Вера Галина Дмитрий Елена Иван Ксения Юлия".split(" ")],
  [..."Волкова Жуков Орлова Соколов".split(" ")],
];
const GREEK: typeof LATIN = [
  [..."Αθηνά Γιώργος Ελένη Κώστας Μαρία Νίκος".split(" ")],
  [..."Αλεξίου Δημητρίου Παππάς".split(" ")],
];
/** The family name first, as they are written. */
const OTHERS = [
  ..."王芳 李伟 张敏 刘洋 陈静 佐藤さくら 鈴木陽向 高橋結衣 田中蓮 김민준 이서연 박지훈 최수아".split(" "),
  ..."فاطمة-الزهراء محمد-علي ليلى-حسن".split(" ").map((name) => name.replace("-", " ")),
  ..."नेहा-शर्मा अर्जुन-पटेल".split(" ").map((name) => name.replace("-", " ")),
];

const combined = ([first, last]: typeof LATIN): string[] =>
  last.flatMap((family) => first.map((given) => `${given} ${family}`));

/** Weights fall off as they do among people: a few are written to often, most hardly ever. */
export const SAMPLE_MEMBERS: readonly { readonly name: string; readonly weight: number }[] = [
  ...combined(LATIN),
  ...combined(CYRILLIC),
  ...combined(GREEK),
  ...OTHERS,
].map((name, nth) => ({ name, weight: Math.floor(60 / (1 + ((nth * 37) % 97))) }));
