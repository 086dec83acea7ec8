/** Makes up the commands of an epoch: which client says what, in which order. The same seed and epoch give the same units. */
import { COMMANDS } from "./commands.ts";
import { compile } from "./grammar.ts";
import { Prng } from "./prng.ts";
import { BLUR, DISTANCE, EXACT, type Rule, SORTED, SORTED_PAIRS, TYPE } from "./rules.ts";
import { BAD_WORDS, type Making } from "./words.ts";

export interface Command {
  readonly words: readonly string[];
  readonly rule: Rule;
  readonly mode: "plain" | "block" | "scan" | "quiet";
  /** Time that passes on both before it is sent. */
  readonly pauseMs?: number;
}

/** What one client says without interruption; the shrinker keeps or drops it as a whole. */
export interface Unit {
  readonly client: number;
  readonly commands: readonly Command[];
}

interface Recipe {
  readonly weight: number;
  /** `SET`, `XGROUP CREATE`: what the engine is asked for before a run. */
  readonly name: string;
  /** A changed word would leave the outcome to chance. */
  readonly fragile: boolean;
  readonly make: (making: Making) => string[];
  readonly rule: Rule;
  readonly mode: Command["mode"] | "reset" | "sort" | "expire";
}

const CONTAINERS = new Set(["OBJECT", "XGROUP", "XINFO", "CLIENT", "PUBSUB", "COMMAND", "MEMORY"]);
const FRAGILE = new Set(["DEBUG", "SPOP", "SORT", "SORT_RO", "COMMAND COUNT", "COMMAND GETKEYS"]);

function readRecipe(line: string): Recipe {
  const [left, how = ""] = line.split(" => ") as [string, string?];
  const [, weight, pattern] = /^(\S+) (.*)$/.exec(left)!;
  const [first, second] = pattern!.split(" ");
  const name = CONTAINERS.has(first!) ? `${first} ${second}` : first!;
  const fragile = FRAGILE.has(name) || pattern!.includes("<lexset>");
  const base = { weight: Number(weight), name, fragile, make: compile(pattern!) };
  if (how === "block" || how === "scan" || how === "quiet" || how === "expire")
    return { ...base, rule: EXACT, mode: how };
  if (how.startsWith("sort") && name.startsWith("SORT")) return { ...base, rule: readRule(how.slice(5)), mode: "sort" };
  if (how === "reset") return { ...base, rule: TYPE, mode: "reset" };
  return { ...base, rule: readRule(how), mode: "plain" };
}

function readRule(how: string): Rule {
  const [kind, by] = how.split(" ");
  if (kind === "" || kind === undefined) return EXACT;
  if (kind === "sorted") return SORTED;
  if (kind === "pairs") return SORTED_PAIRS;
  if (kind === "blur") return BLUR;
  if (kind === "distance") return DISTANCE;
  if (kind === "approx") return { kind, by: Number(by) };
  if (kind === "type" || kind === "error" || kind === "any") return { kind };
  throw new Error(`unknown rule ${how}`);
}

export const RECIPES: readonly Recipe[] = COMMANDS.map(readRecipe);

const CLIENTS = 4;
/** Clients 1 and 2 never block, so that there is always somebody to wake the others. */
const canBlock = (client: number): boolean => client > 2;

const OUTSIDE_MULTI: ReadonlySet<Recipe["mode"]> = new Set(["scan", "quiet", "expire"] as const);

class Chooser {
  readonly #recipes: readonly Recipe[];
  readonly #upTo: number[] = [];
  readonly #total: number;

  constructor(recipes: readonly Recipe[]) {
    this.#recipes = recipes;
    let total = 0;
    for (const recipe of recipes) {
      total += recipe.weight;
      this.#upTo.push(total);
    }
    this.#total = total;
  }

  choose(rng: Prng): Recipe {
    const roll = (rng.next() / 0x100000000) * this.#total;
    let low = 0;
    let high = this.#upTo.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#upTo[middle]! <= roll) low = middle + 1;
      else high = middle;
    }
    return this.#recipes[low]!;
  }
}

