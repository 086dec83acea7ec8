/** Names of keys as paths: what a separator parts. For the server and the page. */

const patterns = new Map<string, RegExp>();
const MOST_PATTERNS = 50;

/** What parts a name; not inside the braces of a hash tag. */
function between(separator: string): RegExp {
  let pattern = patterns.get(separator);
  if (pattern === undefined) {
    if (patterns.size >= MOST_PATTERNS) patterns.clear();
    pattern = new RegExp(`${separator.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")}(?![^{]*\\})`);
    patterns.set(separator, pattern);
  }
  return pattern;
}

/** The folders of a name, outermost first, and last what is left of it. */
export function partsOf(name: string, separator: string): string[] {
  return separator === "" ? [name] : name.split(between(separator));
}

/** Characters that a pattern gives a meaning are taken as they are. */
export const literally = (text: string): string => text.replace(/[\\*?[\]^]/g, "\\$&");
