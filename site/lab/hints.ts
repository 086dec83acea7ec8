/** Completion and hints of the prompt, from the command table. */

export interface CommandHint {
  /** `CONFIG GET`. */
  readonly name: string;
  /** What may follow: `key value [NX | XX] …`. */
  readonly syntax: string;
  readonly summary: string;
}

const spaced = (line: string): string => line.trimStart().replace(/\s+/g, " ");

/** The command that a line begins with: the longest name that fits. */
function commandOf(line: string, commands: readonly CommandHint[]): CommandHint | undefined {
  const upper = `${spaced(line).toUpperCase().trimEnd()} `;
  return commands.filter(({ name }) => upper.startsWith(`${name} `)).sort((a, b) => b.name.length - a.name.length)[0];
}

/** What stands above the prompt: the syntax and what the command does, or the names that begin so. */
export function hintFor(line: string, commands: readonly CommandHint[]): string {
  const text = spaced(line);
  if (text === "") return "";
  const command = commandOf(text, commands);
  if (command !== undefined) return `${command.name} ${command.syntax} — ${command.summary}`.replace("  ", " ");
  const upper = text.toUpperCase();
  return commands
    .filter(({ name }) => name.startsWith(upper))
    .slice(0, 8)
    .map(({ name }) => name)
    .join("  ");
}

/** The line with its command completed as far as only one goes on; null where nothing can be added. */
export function completed(line: string, commands: readonly CommandHint[]): string | null {
  const text = spaced(line);
  if (text === "") return null;
  const upper = text.toUpperCase();
  const names = commands.map(({ name }) => name).filter((name) => name.startsWith(upper));
  const [first] = names;
  if (first === undefined) return null;
  if (names.length === 1 || names.includes(upper))
    return names.includes(upper) && names.length > 1 ? null : `${first} `;
  let length = upper.length;
  while (names.every((name) => name[length] !== undefined && name[length] === first[length])) length++;
  return length > upper.length ? first.slice(0, length) : null;
}
