/**
 * The kinds of directive: how the words of redis.conf or CONFIG SET become a value, and how a value is printed.
 *
 * A kind is a function that makes one row of the table in directives.ts. What it refuses, it refuses in Redis's words, since
 * they are what CONFIG SET answers and what the server prints when its file is wrong.
 */

/** Thrown by `parse` where the words do not fit; the text goes behind Redis's own introduction. */
export class BadValue {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** `protected` ones change at run time only where enable-protected-configs allows it. */
export type Change = "free" | "protected" | "never";

export interface DirectiveOptions {
  /** A second name under which it is known, listed and set. */
  readonly alias?: string;
  /** Whether it may be changed at run time; free unless said otherwise. */
  readonly change?: Change;
  /** Cannot be changed while data is loaded. */
  readonly notWhileLoading?: boolean;
  /** Not listed by patterns, only by its full name. */
  readonly hidden?: boolean;
  /** A secret: kept out of logs. */
  readonly secret?: boolean;
  /** Acts when it is set to the value that it has, too: what it names may have changed. */
  readonly reapplied?: boolean;
}

export interface Directive<T> extends DirectiveOptions {
  readonly initial: T;
  /** What CONFIG REWRITE prints in a way of its own: texts in quotes, memory with a unit. */
  readonly kind?: "text" | "memory";
  /** Takes several words, which CONFIG SET has in one argument. */
  readonly manyWords: boolean;
  /** The value that these words spell; `current` for those that change only part of it. Throws BadValue. */
  parse(words: readonly string[], current: T): T;
  /** As CONFIG GET shows it. */
  format(value: T): string;
  /** The lines of redis.conf that say it; one line with format's text unless given. */
  lines?(value: T): Line[];
}

/** A line that CONFIG REWRITE writes, without the directive's name. */
export interface Line {
  readonly text: string;
  /** Added where the file does not say anything yet. */
  readonly needed: boolean;
}

const INT_MAX = 2147483647;
/** The largest int64 and uint64, one too high since a double cannot hold them; `digits` prints them right. */
const INT64_MAX = 2 ** 63;
const UINT64_MAX = 2 ** 64;

/** A whole number beyond 2^53 as digits; the largest int64 and uint64, which a double rounds up, as they are. */
export function digits(value: number): string {
  if (value >= UINT64_MAX) return "18446744073709551615";
  if (value === INT64_MAX) return "9223372036854775807";
  return Number.isSafeInteger(value) ? String(value) : String(BigInt(value));
}

function row<T>(
  initial: T,
  options: DirectiveOptions & Pick<Directive<T>, "kind">,
  manyWords: boolean,
  parse: (words: readonly string[], current: T) => T,
  format: (value: T) => string,
): Directive<T> {
  return { ...options, initial, manyWords, parse, format };
}

export function bool(initial: boolean, options: DirectiveOptions = {}): Directive<boolean> {
  return row(
    initial,
    options,
    false,
    ([word]) => {
      const lower = word!.toLowerCase();
      if (lower !== "yes" && lower !== "no") throw new BadValue("argument must be 'yes' or 'no'");
      return lower === "yes";
    },
    (value) => (value ? "yes" : "no"),
  );
}

function checkBounds(value: number, min: number, max: number): number {
  if (value < min || value > max) {
    throw new BadValue(`argument must be between ${digits(min)} and ${digits(max)} inclusive`);
  }
  return value;
}

export interface IntegerOptions extends DirectiveOptions {
  readonly min?: number;
  readonly max?: number;
}

/** A whole number, from 0 to the largest int unless said otherwise. */
export function integer(initial: number, options: IntegerOptions = {}): Directive<number> {
  const { min = 0, max = INT_MAX, ...rest } = options;
  return row(
    initial,
    rest,
    false,
    ([word]) => {
      if (!/^(?:0|-?[1-9]\d{0,18})$/.test(word!)) throw new BadValue("argument couldn't be parsed into an integer");
      const exact = BigInt(word!);
      if (exact > 9223372036854775807n || exact < -9223372036854775808n) {
        throw new BadValue("argument couldn't be parsed into an integer");
      }
      return checkBounds(Number(exact), min, max);
    },
    digits,
  );
}

/** A whole number up to the largest int64. */
export const long = (initial: number, options: IntegerOptions = {}) => integer(initial, { max: INT64_MAX, ...options });

/** Permissions of a file, in octal. */
export function octal(initial: number, options: DirectiveOptions = {}): Directive<number> {
  return row(
    initial,
    options,
    false,
    ([word]) => {
      if (!/^[0-7]+$/.test(word!)) throw new BadValue("argument couldn't be parsed as an octal number");
      const value = Number.parseInt(word!, 8);
      if (value > 0o777) throw new BadValue("argument must be between 0 and 777 inclusive");
      return value;
    },
    (value) => value.toString(8),
  );
}

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  k: 1000,
  kb: 1024,
  m: 1e6,
  mb: 1024 ** 2,
  g: 1e9,
  gb: 1024 ** 3,
};

