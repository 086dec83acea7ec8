/**
 * Runs units on two targets in step. What one client says in a row goes out in one write; before another client speaks, all
 * answers are in, so that both servers see one order. A client that blocks is left alone until its answer has come.
 */
import { type Answer, BLOCKED } from "./answer.ts";
import { distancesKey, levelDistances } from "./distances.ts";
import { barrier, scanAll } from "./player.ts";
import { commandLine } from "./print.ts";
import type { Command, Unit } from "./random.ts";
import { EXACT, type Rule, same } from "./rules.ts";
import { compareState } from "./state.ts";
import type { Target } from "./target.ts";
import type { Wire } from "./wire.ts";

export interface Mismatch {
  /** Of the unit after which the difference showed. */
  readonly unit: number;
  readonly client: number;
  readonly words: readonly string[];
  readonly real: Answer;
  readonly ours: Answer;
  /** Found in the state, not in a reply. */
  readonly inState: boolean;
}

export interface RunOptions {
  /** Configuration for the run, set on both and put back. */
  readonly config?: Readonly<Record<string, string>>;
  /** Clients that speak RESP3. */
  readonly resp3?: readonly number[];
  /** Units between two comparisons of the state; it is compared at the end in any case. */
  readonly stateEvery?: number;
  /** Gets the run as the lines of a transcript. */
  readonly log?: (line: string) => void;
  /** Gets every pair of answers. */
  readonly onAnswer?: (command: Command, real: Answer) => void;
  /** Told how many stored distances differed in their rounding alone. */
  readonly onRounded?: (count: number) => void;
}

interface Party {
  readonly real: Wire;
  readonly ours: Wire;
  /** Of the command that blocks. */
  pending: Command | undefined;
  /** Rules of what MULTI has queued, in order; undefined outside. */
  queued: Rule[] | undefined;
  /** Where the queued commands store distances. */
  readonly distances: Set<string>;
}

export class Session {
  readonly #real: Target;
  readonly #ours: Target;
  readonly #options: RunOptions;
  #controls!: { real: Wire; ours: Wire };
  readonly #parties = new Map<number, Party>();
  #at = 0;

  constructor(real: Target, ours: Target, options: RunOptions = {}) {
    this.#real = real;
    this.#ours = ours;
    this.#options = options;
  }

