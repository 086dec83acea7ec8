/** Letters in another form: what folding and the stemmers of many languages do with accents and with letters that they marked. */

/** A text with all that `pattern` finds in the form that `forms` gives it. What has no other form stays as it is. */
export function respelled(text: string, pattern: RegExp, forms: Readonly<Record<string, string>>): string {
  return text.replace(pattern, (letters) => forms[letters] ?? letters);
}
