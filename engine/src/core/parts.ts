/**
 * The command table, and the parts of the engine that may be loaded when they are first used: parts.browser.ts says how. Here
 * everything is loaded at the start.
 */
import { groups } from "../commands/index.ts";
import { type Command, CommandTable } from "../table/command-table.ts";
import type { Client } from "./client.ts";
import type { ReplyError } from "./errors.ts";

export const table = new CommandTable(groups);

/** A table with other names for some of the commands. */
export const tableOf = (renames: readonly (readonly [string, string])[]): CommandTable =>
  new CommandTable(groups, renames);

/** What may be loaded by itself: in a browser. */
export type Part = "bits" | "geo" | "scripts" | "server" | "sort" | "streams";

/** What an engine is to be opened with, as far as it decides which parts it needs. */
export interface Needs {
  readonly parts?: readonly Part[];
}

/** Loads what an engine needs that is opened like this. */
export async function loadFor(_needs: Needs): Promise<void> {}

/** Whether everything has been loaded. */
export const isWhole = (): boolean => true;

/** Loads everything. */
export async function loadAll(): Promise<void> {}

/** Which part of the engine a command that is not loaded is in. */
export const partOf = (_command: Command | undefined): Part | undefined => undefined;

export class Parts {
  // biome-ignore lint/complexity/noUselessConstructor: the one of browsers takes the engine.
  constructor(_engine: object) {}

  /** Puts a client's command off until its part is loaded; why it cannot be, once that has failed. */
  load(_client: Client, { name }: Command): ReplyError | null {
    throw new Error(`${name} is in no part of the engine`);
  }

  forget(_client: Client): void {}

  stop(): void {}
}
