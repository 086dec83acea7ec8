/** Names of keys as paths: what a separator parts. For the server and the page. */

/** The next brace at or after a place; the end where there is none. */
function nextBrace(name: string, from: number): number {
  let at = from;
  while (at < name.length && name[at] !== "{" && name[at] !== "}") at++;
  return at;
}

/**
 * The folders of a name, outermost first, and last what is left of it. A separator inside the braces of a hash tag parts nothing.
 * In one pass: a name may have a hundred thousand separators.
 */
export function partsOf(name: string, separator: string): string[] {
  if (separator === "") return [name];
  const parts: string[] = [];
  let from = 0;
  let brace = 0;
  for (let at = name.indexOf(separator); at !== -1; ) {
    const end = at + separator.length;
    if (brace < end) brace = nextBrace(name, end);
    const isInside = name[brace] === "}";
    if (!isInside) {
      parts.push(name.slice(from, at));
      from = end;
    }
    at = name.indexOf(separator, isInside ? at + 1 : end);
  }
  parts.push(name.slice(from));
  return parts;
}

/** Characters that a pattern gives a meaning are taken as they are. */
export const literally = (text: string): string => text.replace(/[\\*?[\]^]/g, "\\$&");
