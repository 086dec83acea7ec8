/** Links that bring commands: in the fragment, so that no server sees them. The reader decides whether they run. */

const MOST_CHARACTERS = 20_000;
const MOST_LINES = 200;

/** The address with the commands that made what is there. */
export function linkWith(address: string, lines: readonly string[]): string {
  const url = new URL(address);
  const bytes = new TextEncoder().encode(lines.join("\n"));
  const text = btoa(String.fromCharCode(...bytes));
  url.hash = lines.length === 0 ? "" : `run=${text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
  return url.href;
}

/** The commands in a fragment; none where it has none or is damaged. */
export function linesFrom(hash: string): string[] {
  const [, text] = /^#run=([\w-]+)$/.exec(hash) ?? [];
  if (text === undefined || text.length > MOST_CHARACTERS) return [];
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).split("\n").slice(0, MOST_LINES);
  } catch {
    return [];
  }
}
