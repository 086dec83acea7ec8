/** The words of ACL SETUSER, of a `user` line and of a file's line as rules: a selector may be spread over several words. */

/** The rules, or the place of the word whose parenthesis is never closed. */
export function joinSelectors(words: readonly string[]): string[] | number {
  const rules: string[] = [];
  let open = -1;
  words.forEach((word, i) => {
    if (open < 0) {
      rules.push(word);
      if (word.startsWith("(") && !word.endsWith(")")) open = i;
      return;
    }
    rules[rules.length - 1] += ` ${word}`;
    if (word.endsWith(")")) open = -1;
  });
  return open < 0 ? rules : open;
}
