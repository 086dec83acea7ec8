/** Patterns as SCAN takes them: `*`, `?`, `[a-z]`, `[^a-z]`, and `\` before what is meant as it is. Names are latin1: one char, one byte. */

const STAR = "*";
/** One char of a name. */
type Fits = (char: string) => boolean;
type Token = typeof STAR | Fits;

/** A bracket and what stands in it; the end of the pattern closes one that is open. */
function classAt(pattern: string, from: number): { readonly fits: Fits; readonly next: number } {
  let at = from + 1;
  const isNot = pattern[at] === "^";
  if (isNot) at++;
  const ranges: [string, string][] = [];
  for (; at < pattern.length && pattern[at] !== "]"; at++) {
    if (pattern[at] === "\\" && at + 1 < pattern.length) at++;
    else if (pattern[at + 1] === "-" && at + 2 < pattern.length) {
      const [first, last] = [pattern[at]!, pattern[at + 2]!];
      ranges.push(first <= last ? [first, last] : [last, first]);
      at += 2;
      continue;
    }
    ranges.push([pattern[at]!, pattern[at]!]);
  }
  return { fits: (char) => ranges.some(([low, high]) => char >= low && char <= high) !== isNot, next: at };
}

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    if (char === "*") {
      if (tokens.at(-1) !== STAR) tokens.push(STAR);
    } else if (char === "?") tokens.push(() => true);
    else if (char === "[") {
      const { fits, next } = classAt(pattern, at);
      tokens.push(fits);
      at = next;
    } else {
      const meant = char === "\\" && at + 1 < pattern.length ? pattern[++at]! : char;
      tokens.push((each) => each === meant);
    }
  }
  return tokens;
}

/** Only the last star is tried again, so that no pattern takes longer than the product of the two lengths. */
function matches(tokens: readonly Token[], name: string): boolean {
  let [token, at, star, from] = [0, 0, -1, 0];
  while (at < name.length) {
    const wanted = tokens[token];
    if (wanted === STAR) {
      star = token++;
      from = at;
    } else if (wanted?.(name[at]!)) {
      token++;
      at++;
    } else if (star !== -1) {
      token = star + 1;
      at = ++from;
    } else return false;
  }
  while (tokens[token] === STAR) token++;
  return token === tokens.length;
}

/** Tells whether names match; the empty pattern takes all. */
export function globOf(pattern: string): (latin1: string) => boolean {
  if (pattern === "" || /^\*+$/.test(pattern)) return () => true;
  const tokens = tokensOf(latin1(pattern));
  return (name) => matches(tokens, name);
}

/** Text as names are matched. */
export const latin1 = (text: string): string => Buffer.from(text).toString("latin1");
