/** Made-up users, rules and calls for the comparison of permissions. The same seed gives the same ones everywhere. */
import { groups } from "../../../src/commands/index.ts";
import { CATEGORIES } from "../../../src/table/command-info.ts";
import { type Command, CommandTable } from "../../../src/table/command-table.ts";
import { isLater } from "../later.ts";
import type { Prng } from "../prng.ts";
import { RECIPES } from "../random.ts";
import type { Making } from "../words.ts";

const ALL = [...new CommandTable(groups).commands.values()].flatMap((command) =>
  command.subcommands === null ? [command] : [command, ...command.subcommands.values()],
);

/** Every command and subcommand that a real server has too. */
export const COMMANDS: readonly Command[] = ALL.filter(({ row }) => !isLater(row));

/** The names of those that are newer. */
export const LATER: ReadonlySet<string> = new Set(ALL.filter(({ row }) => isLater(row)).map(({ name }) => name));

const KINDS = ["str", "bit", "list", "set", "hash", "zset", "stream", "hll", "geo"];

const KEY_PATTERNS = [
  ...KINDS.flatMap((kind) => [`${kind}*`, `${kind}1`, `${kind}?`, `${kind}[12]`]),
  "*1",
  "*2",
  "*",
  "nokey",
  "s*",
  "[^s]*",
  "",
  "\\*",
  "w_*",
];
const CHANNEL_PATTERNS = ["ch*", "ch1", "*1", "c?2", "news:*", "", "[cn]*"];
const CHANNELS = ["ch1", "ch2", "ch*", "news:1", "news:*", "x", "", "*", "c?2"];

/** Words that steer how keys are found: counts, options, keys. */
const WORDS = [
  ...KINDS.flatMap((kind) => [`${kind}1`, `${kind}2`]),
  ...["0", "1", "2", "3", "-1", "x", "", "*", "9999999999999999999"],
  ...["STORE", "store", "STOREDIST", "BY", "GET", "LIMIT", "STREAMS", "streams", "COUNT", "KEYS", "keys", "WEIGHTS"],
  ...["AGGREGATE", "NX", "XX", "EX", "GT", "BLOCK", "GROUP", "AUTH", "AUTH2", "COPY", "REPLACE", "LEFT", "AND", "SET"],
  ...["INCRBY", "OVERFLOW", "ASC", "#", "w_*", "PERSIST", "IDX", "DB", "MATCH", "(1", "-", "+", "$", ">"],
];

const FIRST_ARGUMENTS: readonly string[] = [
  "select|0",
  "get|str1",
  "debug|sleep",
  "object|help",
  "set|list1",
  "SeLect|1",
];

const mixedCase = (rng: Prng, word: string) => (rng.chance(0.1) ? word.toUpperCase() : word);

function keyRule(rng: Prng): string {
  const access = rng.chance(0.5) ? "~" : rng.pick(["%R~", "%W~", "%RW~", "%r~", "%wr~"]);
  return access + rng.pick(KEY_PATTERNS);
}

function commandRule(rng: Prng): string {
  const sign = rng.chance(0.7) ? "+" : "-";
  const kind = rng.below(10);
  if (kind < 4) return `${sign}@${mixedCase(rng, rng.pick(CATEGORIES))}`;
  if (kind < 9) return sign + mixedCase(rng, rng.pick(COMMANDS).name);
  return `+${rng.pick(FIRST_ARGUMENTS)}`;
}

const FLAGS = [
  ...[
    "allkeys",
    "resetkeys",
    "allchannels",
    "resetchannels",
    "allcommands",
    "nocommands",
    "+@all",
    "-@all",
    "~*",
    "&*",
  ],
];

/** One rule of a selector. */
function permission(rng: Prng): string {
  const kind = rng.below(20);
  if (kind < 6) return keyRule(rng);
  if (kind < 8) return `&${rng.pick(CHANNEL_PATTERNS)}`;
  if (kind < 18) return commandRule(rng);
  return rng.pick(FLAGS);
}

const OTHER_RULES = [
  ...["on", "off", "nopass", "resetpass", "reset", "clearselectors", "sanitize-payload", "skip-sanitize-payload", ""],
  ...[">pw", "<pw", ">other", "<nosuch", "#abc", "!abc", "ON", "+nosuch", "-nosuch", "+@nosuch", "+config|nosuch"],
  ...["-get|x", "+get|", "+config|", "+config|get|x", "%~x", "%X~x", "%", "%RR~x", "~a b", "& ", "foo", ")", "+", "-@"],
  "#148de9c5a7a44d19e56cd9ae1a554bf67847afb0c58f6e12fa29ac7ddfca9940",
  "!148de9c5a7a44d19e56cd9ae1a554bf67847afb0c58f6e12fa29ac7ddfca9940",
];

function selector(rng: Prng): string[] {
  const rules = Array.from({ length: rng.between(0, 5) }, () => permission(rng));
  return rng.chance(0.5) ? [`(${rules.join(" ")})`] : `(${rules.join(" ")})`.split(" ");
}

/** The words of one ACL SETUSER behind the name. Most change what is allowed, some are wrong. */
export function ruleWords(rng: Prng): string[] {
  const words: string[] = [];
  for (let left = rng.between(1, 8); left > 0; left--) {
    const kind = rng.below(100);
    if (kind < 85) words.push(permission(rng));
    else if (kind < 93) words.push(...selector(rng));
    else words.push(rng.pick(OTHER_RULES));
  }
  return words;
}

/** What a user begins with: enough that many calls are allowed. */
export function firstRules(rng: Prng): string[] {
  const rules = ["reset", "on", "nopass", rng.chance(0.6) ? "+@all" : rng.pick(["+@read", "+@write", "+@slow"])];
  const patterns = rng.chance(0.3) ? ["~*"] : Array.from({ length: rng.between(1, 8) }, () => `~${rng.pick(KINDS)}*`);
  return [...rules, ...patterns, ...(rng.chance(0.3) ? ["&*"] : [])];
}

const nameOf = ({ name }: Command) => name.split("|");

/** A call whose words fit the command, from the random comparison of commands. */
export function fittingCall(making: Making): string[] {
  return making.rng.pick(RECIPES).make(making);
}

/** A call of any command with words of any kind: keys are looked for where a command has them, whatever stands there. */
export function anyCall(rng: Prng): string[] {
  const command = rng.pick(COMMANDS);
  const name = nameOf(command);
  const least = Math.abs(command.arity) - name.length;
  const more = command.arity < 0 ? rng.between(0, 6) : 0;
  const words = Array.from({ length: Math.max(0, least) + more }, () =>
    command.group === "pubsub" ? rng.pick(CHANNELS) : rng.pick(WORDS),
  );
  return [...name, ...words];
}
