/**
 * Options of components, checked in one way: before anything is written, with an error that says what to do.
 *
 *   const OPTIONS = defineOptions<LocksOptions>("Locks", {
 *     prefix: prefix,
 *     leaseMs: whole(10),
 *     confirm: within(CONFIRMATION),
 *   });
 *   OPTIONS.check(options);
 *
 * The type demands a check for each option of the interface, and an option without one is refused as unknown: so none can go
 * unchecked. What relates two options (a lease that must be shorter than a memory) is left to the component.
 *
 * A check costs some nanoseconds for each option that is given. `undefined` is an option that is not given.
 */
import { isWellFormed, seen } from "./checks.ts";
import { InputError } from "./errors.ts";

export interface Check {
  /** Behind "must be". */
  readonly expected: string;
  accepts(value: unknown): boolean;
  readonly isRequired?: boolean;
  /** The option is an object with options of its own. */
  readonly inner?: { checkAs(owner: string, given: unknown): unknown };
}

/** A check for each option; `required` for those that must be given. */
export type Checks<O> = {
  readonly [name in keyof O]-?: Record<never, never> extends Pick<O, name> ? Check : Check & { isRequired: true };
};

// -------------------------------------------------------------------------------------------------- kinds of options

export function whole(least: number, most: number = Number.MAX_SAFE_INTEGER): Check {
  const expected =
    most === Number.MAX_SAFE_INTEGER ? `an integer of at least ${least}` : `an integer from ${least} to ${most}`;
  return {
    expected,
    accepts: (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most,
  };
}

/** A finite number. */
export function number(least: number, most: number): Check {
  return {
    expected: `a number from ${least} to ${most}`,
    accepts: (value) => typeof value === "number" && value >= least && value <= most,
  };
}

/** How long a call waits: milliseconds, which need not be an integer, or Infinity. */
export const patience: Check = {
  expected: "a number of milliseconds of at least 0, or Infinity",
  accepts: (value) => typeof value === "number" && value >= 0,
};

/** How long something may take: milliseconds above 0, which need not be an integer. */
export const duration: Check = {
  expected: "a number of milliseconds above 0",
  accepts: (value) => typeof value === "number" && value > 0 && value !== Number.POSITIVE_INFINITY,
};

export const text: Check = {
  expected: "a string without lone surrogates",
  accepts: (value) => typeof value === "string" && isWellFormed(value),
};

/** The first word of keys: what is in braces would decide the slot. */
export const prefix: Check = {
  expected: 'a non-empty string without "{" and lone surrogates',
  accepts: (value) => typeof value === "string" && value !== "" && !value.includes("{") && isWellFormed(value),
};

export const flag: Check = { expected: "true or false", accepts: (value) => typeof value === "boolean" };

export const callback: Check = { expected: "a function", accepts: (value) => typeof value === "function" };

export const signal: Check = {
  expected: "an AbortSignal",
  accepts: (value) => isObject(value) && "aborted" in value && "addEventListener" in value,
};

export const codec: Check = {
  expected: "a codec, an object with encode and decode",
  accepts: (value) => hasMethods(value, "encode", "decode"),
};

/** Standard Schema: some libraries make functions with a property. */
export const schema: Check = {
  expected: "a schema that implements Standard Schema (zod, valibot, arktype …)",
  accepts: isSchema,
};

/** A point in time. */
export const time: Check = {
  expected: "a Date or a number of milliseconds",
  accepts: (value) => Number.isFinite(value instanceof Date ? value.getTime() : value),
};

export const object: Check = { expected: "an object", accepts: isObject };

/** What a component is given to work with, told by its methods. */
export function having(what: string, ...methods: readonly string[]): Check {
  return { expected: what, accepts: (value) => hasMethods(value, ...methods) };
}

/** For values that any are right for. */
export const anything: Check = { expected: "anything", accepts: () => true };

/** In place of a limit: there is none. */
export const none: Check = { expected: "null", accepts: (value) => value === null };

export function choice(...allowed: readonly (string | number | boolean)[]): Check {
  const expected = allowed.map((each) => JSON.stringify(each)).join(" or ");
  const known: readonly unknown[] = allowed;
  return { expected, accepts: (value) => known.includes(value) };
}

export function either(first: Check, second: Check): Check {
  return {
    expected: `${first.expected} or ${second.expected}`,
    accepts: (value) => first.accepts(value) || second.accepts(value),
  };
}

export function listOf(each: Check, least = 0): Check {
  return {
    expected: `a list${least > 0 ? ` of at least ${least}` : ""}, each ${each.expected}`,
    accepts: (value) => Array.isArray(value) && value.length >= least && value.every((item) => each.accepts(item)),
  };
}

/** Names with values of one kind. */
export function recordOf(each: Check): Check {
  return {
    expected: `an object, each value ${each.expected}`,
    accepts: (value) => isObject(value) && Object.values(value).every((item) => each.accepts(item)),
  };
}

/** An object with options of its own. */
export function within<O extends object>(inner: OptionSet<O>): Check {
  return { expected: "an object", accepts: isObject, inner };
}

/** The same, or false in its place. */
export function orFalse<O extends object>(inner: OptionSet<O>): Check {
  return {
    expected: "an object or false",
    accepts: (value) => value === false || isObject(value),
    inner: { checkAs: (owner, given) => given !== false && inner.checkAs(owner, given) },
  };
}

export function required(check: Check): Check & { isRequired: true } {
  return { ...check, isRequired: true };
}

// -------------------------------------------------------------------------------------------------- sets of options

export class OptionSet<O extends object> {
  /** Whose options they are: "Locks", or "Locks.acquire". */
  readonly owner: string;
  readonly checks: ReadonlyMap<string, Check>;
  readonly #required: readonly (readonly [name: string, check: Check])[];

  constructor(owner: string, checks: Checks<O>) {
    this.owner = owner;
    this.checks = new Map(Object.entries<Check>(checks));
    this.#required = [...this.checks].filter(([, { isRequired }]) => isRequired === true);
  }

  /** Returns what it is given, so that it can stand where that is used. */
  check<G extends O>(given: G): G {
    this.checkAs(this.owner, given);
    return given;
  }

  /** `owner` begins the message. */
  checkAs(owner: string, given: unknown): void {
    if (!isObject(given)) throw new InputError(`${owner}: the options must be an object, not ${seen(given)}`);
    for (const name in given) {
      const value = given[name];
      const check = this.checks.get(name);
      if (check === undefined) throw this.#unknown(owner, name);
      if (value === undefined) continue;
      if (!check.accepts(value))
        throw new InputError(`${owner}: ${name} must be ${check.expected}, not ${seen(value)}`);
      check.inner?.checkAs(`${owner}: ${name}`, value);
    }
    for (const [name, { expected }] of this.#required) {
      if (given[name] !== undefined) continue;
      throw new InputError(`${owner}: ${name} is missing; it must be ${expected}`);
    }
  }

  #unknown(owner: string, name: string): InputError {
    const known = [...this.checks.keys()];
    const near = nearest(name, known);
    const question = near === null ? "" : `; did you mean "${near}"?`;
    const list = known.length === 0 ? "it has no options" : `its options are ${known.join(", ")}`;
    return new InputError(`${owner}: there is no option "${name}"${question} (${list})`);
  }
}

