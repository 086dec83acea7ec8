/** A random comparison from start to end: epochs with their settings, what the engine lacks, failures shrunk and described. */
import type { Answer } from "./answer.ts";
import { PLACED } from "./commands.ts";
import { print } from "./print.ts";
import { makeEpoch, RECIPES, type Unit } from "./random.ts";
import { type Mismatch, type RunOptions, Session } from "./session.ts";
import { shrink } from "./shrink.ts";
import type { Target } from "./target.ts";

export interface CampaignOptions {
  readonly seed: number;
  readonly commands: number;
  /** Only this epoch. */
  readonly epoch?: number;
  readonly epochCommands?: number;
  /** Different failures to collect before giving up. */
  readonly failures?: number;
  /** Only these commands, by name. */
  readonly only?: readonly string[];
  readonly shrinkMs?: number;
  readonly onEpoch?: (done: CampaignResult) => void;
}

export interface Failure {
  readonly seed: number;
  readonly epoch: number;
  /** The same for failures that look alike. */
  readonly signature: string;
  /** A transcript that shows it. */
  readonly transcript: string;
  readonly text: string;
}

export interface CampaignResult {
  commands: number;
  epochs: number;
  /** Epochs that failed, those that look like an earlier failure included. */
  failed: number;
  /** How many answers were errors. */
  errors: number;
  /** Stored distances that differed in their rounding alone (distances.ts). */
  rounded: number;
  readonly failures: Failure[];
  /** Commands that ours does not have: left out. */
  readonly missing: readonly string[];
  /** How often each command was answered without an error. */
  readonly succeeded: Map<string, number>;
}

/** Epochs take turns: Redis's own limits, then limits so low that collections change their form all the time. */
const CONFIGS: readonly Readonly<Record<string, string>>[] = [
  {},
  {
    "hash-max-listpack-entries": "6",
    "hash-max-listpack-value": "20",
    "set-max-intset-entries": "8",
    "zset-max-listpack-entries": "6",
    "zset-max-listpack-value": "20",
    "list-max-listpack-size": "4",
    "stream-node-max-entries": "4",
  },
  { "list-max-listpack-size": "-1", "hash-max-listpack-value": "128", "stream-node-max-bytes": "200" },
];

function optionsFor(epoch: number): RunOptions {
  return { config: CONFIGS[epoch % CONFIGS.length]!, resp3: epoch % 2 === 1 ? [2, 4] : [], stateEvery: 1000 };
}

/** The commands of the table that a server does not know. */
export async function missingCommands(target: Target): Promise<string[]> {
  const wire = await target.connect();
  const names = [...new Set([...RECIPES.map((recipe) => recipe.name), ...PLACED])];
  const missing: string[] = [];
  for (const name of names) {
    // With no arguments a command complains, answers, or is not there. MULTI is left again; nothing here changes a key.
    const harmless = ["FLUSHALL", "FLUSHDB"].includes(name) ? [name, "PROBE"] : name.split(" ");
    const answer = await wire.call(...harmless);
    if (/^ERR unknown (sub)?command/i.test(answer.text)) missing.push(name);
    if (name === "MULTI") await wire.call("DISCARD");
  }
  await wire.close();
  return missing;
}

export async function runCampaign(real: Target, ours: Target, options: CampaignOptions): Promise<CampaignResult> {
  const missing = await missingCommands(ours);
  const only = options.only?.map((name) => name.toUpperCase());
  const recipes = RECIPES.filter(
    ({ name }) =>
      !missing.includes(name) && (only === undefined || only.includes(name) || only.includes(name.split(" ")[0]!)),
  );
  if (recipes.length === 0) throw new Error("no commands left to compare");
  const result: CampaignResult = {
    commands: 0,
    epochs: 0,
    failed: 0,
    errors: 0,
    rounded: 0,
    failures: [],
    missing,
    succeeded: new Map(),
  };
  const count = options.epochCommands ?? 4000;
  const transactions = !["MULTI", "EXEC", "WATCH", "DISCARD"].some((name) => missing.includes(name));
  for (let epoch = options.epoch ?? 0; result.commands < options.commands; epoch++) {
    const commands = Math.min(count, options.commands - result.commands);
    const units = makeEpoch({ seed: options.seed, epoch, commands, recipes, transactions });
    await runEpoch(units, epoch, real, ours, options, result);
    options.onEpoch?.(result);
    const wanted = options.failures ?? 1;
    // When epoch after epoch fails in the ways already known, there is nothing more to learn.
    if (options.epoch !== undefined || result.failures.length >= wanted || result.failed > wanted * 10) break;
  }
  return result;
}

async function runEpoch(
  units: readonly Unit[],
  epoch: number,
  real: Target,
  ours: Target,
  options: CampaignOptions,
  result: CampaignResult,
): Promise<void> {
  const settings = optionsFor(epoch);
  const onAnswer: RunOptions["onAnswer"] = (command, answer) => {
    result.commands++;
    const name = command.words[0]!.toUpperCase();
    if (answer.tag === "-") result.errors++;
    else result.succeeded.set(name, (result.succeeded.get(name) ?? 0) + 1);
  };
  const onRounded = (count: number): void => {
    result.rounded += count;
  };
  result.epochs++;
  const before = result.commands;
  const found = await new Session(real, ours, { ...settings, onAnswer, onRounded }).run(units);
  if (result.commands === before) result.commands++;
  if (found === undefined) return;
  result.failed++;
  const alike = result.failures.some((failure) => failure.signature === signatureOf(found));
  if (alike) return;
  const small = await shrink(
    units,
    found,
    real,
    ours,
    { ...settings, stateEvery: Number.POSITIVE_INFINITY },
    options.shrinkMs,
  );
  const signature = signatureOf(small.mismatch);
  if (result.failures.some((failure) => failure.signature === signature)) return;
  const transcript = await asTranscript(small.units, real, ours, small.options);
  const text = describe(small.mismatch, transcript, options.seed, epoch, real, ours);
  result.failures.push({ seed: options.seed, epoch, signature, transcript, text });
}

function signatureOf({ words, real, ours, inState }: Mismatch): string {
  const kind = (answer: Answer): string => answer.tag + (answer.tag === "-" ? answer.text.slice(0, 24) : "");
  return `${inState ? "state " : ""}${words[0]!.toUpperCase()} ${kind(real)} ${kind(ours)}`;
}

async function asTranscript(units: readonly Unit[], real: Target, ours: Target, settings: RunOptions): Promise<string> {
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  await new Session(real, ours, { ...settings, stateEvery: Number.POSITIVE_INFINITY, log }).run(units);
  return lines.join("\n");
}

function describe(
  { words, real: a, ours: b, inState }: Mismatch,
  transcript: string,
  seed: number,
  epoch: number,
  real: Target,
  ours: Target,
): string {
  return [
    `${inState ? "The states differ" : "The answers differ"}: ${words[0]} (seed ${seed}, epoch ${epoch})`,
    `  ${real.name}:`,
    `    ${print(a, "    ")}`,
    `  ${ours.name}:`,
    `    ${print(b, "    ")}`,
    "",
    transcript,
    "",
  ].join("\n");
}
