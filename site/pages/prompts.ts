/**
 * What the prompt of each command runs. pages/prompts.redis has blocks; the last line of one is the command's own, or the one that is
 * marked with `*`. A command without a block gets a call that is made from its syntax.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSyntax } from "../../engine/src/table/syntax.ts";
import { sampleCall, typedIn } from "../../scripts/sample-call.ts";

const BLOCKS = readFileSync(join(import.meta.dirname, "prompts.redis"), "utf8")
  .split(/\n\n+/)
  .map((text) => text.split("\n").filter((line) => line !== ""));

/** The lines that are written for commands, by name. `names`: of all commands, `CONFIG GET` among them. */
export function writtenPrompts(names: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const known = new Set(names);
  return new Map(
    BLOCKS.map((lines) => {
      const own = lines.find((line) => line.startsWith("* "))?.slice(2) ?? lines.at(-1)!;
      const [first = "", second = ""] = own.split(" ");
      const name = known.has(`${first} ${second}`) ? `${first} ${second}` : first;
      return [name, lines.map((line) => line.replace(/^\* /, ""))];
    }),
  );
}

/** A page has one connection to a store without files and without other servers. */
const NOT_ON_A_PAGE =
  /^(?:ASKING|CLUSTER .*|MIGRATE|BGSAVE|BGREWRITEAOF|SAVE|P?SYNC|REPLICAOF|SLAVEOF|REPLCONF|FAILOVER|SHUTDOWN|MODULE .*|QUIT|MONITOR|FUNCTION RESTORE|SCRIPT DEBUG|ACL (?:LOAD|SAVE)|CONFIG REWRITE|LATENCY GRAPH)$/;

/** The line for a command that has no block; none for one that a page cannot show. `syntax` has the command's name in front. */
export function madePrompt(name: string, syntax: string): readonly string[] | undefined {
  if (NOT_ON_A_PAGE.test(name)) return undefined;
  return [typedIn([...name.split(" "), ...sampleCall(parseSyntax(syntax.slice(name.length))).words])];
}

/** What a prompt shows although it is an error: the answer is the point. */
export const ANSWERS_AN_ERROR =
  /^(?:FUNCTION KILL|SCRIPT KILL|AUTH|CLIENT CACHING|CLUSTER|READONLY|READWRITE|DEBUG|PFDEBUG)/;

/** Why a page cannot show a command. */
export function whyNoPrompt(name: string): string {
  if (name.startsWith("CLUSTER ") || name === "ASKING") return "The store in this page is no node of a Cluster.";
  if (/^(BG|SAVE|SHUTDOWN|DEBUG|CONFIG REWRITE|MODULE|ACL (LOAD|SAVE))/.test(name))
    return "It is about files or the process of a server, and the store in this page has neither.";
  return "It takes over a connection or needs a second server, and a page has neither.";
}
