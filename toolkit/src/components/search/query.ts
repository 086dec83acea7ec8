/** A query as a tree. Text becomes one by `parseQuery` (parse.ts); programs may as well write it. */

export type Query =
  /** A word, or several, all of which must be there. In one text field, or in any. */
  | {
      /** The word; several must all be there. */
      readonly word: string;
      /** Only in this text field; in any by default. */
      readonly field?: string;
      /** How much it counts (default 1). */
      readonly boost?: number;
    }
  /** Words that begin so. */
  | {
      /** How the words begin. */
      readonly prefix: string;
      /** Only in this text field; in any by default. */
      readonly field?: string;
      /** How much it counts (default 1). */
      readonly boost?: number;
    }
  /** Words at most so many letters away. */
  | {
      /** The word, maybe misspelt. */
      readonly fuzzy: string;
      /** How many letters may differ (default 1). */
      readonly distance?: 1 | 2;
      /** Only in this text field; in any by default. */
      readonly field?: string;
      /** How much it counts (default 1). */
      readonly boost?: number;
    }
  /** Words one behind the other, in one field. */
  | {
      /** The words, in their order. */
      readonly phrase: string;
      /** Only in this text field; in any by default. */
      readonly field?: string;
      /** How much it counts (default 1). */
      readonly boost?: number;
    }
  /** Words, beginnings and misspelt words that count as one word. */
  | {
      /** What counts as one word. */
      readonly synonyms: readonly Query[];
      /** How much it counts (default 1). */
      readonly boost?: number;
    }
  | {
      /** Each of these must match. */
      readonly all: readonly Query[];
    }
  | {
      /** At least one of these must match. */
      readonly any: readonly Query[];
    }
  | {
      /** This must not match. */
      readonly not: Query;
    }
  /** A number field between two values, both included unless said otherwise. */
  | {
      /** The number field. */
      readonly range: string;
      /** From here on; no limit by default. */
      readonly min?: number;
      /** Up to here; no limit by default. */
      readonly max?: number;
      /** Whether `min` itself is left out (default false). */
      readonly minExcluded?: boolean;
      /** Whether `max` itself is left out (default false). */
      readonly maxExcluded?: boolean;
    }
  /** A tags field with at least one of these, or a string field that is one of them. */
  | {
      /** The tags or string field. */
      readonly tags: string;
      /** The tags or strings, one of which must be there. */
      readonly any: readonly string[];
    }
  | {
      /** Every document. */
      readonly everything: true;
    };
