/** The flags of a subcommand: declared once, read from the command line, shown by --help and completed by the shell. */
import { UsageError } from "../options.ts";
import { didYouMean } from "./nearest.ts";

export interface Flag {
  /** Without its dashes. */
  readonly name: string;
  readonly short?: string;
  /** What stands for its value in the help; none: it is a switch. */
  readonly value?: string;
  /** The values that it may have, where they are few. */
  readonly choices?: readonly string[];
  readonly summary: string;
  /** Its value is the name of a file or a folder: shells complete it so. */
  readonly isPath?: boolean;
}

export interface Arguments {
  readonly positionals: readonly string[];
  /** The last of them: what stood behind `--`. */
  readonly behindDashes: readonly string[];
  has(name: string): boolean;
  text(name: string): string | undefined;
  /** A whole number within the bounds; `otherwise` if the flag was not given. */
  whole(name: string, otherwise: number, least?: number, most?: number): number;
  /** A time such as 500ms, 30s, 10m, 6h or 7d, in milliseconds; a bare number is seconds. */
  duration(name: string, otherwise: number): number;
}

export interface ReadOptions {
  /** The first word without dashes ends the flags: the words behind it belong to a command. */
  readonly stopsAtWord?: (word: string) => boolean;
}

const HELP: Flag = { name: "help", summary: "this text" };

export const withHelp = (flags: readonly Flag[]): readonly Flag[] => [...flags, HELP];

export function readArguments(argv: readonly string[], given: readonly Flag[], options: ReadOptions = {}): Arguments {
  const flags = withHelp(given);
  const values = new Map<string, string>();
  const positionals: string[] = [];
  let behindDashes: readonly string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!;
    if (word === "--") {
      behindDashes = argv.slice(at + 1);
      positionals.push(...behindDashes);
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      positionals.push(word);
      if (options.stopsAtWord?.(word) !== true) continue;
      positionals.push(...argv.slice(at + 1));
      break;
    }
    const [, name = "", attached] = /^([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    const flag = flags.find((each) => `--${each.name}` === name || (each.short && `-${each.short}` === name));
    if (flag === undefined) throw unknownFlag(name, flags);
    values.set(
      flag.name,
      flagValue(flag, name, attached, () => argv[++at]),
    );
  }
  return argumentsOf(values, positionals, behindDashes);
}

function unknownFlag(name: string, flags: readonly Flag[]): UsageError {
  const known = flags.flatMap((each) => (each.short ? [`--${each.name}`, `-${each.short}`] : [`--${each.name}`]));
  return new UsageError(`unknown option '${name}'${didYouMean(name, known)}`);
}

function flagValue(flag: Flag, name: string, attached: string | undefined, next: () => string | undefined): string {
  if (flag.value === undefined) {
    if (attached !== undefined) throw new UsageError(`${name} takes no value`);
    return "";
  }
  const value = attached ?? next();
  if (value === undefined) throw new UsageError(`${name} needs a value: ${name} ${flag.value}`);
  if (flag.choices !== undefined && !flag.choices.includes(value)) {
    const list = flag.choices.join(", ");
    throw new UsageError(`${name} is one of ${list}, not '${value}'${didYouMean(value, flag.choices)}`);
  }
  return value;
}

function argumentsOf(
  values: ReadonlyMap<string, string>,
  positionals: readonly string[],
  behindDashes: readonly string[],
): Arguments {
  return {
    positionals,
    behindDashes,
    has: (name) => values.has(name),
    text: (name) => values.get(name),
    whole(name, otherwise, least = 0, most = Number.MAX_SAFE_INTEGER) {
      const text = values.get(name);
      if (text === undefined) return otherwise;
      const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      if (number >= least && number <= most) return number;
      throw new UsageError(`--${name} takes a whole number from ${least} to ${most}, not '${text}'`);
    },
    duration(name, otherwise) {
      const text = values.get(name);
      return text === undefined ? otherwise : durationOf(name, text);
    },
  };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, "": 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function durationOf(name: string, text: string): number {
  const [, number, unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)?$/.exec(text) ?? [];
  if (number === undefined) {
    throw new UsageError(`--${name} takes a time such as 500ms, 30s, 10m, 6h or 7d, not '${text}'`);
  }
  return Math.round(Number(number) * UNITS[unit]!);
}

/** The flags as lines of the help. */
export function flagLines(flags: readonly Flag[]): string[] {
  const left = flags.map(({ name, short, value }) => {
    const shown = value === undefined ? "" : ` ${value}`;
    return `${short === undefined ? "" : `-${short}, `}--${name}${shown}`;
  });
  const width = Math.max(...left.map((each) => each.length)) + 2;
  return flags.map(({ summary }, at) => `  ${left[at]!.padEnd(width)}${summary}`);
}
