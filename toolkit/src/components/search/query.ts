/** A query as a tree. Text becomes one by `parseQuery` (parse.ts); programs may as well write it. */

export type Query =
  /** A word, or several, all of which must be there. In one text field, or in any. */
  | { readonly word: string; readonly field?: string; readonly boost?: number }
  /** Words that begin so. */
  | { readonly prefix: string; readonly field?: string; readonly boost?: number }
  /** Words at most so many letters away. */
  | { readonly fuzzy: string; readonly distance?: 1 | 2; readonly field?: string; readonly boost?: number }
  /** Words one behind the other, in one field. */
  | { readonly phrase: string; readonly field?: string; readonly boost?: number }
  /** Words, beginnings and misspelt words that count as one word. */
  | { readonly synonyms: readonly Query[]; readonly boost?: number }
  | { readonly all: readonly Query[] }
  | { readonly any: readonly Query[] }
  | { readonly not: Query }
  /** A number field between two values, both included unless said otherwise. */
  | {
      readonly range: string;
      readonly min?: number;
      readonly max?: number;
      readonly minExcluded?: boolean;
      readonly maxExcluded?: boolean;
    }
  /** A tags field with at least one of these, or a string field that is one of them. */
  | { readonly tags: string; readonly any: readonly string[] }
  | { readonly everything: true };