/** Bytes with an optional unit (`100mb`), or undefined. An empty word is 0, as in Redis. */
export function parseMemory(word: string): number | undefined {
  const match = /^(\d*)([a-z]*)$/i.exec(word);
  const unit = match === null ? undefined : UNITS[match[2]!.toLowerCase()];
  return unit === undefined ? undefined : Math.min(Number(match![1]) * unit, UINT64_MAX);
}

/** Bytes in the largest unit that says them exactly, for files. */
export function shortMemory(bytes: number): string {
  if (bytes > 0 && Number.isSafeInteger(bytes)) {
    for (const unit of ["gb", "mb", "kb"]) {
      if (bytes % UNITS[unit]! === 0) return `${bytes / UNITS[unit]!}${unit}`;
    }
  }
  return digits(bytes);
}

export function memory(initial: number, options: IntegerOptions = {}): Directive<number> {
  const { min = 0, max = INT64_MAX, ...rest } = options;
  return row(
    initial,
    { ...rest, kind: "memory" },
    false,
    ([word]) => {
      const value = parseMemory(word!);
      if (value === undefined) throw new BadValue("argument must be a memory value");
      return checkBounds(value, min, max);
    },
    digits,
  );
}

/** Bytes, or a share of maxmemory: `5%` is kept as -5. */
export function memoryOrPercent(initial: number, options: DirectiveOptions = {}): Directive<number> {
  return row(
    initial,
    { ...options, kind: "memory" },
    false,
    ([word]) => {
      const percent = /^(\d+)%$/.exec(word!);
      if (percent !== null) {
        if (Number(percent[1]) > 100) throw new BadValue("percentage argument must be less or equal to 100");
        return -Number(percent[1]);
      }
      const value = parseMemory(word!);
      if (value === undefined) throw new BadValue("argument must be a memory or percent value");
      return value;
    },
    (value) => (value < 0 ? `${-value}%` : digits(value)),
  );
}

/** One of a few words, in the order in which the refusal lists them. */
export function oneOf<const W extends string>(
  words: readonly W[],
  initial: NoInfer<W>,
  options: DirectiveOptions = {},
): Directive<W> {
  return row<W>(
    initial,
    options,
    false,
    ([word]) => {
      const found = words.find((choice) => choice === word!.toLowerCase());
      if (found === undefined) throw new BadValue(`argument(s) must be one of the following: ${words.join(", ")}`);
      return found;
    },
    (value) => value,
  );
}

export interface TextOptions extends DirectiveOptions {
  /** What is wrong with a text, or undefined. */
  readonly check?: (text: string) => string | undefined;
}

export function text(initial: string, options: TextOptions = {}): Directive<string> {
  const { check, ...rest } = options;
  return row<string>(
    initial,
    { ...rest, kind: "text" },
    false,
    ([word]) => {
      const wrong = check?.(word!);
      if (wrong !== undefined) throw new BadValue(wrong);
      return word!;
    },
    (value) => value,
  );
}

/** Several words, kept as such. */
export function words(
  initial: readonly string[],
  options: DirectiveOptions & { readonly max?: number } = {},
): Directive<readonly string[]> {
  const { max = Number.POSITIVE_INFINITY, ...rest } = options;
  return row<readonly string[]>(
    initial,
    rest,
    true,
    (given) => {
      if (given.length > max) throw new BadValue("Too many bind addresses specified.");
      return given.length === 1 && given[0] === "" ? [] : [...given];
    },
    (value) => value.join(" "),
  );
}
