/**
 * The configuration: every directive's value, read from a file, flags or an embedder's options, and changed by CONFIG SET.
 *
 * The rows are in config/directives.ts; hot paths read `values` or copies that config/effects.ts keeps.
 */

import { globMatch } from "../lib/glob.ts";
import { DEFAULT_LIMITS, type Limits } from "../types/collection.ts";
import { type ConfigValues, DIRECTIVE_NAMES, DIRECTIVES, type DirectiveName, NAMES, rowOf } from "./directives.ts";
import { type Configured, copyLimits, EFFECTS } from "./effects.ts";
import { parseInForce } from "./in-force.ts";
import { BadValue } from "./kinds.ts";

/** What is wrong with a directive, before there is a client to tell. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Why CONFIG SET changed nothing. `text` is null for a name that does not exist, and while data is loaded. */
export interface Refusal {
  readonly name: string;
  readonly text: string | null;
  readonly loading?: boolean;
}

interface Wanted {
  readonly name: DirectiveName;
  /** The name as it was given, in lower case. */
  readonly key: string;
  readonly value: string;
}

/** A change that has been checked and is not in force yet. */
export interface Change {
  readonly wanted: readonly Wanted[];
  /** All values as they will be. */
  readonly values: ConfigValues;
}

/** What a configuration needs of the store that it is attached to. */
interface ConfigHost extends Configured {
  readonly loading: boolean;
  readonly replication: { readonly asyncLoading: boolean };
}

/** Makes a value of one CONFIG SET argument or one value in an embedder's options. Throws a BadValue. */
function read<N extends DirectiveName>(values: ConfigValues, name: N, text: string): void {
  const words = rowOf(name).manyWords ? text.split(" ") : [text];
  values[name] = parseInForce(name, words, values[name]);
}

function copy<N extends DirectiveName>(from: ConfigValues, to: ConfigValues, name: N): void {
  to[name] = from[name];
}

function initialValues(): ConfigValues {
  const values: Record<string, unknown> = {};
  for (const name of DIRECTIVE_NAMES) values[name] = rowOf(name).initial;
  return values as ConfigValues;
}

export class Config {
  readonly values = initialValues();
  readonly limits: Limits = { ...DEFAULT_LIMITS };
  /** The file that CONFIG REWRITE writes and INFO shows; empty where there is none. */
  file = "";
  #host: ConfigHost | null = null;
  readonly #listeners = new Map<DirectiveName, Set<() => void>>();

  constructor(given: Readonly<Record<string, string>> = {}) {
    for (const [name, value] of Object.entries(given)) this.#load(name, value);
    copyLimits(this.values, this.limits);
  }

  #load(given: string, value: string): void {
    const name = NAMES.get(given.toLowerCase());
    if (name === undefined) throw new ConfigError(`${given}: Bad directive or wrong number of arguments`);
    try {
      read(this.values, name, value);
    } catch (error) {
      if (error instanceof BadValue) throw new ConfigError(`${given}: ${error.text}`);
      throw error;
    }
  }

  /** Lets the values act on an engine, now and whenever they change. */
  attach(host: ConfigHost): void {
    this.#host = host;
    try {
      for (const effect of new Set(Object.values(EFFECTS))) effect(host, this.values);
    } catch (error) {
      throw error instanceof BadValue ? new ConfigError(error.text) : error;
    }
  }

  /** Calls back after CONFIG SET has changed one of these. Throwing a BadValue refuses the change. */
  onChange(names: readonly DirectiveName[], listener: () => void): void {
    for (const name of names) {
      const listeners = this.#listeners.get(name);
      if (listeners === undefined) this.#listeners.set(name, new Set([listener]));
      else listeners.add(listener);
    }
  }

  /** A value as CONFIG GET shows it. */
  format(name: DirectiveName): string {
    return rowOf(name).format(this.values[name]);
  }

  /** Names and values, flat, for all these patterns; a name without wildcards is answered as it was asked for. */
  get(patterns: readonly string[]): string[] {
    const found = new Map<string, string[]>();
    for (const pattern of patterns) {
      if (!/[[*?]/.test(pattern)) {
        const lower = pattern.toLowerCase();
        const name = NAMES.get(lower);
        if (name !== undefined && !found.has(lower)) found.set(lower, [pattern, this.format(name)]);
        continue;
      }
      for (const [key, name] of NAMES) {
        if (found.has(key) || DIRECTIVES[name].hidden || !globMatch(pattern, key, true)) continue;
        found.set(key, [key, this.format(name)]);
      }
    }
    return [...found.values()].flat();
  }

  /** Whether data is being loaded, from files or from a primary beside the old. */
  get #isLoading(): boolean {
    return this.#host !== null && (this.#host.loading || this.#host.replication.asyncLoading);
  }

  /** What CONFIG SET with these names and values would change. `privileged` is asked before a protected one is. */
  plan(pairs: readonly (readonly [string, string])[], privileged: () => boolean): Change | Refusal {
    const wanted = this.#resolve(pairs, privileged);
    if (!Array.isArray(wanted)) return wanted;
    const values = { ...this.values };
    for (const { name, key, value } of wanted) {
      try {
        read(values, name, value);
      } catch (error) {
        if (error instanceof BadValue) return { name: key, text: error.text };
        throw error;
      }
    }
    return { wanted, values };
  }

  /** Puts a change into force, all of it or nothing: undefined when all went well. */
  apply({ wanted, values }: Change): Refusal | undefined {
    const before = { ...this.values };
    for (const { name } of wanted) copy(values, this.values, name);
    const applied: DirectiveName[] = [];
    for (const { name, key } of wanted) {
      if (this.values[name] === before[name] && !rowOf(name).reapplied) continue;
      try {
        this.#apply(name);
        applied.push(name);
      } catch (error) {
        if (!(error instanceof BadValue)) throw error;
        Object.assign(this.values, before);
        this.#act(name);
        this.#undo(applied);
        return { name: key, text: error.text };
      }
    }
    return undefined;
  }

  /** Lets values act that are as they were before: what could be put into force once can be again. */
  #undo(names: readonly DirectiveName[]): void {
    for (const name of names) {
      try {
        this.#apply(name);
      } catch (error) {
        if (!(error instanceof BadValue)) throw error;
      }
    }
  }

  /** Sets all these names and values, or none: undefined when all went well. */
  set(pairs: readonly (readonly [string, string])[], privileged: () => boolean): Refusal | undefined {
    const change = this.plan(pairs, privileged);
    return "wanted" in change ? this.apply(change) : change;
  }

  #resolve(pairs: readonly (readonly [string, string])[], privileged: () => boolean): Wanted[] | Refusal {
    const wanted: Wanted[] = [];
    for (const [given, value] of pairs) {
      const key = given.toLowerCase();
      const name = NAMES.get(key);
      if (name === undefined) return { name: given, text: null };
      const { change = "free" } = DIRECTIVES[name];
      if (change === "never") return { name: given, text: "can't set immutable config" };
      if (change === "protected" && !privileged()) return { name: given, text: "can't set protected config" };
      if (this.#isLoading && DIRECTIVES[name].notWhileLoading) return { name: given, text: null, loading: true };
      if (wanted.some((other) => other.key === key)) return { name: given, text: "duplicate parameter" };
      wanted.push({ name, key, value });
    }
    return wanted;
  }

  #apply(name: DirectiveName): void {
    this.#act(name);
    const listeners = this.#listeners.get(name);
    if (listeners !== undefined) for (const listener of listeners) listener();
  }

  #act(name: DirectiveName): void {
    if (this.#host !== null) EFFECTS[name]?.(this.#host, this.values);
  }
}
