/**
 * The parts of the engine that are loaded when they are first used.
 *
 * At the start there are the rows of common commands. Each other command has a row that knows its name and its part. When it is
 * called, `Engine.execute` asks here for the part and puts the command off; the client holds what it sends meanwhile (pause.ts says
 * how). So a command that runs has all that it needs, and runs to its end. MULTI asks when a command is queued, so EXEC finds all of
 * it. A script may call any command: EVAL's part is everything.
 *
 * A part is loaded for all engines of the page or worker. Those that are open get the real things for their stand-ins.
 */
import { groups } from "../commands/index.ts";
import { messageOf } from "../lib/caught.ts";
import { keysOf } from "../lib/keys-of.ts";
import type { Group, Row } from "../table/command.ts";
import { type Command, CommandTable } from "../table/command-table.ts";
import type { Client } from "./client.ts";
import { partNotLoaded, type ReplyError } from "./errors.ts";
import { COMMANDS_OF, type Part } from "./parts/commands.browser.ts";
import { adopt, type StandInHost, take } from "./subsystems.browser.ts";

export type { Part };

const stubs = (part: Part): Group => ({
  name: "server",
  rows: COMMANDS_OF[part]
    .split(" ")
    .map((name): Row => ({ name, part, arity: -1, flags: [], since: "", summary: "", syntax: "", complexity: "" })),
});

const PARTS = keysOf(COMMANDS_OF);

export const table = new CommandTable([...groups, ...PARTS.map(stubs)]);

/** A table with other names for some of the commands. Everything has been loaded by then. */
export function tableOf(renames: readonly (readonly [string, string])[]): CommandTable {
  return new CommandTable(everyGroup, renames);
}

/** The rows of all that is loaded. */
const everyGroup: Group[] = [...groups];

/** A part may need another: what scripts call, and the server's view of what everything takes. */
const NEEDS: Partial<Record<Part, readonly Part[]>> = { scripts: PARTS.filter((part) => part !== "scripts") };

interface Loaded {
  readonly groups: readonly Group[];
  /** What rows say that were there at the start. */
  readonly TEXTS?: Readonly<Record<string, object>>;
}

const importers: Readonly<Record<Part, () => Promise<Loaded>>> = {
  bits: () => import("./parts/bits.browser.ts"),
  geo: () => import("./parts/geo.browser.ts"),
  streams: () => import("./parts/streams.browser.ts"),
  sort: () => import("./parts/sort.browser.ts"),
  server: () => import("./parts/server.browser.ts"),
  scripts: () => import("./parts/scripts.browser.ts"),
};

const missing = new Set<Part>(PARTS);
const engines = new Set<StandInHost>();
const loads = new Map<Part, Promise<void>>();

/** Loads a part and what it needs. One that has failed can be tried again. */
function load(part: Part): Promise<void> {
  let under = loads.get(part);
  if (under === undefined) {
    under = bring(part).catch((error: unknown) => {
      loads.delete(part);
      throw error;
    });
    loads.set(part, under);
  }
  return under;
}

async function bring(part: Part): Promise<void> {
  // Side by side: most of the time is the way to the server and back.
  const [found] = await Promise.all([importers[part](), ...(NEEDS[part] ?? []).map(load)]);
  for (const group of found.groups) table.complete(group);
  everyGroup.push(...found.groups);
  take(found);
  if (found.TEXTS !== undefined) {
    for (const [name, texts] of Object.entries(found.TEXTS)) Object.assign(table.get(name)!.row, texts);
  }
  missing.delete(part);
  for (const engine of engines) adopt(engine);
}

/** What an engine is to be opened with, as far as it decides which parts it needs. */
export interface Needs {
  readonly parts?: readonly Part[];
  readonly dir?: string | undefined;
  readonly config?: Readonly<Record<string, string>>;
  readonly renamedCommands?: readonly unknown[];
  readonly users?: readonly unknown[];
}

/** Directives that only change what is there at the start, or that are read when a part runs. */
const AT_THE_START =
  /^(maxmemory(-policy|-samples|-clients)?|notify-keyspace-events|databases|appendfsync|(hash|set|zset|list|stream|hll)-.*|lfu-.*|proto-max-bulk-len|enable-.*)$/i;

/** Loads what an engine needs that is opened like this: everything, unless it is in memory and without users. */
export async function loadFor({
  parts = [],
  dir,
  config = {},
  renamedCommands = [],
  users = [],
}: Needs): Promise<void> {
  for (const part of parts) if (!PARTS.includes(part)) throw new RangeError(`the engine has no part "${part}"`);
  const isPlain = dir === undefined && renamedCommands.length === 0 && users.length === 0;
  if (isPlain && Object.keys(config).every((name) => AT_THE_START.test(name))) await Promise.all(parts.map(load));
  else await loadAll();
}

/** Whether everything has been loaded. */
export const isWhole = (): boolean => missing.size === 0;

/** Loads everything. */
export const loadAll = (): Promise<void> => load("scripts");

/** Which part of the engine a command that is not loaded is in. */
export function partOf(command: Command | undefined): Part | undefined {
  const part = command?.row.part;
  return part === undefined ? undefined : PARTS.find((each) => each === part);
}

export class Parts {
  readonly #engine: StandInHost;
  /** Why a part could not be loaded, for each client whose command waits for it. */
  readonly #failures = new Map<Client, string>();
  readonly #waiting = new Map<Client, Part>();

  constructor(engine: StandInHost) {
    this.#engine = engine;
    engines.add(engine);
  }

  /** Puts a client's command off until its part is loaded; why it cannot be, once that has failed. */
  load(client: Client, command: Command): ReplyError | null {
    const part = partOf(command);
    if (part === undefined) return null;
    const failure = this.#failures.get(client);
    if (failure !== undefined) {
      this.#failures.delete(client);
      return partNotLoaded(command.name, part, failure);
    }
    if (this.#waiting.get(client) === part) return null;
    this.#waiting.set(client, part);
    const lookAgain = (reason: string | null) => {
      if (!this.#waiting.delete(client)) return;
      if (reason !== null) this.#failures.set(client, reason);
      this.#engine.pause.lookAgain();
    };
    load(part).then(
      () => lookAgain(null),
      (error: unknown) => lookAgain(messageOf(error)),
    );
    return null;
  }

  forget(client: Client): void {
    this.#waiting.delete(client);
    this.#failures.delete(client);
  }

  stop(): void {
    engines.delete(this.#engine);
  }
}
