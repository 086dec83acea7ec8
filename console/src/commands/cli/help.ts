/** `help`, `help SET` and `help @string` in the prompt. */
import { didYouMean } from "../nearest.ts";
import type { CommandDoc, CommandDocs } from "./docs.ts";

const TOPICS = `
To get help about Cinnabar's commands type:
      "help @<group>" to get a list of commands in <group>
      "help <command>" for help on <command>
      "quit" to exit

Behind what is typed stands what may follow. Tab completes names of commands, the arrows bring back earlier lines.
`;

const oneOf = ({ name, parts, summary, since, group }: CommandDoc): string => `
  \x1b[1m${name}\x1b[0m \x1b[90m${parts.join(" ")}\x1b[0m
  \x1b[33msummary:\x1b[0m ${summary}
  \x1b[33msince:\x1b[0m ${since}
  \x1b[33mgroup:\x1b[0m ${group}
`;

/** The text, latin1. */
export async function printHelp(words: readonly string[], loading: Promise<CommandDocs>): Promise<string> {
  const docs = await loading;
  return Buffer.from(textFor(words, docs)).toString("latin1");
}

function textFor(words: readonly string[], docs: CommandDocs): string {
  const [first] = words;
  if (first === undefined) return `${TOPICS}\nGroups: ${docs.groups.map((each) => `@${each}`).join(", ")}\n\n`;
  if (first.startsWith("@")) {
    const list = docs.ofGroup(first.slice(1));
    if (list.length > 0) return `${list.map(oneOf).join("")}\n`;
    return `There is no group '${first}'. Groups: ${docs.groups.map((each) => `@${each}`).join(", ")}\n`;
  }
  const found = docs.find(words);
  if (found !== null) return `${oneOf(found.doc)}\n`;
  return `There is no command '${words.join(" ")}'${didYouMean(words.join(" "), docs.names)}\n`;
}
