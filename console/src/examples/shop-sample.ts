/** What the shop sells: the same every time. Prices are in cents. */

export interface Product {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly price: number;
  readonly text: string;
}

const ROWS: readonly (readonly [string, string, number, number, string])[] = [
  ["Fountain pen", "Writing", 3_900, 12, "A steel nib, a glass converter, and a cap that posts."],
  ["Pencil, 2B", "Writing", 120, 200, "Cedar, unpainted. Soft enough to think with."],
  ["Ink, iron gall", "Writing", 1_450, 9, "Goes on blue, dries black, outlasts its author."],
  ["Notebook, dotted", "Paper", 1_290, 40, "192 pages that lie flat from the first to the last."],
  ["Index cards", "Paper", 450, 75, "A hundred of them, which is how most books began."],
  ["Envelope, linen", "Paper", 80, 300, "For letters that deserve to be opened with a knife."],
  ["Desk lamp", "Light", 8_900, 6, "One joint, one switch, and a shade of enamel."],
  ["Candle, beeswax", "Light", 690, 30, "Six hours. Smells of the hive it came from."],
  ["Torch", "Light", 2_450, 14, "Throws two hundred metres; runs on one cell."],
  ["Teapot", "Kitchen", 4_200, 8, "Holds two cups, and pours without dripping."],
  ["Mug, stoneware", "Kitchen", 1_800, 35, "Glazed inside only; heavier than it looks."],
  ["Bread knife", "Kitchen", 5_600, 11, "Long teeth, for crusts that fight back."],
  ["Cast-iron pan", "Kitchen", 6_400, 7, "Will be somebody's inheritance."],
  ["Apron", "Kitchen", 2_900, 18, "Linen, two pockets, one for the recipe."],
  ["Pocket knife", "Tools", 3_300, 16, "One blade, as it was meant."],
  ["Folding rule", "Tools", 980, 24, "Two metres of beech with brass joints."],
  ["Hammer, 300 g", "Tools", 2_100, 13, "Ash handle. For nails and for emphasis."],
  ["Spirit level", "Tools", 1_750, 10, "Knows what straight is; will not argue."],
  ["Chess set", "Games", 7_200, 5, "Maple and walnut, weighted, felt below."],
  ["Playing cards", "Games", 890, 60, "Two decks, so that one can be missing a card."],
  ["Dice, five", "Games", 350, 90, "Cut from bone-coloured resin; fair, as far as we know."],
  ["Umbrella", "Outdoors", 4_700, 9, "Turns inside out, and back again."],
  ["Wool blanket", "Outdoors", 9_800, 4, "For the train, the terrace and the sofa."],
  ["Compass", "Outdoors", 2_650, 15, "Oil-filled, luminous, and always of one opinion."],
];

/** A product and how many there are of it. */
export const SAMPLE_PRODUCTS: readonly (Product & { readonly stock: number })[] = ROWS.map(
  ([name, kind, price, stock, text]) => ({
    id: name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, ""),
    name,
    kind,
    price,
    stock,
    text,
  }),
);
