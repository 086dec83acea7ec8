/**
 * The commands as rules name them: every command and subcommand under its own name, whatever rename-command calls it, and
 * the categories they are in. Bits of a selector are indexed by `Command.index`, which renaming does not change.
 */
import { CATEGORIES, categoriesOf } from "../../table/command-info.ts";
import type { Command, CommandTable } from "../../table/command-table.ts";
import { REDIS_VERSION } from "../version.ts";
import { type KeyPlan, keyPlanOf } from "./key-access.ts";

const catalogs = new WeakMap<CommandTable, Catalog>();

export class Catalog {
  /** How many commands and subcommands there are: the size of a selector's bits. */
  readonly count: number;
  /** All of them, each container before its subcommands. */
  readonly commands: readonly Command[];
  readonly #table: CommandTable;
  readonly #keyPlans: readonly KeyPlan[];
  readonly #categories = new Map<string, Command[]>();
  /** The same without commands that Redis of our version does not have. */
  readonly #shared = new Map<string, Command[]>();

  /** The catalog of a table, made once. */
  static of(table: CommandTable): Catalog {
    let catalog = catalogs.get(table);
    if (catalog === undefined) {
      catalog = new Catalog(table);
      catalogs.set(table, catalog);
    }
    return catalog;
  }

  private constructor(table: CommandTable) {
    this.#table = table;
    this.count = table.count;
    const commands: Command[] = [];
    for (const command of table.commands.values()) {
      commands.push(command, ...(command.subcommands?.values() ?? []));
    }
    this.commands = commands;
    const keyPlans: KeyPlan[] = new Array(table.count);
    for (const { index, row } of commands) keyPlans[index] = keyPlanOf(row);
    this.#keyPlans = keyPlans;
    for (const category of CATEGORIES) {
      this.#categories.set(category, []);
      this.#shared.set(category, []);
    }
    for (const command of commands) {
      for (const category of categoriesOf(command)) {
        this.#categories.get(category)?.push(command);
        if (!isLater(command.row.since)) this.#shared.get(category)?.push(command);
      }
    }
  }

  /** The command that a rule names: `get`, `config`, `config|get`. */
  find(name: string): Command | undefined {
    const parts = name.toLowerCase().split("|");
    const command = this.#table.get(parts[0]!);
    if (parts.length === 1 || command === undefined) return command;
    return parts.length === 2 ? command.subcommands?.get(parts[1]!) : undefined;
  }

  keyPlan({ index }: Command): KeyPlan {
    return this.#keyPlans[index]!;
  }

  /** The commands and subcommands of a category, in any case and without the `@`; undefined if there is none of that name. */
  inCategory(name: string): readonly Command[] | undefined {
    return this.#categories.get(name.toLowerCase());
  }

  /** Those that decide whether a category describes a user's rules: so that we print the rules that Redis prints. */
  decisive(category: string): readonly Command[] {
    return this.#shared.get(category)!;
  }
}

const numbersOf = (version: string) => version.split(".").map(Number);
const OURS = numbersOf(REDIS_VERSION);

function isLater(since: string): boolean {
  const numbers = numbersOf(since);
  const at = numbers.findIndex((number, i) => number !== OURS[i]);
  return at >= 0 && numbers[at]! > (OURS[at] ?? 0);
}