  /** The first difference, if there is one. */
  async run(units: readonly Unit[]): Promise<Mismatch | undefined> {
    await Promise.all([this.#real.reset(), this.#ours.reset()]);
    this.#controls = await this.#connect();
    const before = await this.#configure(this.#options.config ?? {});
    try {
      return (await this.#runAll(units)) ?? (await this.#state());
    } finally {
      await this.#configure(before, true);
      const wires = [this.#controls, ...this.#parties.values()];
      await Promise.all(wires.flatMap((pair) => [pair.real.close(), pair.ours.close()]));
      this.#parties.clear();
    }
  }

  async #connect(): Promise<{ real: Wire; ours: Wire }> {
    const [real, ours] = await Promise.all([this.#real.connect(), this.#ours.connect()]);
    return { real, ours };
  }

  async #configure(config: Readonly<Record<string, string>>, quietly = false): Promise<Record<string, string>> {
    const before: Record<string, string> = {};
    const { real, ours } = this.#controls;
    for (const [name, value] of Object.entries(config)) {
      before[name] = (await real.call("CONFIG", "GET", name)).items[1]?.text ?? "";
      await Promise.all([real.call("CONFIG", "SET", name, value), ours.call("CONFIG", "SET", name, value)]);
      if (!quietly) this.#options.log?.(`!config ${name} ${value}`);
    }
    return before;
  }

  async #party(client: number): Promise<Party> {
    const known = this.#parties.get(client);
    if (known !== undefined) return known;
    const party: Party = { ...(await this.#connect()), pending: undefined, queued: undefined, distances: new Set() };
    this.#parties.set(client, party);
    if (this.#options.resp3?.includes(client)) {
      await Promise.all([party.real.call("HELLO", "3"), party.ours.call("HELLO", "3")]);
      this.#options.log?.(`${prefix(client)}HELLO 3  # any`);
    }
    return party;
  }

  async #runAll(units: readonly Unit[]): Promise<Mismatch | undefined> {
    const { stateEvery = Number.POSITIVE_INFINITY } = this.#options;
    let nextState = stateEvery;
    for (let i = 0; i < units.length; ) {
      const party = await this.#party(units[i]!.client);
      const end = segmentEnd(units, i);
      this.#at = end - 1;
      if (party.pending === undefined) {
        const found = await this.#segment(units.slice(i, end), party, i);
        if (found !== undefined) return found;
        const woken = await this.#collectBlocked();
        if (woken !== undefined) return woken;
      }
      i = end;
      if (i >= nextState) {
        nextState = i + stateEvery;
        const found = await this.#state();
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }

  async #segment(units: readonly Unit[], party: Party, start: number): Promise<Mismatch | undefined> {
    const { client } = units[0]!;
    let batch: { command: Command; unit: number }[] = [];
    const flush = async (): Promise<Mismatch | undefined> => {
      const sent = batch;
      batch = [];
      if (sent.length === 0) return undefined;
      const words = sent.map(({ command }) => command.words);
      const [real, ours] = await Promise.all([party.real.pipeline(words), party.ours.pipeline(words)]);
      for (const [i, { command, unit }] of sent.entries()) {
        const found = this.#compare(client, party, command, unit, real[i]!, ours[i]!);
        if (found !== undefined) return found;
      }
      await this.#level(party);
      return undefined;
    };
    for (const [i, { commands }] of units.entries()) {
      // The generator does not know that a blocked client has missed its EXEC.
      if (commands.some(outsideMulti)) {
        const found = await flush();
        if (found !== undefined) return found;
        if (party.queued !== undefined) continue;
      }
      for (const command of commands) {
        const unit = start + i;
        if (command.mode === "plain" && command.pauseMs === undefined) {
          const key = distancesKey(command);
          const before = key === undefined ? undefined : await flush();
          if (before !== undefined) return before;
          if (key !== undefined) party.distances.add(key);
          batch.push({ command, unit });
          // What comes next must find the distances level.
          const found = party.distances.size > 0 ? await flush() : undefined;
          if (found !== undefined) return found;
          continue;
        }
        const found = (await flush()) ?? (await this.#special(client, party, command, unit));
        if (found !== undefined) return found;
        if (party.pending !== undefined) return undefined;
      }
    }
    return flush();
  }

  /** Commands that cannot go out with others: scans, those that may block, those before which time must pass. */
  async #special(client: number, party: Party, command: Command, unit: number): Promise<Mismatch | undefined> {
    if (command.mode === "scan") {
      const [real, ours] = await Promise.all([scanAll(party.real, command.words), scanAll(party.ours, command.words)]);
      return this.#compare(client, party, command, unit, real, ours);
    }
    if (command.mode === "quiet") {
      if ([...this.#parties.values()].some((other) => other.pending !== undefined)) return undefined;
      const [real, ours] = await Promise.all([party.real.call(...command.words), party.ours.call(...command.words)]);
      return this.#compare(client, party, command, unit, real, ours);
    }
    if (command.mode === "plain") {
      this.#options.log?.(`!sleep ${command.pauseMs}`);
      await new Promise((resolve) => setTimeout(resolve, command.pauseMs));
      const [real, ours] = await Promise.all([party.real.call(...command.words), party.ours.call(...command.words)]);
      return this.#compare(client, party, command, unit, real, ours);
    }
    party.real.send(command.words);
    party.ours.send(command.words);
    await this.#barrier();
    const real = party.real.arrived > 0 ? (await party.real.receive(1))[0]! : BLOCKED;
    const ours = party.ours.arrived > 0 ? (await party.ours.receive(1))[0]! : BLOCKED;
    const found = this.#compare(client, party, command, unit, real, ours);
    if (found === undefined && real === BLOCKED) party.pending = command;
    return found;
  }

  /** After a command that stores distances, or the transaction that it is in: see distances.ts. */
  async #level({ real, ours, queued, distances }: Party): Promise<void> {
    if (queued !== undefined || distances.size === 0) return;
    let rounded = 0;
    for (const key of distances) rounded += await levelDistances(key, real, ours);
    distances.clear();
    if (rounded > 0) this.#options.onRounded?.(rounded);
  }

  async #barrier(): Promise<void> {
    await Promise.all([barrier(this.#controls.real), barrier(this.#controls.ours)]);
  }

  /** Has what was just said woken somebody? Then on both sides, with the same answer. */
  async #collectBlocked(): Promise<Mismatch | undefined> {
    const waiting = [...this.#parties].filter(([, party]) => party.pending !== undefined);
    if (waiting.length === 0) return undefined;
    await this.#barrier();
    for (const [client, party] of waiting) {
      const real = party.real.arrived > 0 ? (await party.real.receive(1))[0]! : BLOCKED;
      const ours = party.ours.arrived > 0 ? (await party.ours.receive(1))[0]! : BLOCKED;
      if (real === BLOCKED && ours === BLOCKED) continue;
      const { words } = party.pending!;
      party.pending = undefined;
      this.#options.log?.(`${prefix(client)}wait`);
      if (!same(real, ours, EXACT)) return { unit: this.#at, client, words, real, ours, inState: false };
    }
    return undefined;
  }

  #compare(
    client: number,
    party: Party,
    command: Command,
    unit: number,
    real: Answer,
    ours: Answer,
  ): Mismatch | undefined {
    this.#options.onAnswer?.(command, real);
    this.#options.log?.(`${prefix(client)}${commandLine(command.words)}${remark(command)}`);
    const equal = this.#equal(party, command, real, ours);
    return equal ? undefined : { unit, client, words: command.words, real, ours, inState: false };
  }

  /** Inside MULTI the rules wait for EXEC's array. */
  #equal(party: Party, command: Command, real: Answer, ours: Answer): boolean {
    const name = command.words[0]!.toUpperCase();
    if (party.queued !== undefined) {
      if (real.tag === "+" && real.text === "QUEUED") {
        party.queued.push(command.rule);
        return same(real, ours, EXACT);
      }
      if (name === "EXEC" || name === "DISCARD" || name === "RESET") {
        const rules = party.queued;
        if (command.words.length === 1) party.queued = undefined;
        if (name !== "EXEC" || real.tag !== "*" || ours.tag !== "*" || real.items.length !== ours.items.length) {
          return same(real, ours, EXACT);
        }
        return real.items.every((item, i) => same(item, ours.items[i]!, rules[i] ?? EXACT));
      }
    } else if (name === "MULTI" && real.tag === "+") party.queued = [];
    return same(real, ours, command.rule);
  }

  async #state(): Promise<Mismatch | undefined> {
    const found = await compareState(this.#controls.real, this.#controls.ours);
    if (found === undefined) return undefined;
    const { db, words, real, ours } = found;
    this.#options.log?.(`@9 SELECT ${db}`);
    this.#options.log?.(`@9 ${commandLine(words)}${remark({ words, rule: found.rule, mode: "plain" })}`);
    return { unit: this.#at, client: 9, words, real, ours, inState: true };
  }
}

const outsideMulti = ({ mode, pauseMs }: Command): boolean =>
  mode === "scan" || mode === "quiet" || pauseMs !== undefined;

const prefix = (client: number): string => (client === 1 ? "" : `@${client} `);

function remark({ rule, mode }: Command): string {
  if (mode === "scan") return "  # scan";
  switch (rule.kind) {
    case "exact":
      return "";
    case "sorted":
      return rule.pairs ? "  # sorted pairs" : "  # sorted";
    case "approx":
      return `  # approx ${rule.by}`;
    default:
      return `  # ${rule.kind}`;
  }
}

function segmentEnd(units: readonly Unit[], start: number): number {
  const { client } = units[start]!;
  let end = start + 1;
  while (end < units.length && units[end]!.client === client) end++;
  return end;
}