export interface EpochOptions {
  readonly seed: number;
  readonly epoch: number;
  readonly commands: number;
  readonly recipes?: readonly Recipe[];
  /** Whether transactions are among the commands. */
  readonly transactions?: boolean;
}

export function makeEpoch(options: EpochOptions): Unit[] {
  const rng = new Prng(options.seed, options.epoch);
  const making: Making = { rng, bulk: false, streamId: 1 };
  const chooser = new Chooser(options.recipes ?? RECIPES);
  const inMulti = new Array<boolean>(CLIENTS + 1).fill(false);
  const units: Unit[] = [];
  let made = 0;
  while (made < options.commands) {
    const client = rng.chance(0.75) ? rng.between(1, 2) : rng.between(3, CLIENTS);
    for (let run = rng.chance(0.5) ? rng.between(1, 5) : rng.between(5, 60); run > 0; run--) {
      const commands =
        (options.transactions === false ? undefined : transactionStep(making, inMulti, client)) ??
        oneOf(chooser, making, client, inMulti[client]!);
      if (commands[0]!.words[0] === "RESET") inMulti[client] = false;
      units.push({ client, commands });
      made += commands.length;
    }
  }
  return units;
}

const plain = (...words: string[]): Command => ({ words, rule: EXACT, mode: "plain" });

function transactionStep({ rng }: Making, inMulti: boolean[], client: number): Command[] | undefined {
  if (inMulti[client]) {
    if (rng.chance(0.15)) {
      inMulti[client] = false;
      return [rng.chance(0.92) ? plain("EXEC") : plain("DISCARD")];
    }
    return rng.chance(0.003) ? [plain(rng.pick(["MULTI", "WATCH", "UNWATCH"]))] : undefined;
  }
  if (rng.chance(0.02)) {
    inMulti[client] = true;
    return [plain("MULTI")];
  }
  if (rng.chance(0.008))
    return [plain("WATCH", `${rng.pick(["str", "list", "set", "hash", "zset"])}${rng.between(1, 3)}`)];
  return rng.chance(0.002) ? [plain(rng.pick(["EXEC", "DISCARD", "UNWATCH"]))] : undefined;
}

/** Picks a recipe that fits the moment, and now and then spoils what it made. */
function oneOf(chooser: Chooser, making: Making, client: number, inMulti: boolean): Command[] {
  for (;;) {
    const recipe = chooser.choose(making.rng);
    if (recipe.mode === "block" && !canBlock(client)) continue;
    if (OUTSIDE_MULTI.has(recipe.mode) && inMulti) continue;
    let words = recipe.make(making);
    if (making.rng.chance(0.05) && recipe.mode !== "scan" && recipe.mode !== "expire")
      words = spoilt(words, making.rng, recipe);
    if (making.rng.chance(0.02)) words = words.map((word, i) => (i === 0 ? word.toLowerCase() : word));
    return commandsFor(recipe, words);
  }
}

function commandsFor(recipe: Recipe, words: string[]): Command[] {
  const { rule, mode } = recipe;
  if (mode === "reset") return [{ words, rule, mode: "plain" }, plain("DEL", words[1]!)];
  if (mode === "sort") return [plain("ZADD", "nokey", "XX", "1", "a"), { words, rule, mode: "plain" }];
  if (mode === "expire") {
    return [
      { words, rule, mode: "plain" },
      { words: ["EXISTS", words[1]!], rule: EXACT, mode: "plain", pauseMs: 4 },
    ];
  }
  return [{ words, rule, mode }];
}

/** A word too few, one too many, or one that does not belong. */
function spoilt(words: string[], rng: Prng, recipe: Recipe): string[] {
  if (recipe.fragile || words.length < 2) return words;
  const out = [...words];
  const roll = rng.below(10);
  if (roll < 2) out.pop();
  else if (roll < 3) out.push(out.at(-1)!);
  else if (recipe.mode === "block") out.pop();
  else {
    let bad = rng.pick(BAD_WORDS);
    // A stream id or a time from the server's own clock would differ.
    if (recipe.name === "XADD" && bad === "*") bad = "";
    if (roll < 4) out.push(bad);
    else out[rng.between(1, out.length - 1)] = bad;
  }
  return out;
}