/** What a set checks, whatever its interface. */
type DefinedOptions = Pick<OptionSet<object>, "owner" | "checks">;

const defined = new Map<string, DefinedOptions>();

/** `owner` is the class, or the class and the method: "Locks.acquire". */
export function defineOptions<O extends object>(owner: string, checks: Checks<O>): OptionSet<O> {
  const set = new OptionSet<O>(owner, checks);
  defined.set(owner, set);
  return set;
}

/** The sets of all modules that are loaded, for the test that goes through them. */
export function definedOptions(): ReadonlyMap<string, DefinedOptions> {
  return defined;
}

/** Defaults, and what was given in their place; an option that is undefined is not given. */
export function withDefaults<D extends object, G extends object>(
  defaults: D,
  given: G,
): D & { [name in keyof G]: G[name] };
export function withDefaults(defaults: object, given: object): object {
  const all: Record<string, unknown> = { ...defaults };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) all[name] = value;
  return all;
}

// -------------------------------------------------------------------------------------------------- suggestions

/** What people call an option that has another name here, and the names that it may have. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  ttl: ["ttlMs", "idleMs", "leaseMs", "freshMs", "keepMs"],
  expires: ["ttlMs", "idleMs", "leaseMs", "freshMs", "keepMs"],
  maxage: ["ttlMs", "idleMs", "freshMs", "keepMs"],
  timeout: ["timeoutMs", "waitMs", "leaseMs"],
  interval: ["everyMs", "pollMs"],
  window: ["windowMs"],
  namespace: ["prefix"],
  keyprefix: ["prefix"],
  count: ["limit", "count"],
  size: ["limit", "maxItems", "maxBytes"],
};

export function nearest(name: string, known: readonly string[]): string | null {
  const wanted = bare(name);
  const other = OTHER_NAMES[wanted]?.find((each) => known.includes(each));
  let best: string | null = null;
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const each of known) {
    const away = distance(wanted, bare(each));
    if (away >= least) continue;
    best = each;
    least = away;
  }
  return best !== null && least <= 1 ? best : (other ?? best);
}

/** Without what is most often forgotten: the unit, and how it is written. */
const bare = (name: string): string =>
  name
    .replace(/[_-]/g, "")
    .toLowerCase()
    .replace(/(?:ms|bytes)$/, "");

/** How many letters must be changed, put in, left out or swapped with the next to make one of the other. */
function distance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = stepsAt(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? stepsAt(before, j - 2) + 1 : changed;
      next.push(Math.min(changed, swapped, stepsAt(row, j) + 1, stepsAt(next, j - 1) + 1));
    }
    [before, row] = [row, next];
  }
  return stepsAt(row, b.length);
}

/** No steps lead to what lies outside of the table. */
function stepsAt(row: readonly number[], at: number): number {
  return row[at] ?? Number.POSITIVE_INFINITY;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSchema(value: unknown): boolean {
  if (!isObject(value) && typeof value !== "function") return false;
  return "~standard" in value && hasMethods(value["~standard"], "validate");
}

function hasMethods(value: unknown, ...methods: readonly string[]): boolean {
  if (!isObject(value)) return false;
  return methods.every((name) => typeof value[name] === "function");
}
