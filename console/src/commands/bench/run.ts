/** The steps of `cinnabar bench`: connect, fill, warm up, measure in turns, delete the keys, tell. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { UsageError } from "../../options.ts";
import { counted, messageOf } from "../../values.ts";
import { isPlace } from "../cli/place-word.ts";
import { CommandFailure, type Streams } from "../command.ts";
import type { Arguments } from "../flags.ts";
import { onePlace, type Place, placeOf } from "../link/place.ts";
import { reach } from "../link/reach.ts";
import { infoOf, type Keyed, keysOf, noErrors, WholeStore } from "../link/stores.ts";
import { type TlsSettings, tlsFrom } from "../link/tls.ts";
import { Progress } from "../progress.ts";
import { Chance } from "./chance.ts";
import { isComponentWorkload, openComponent } from "./components.ts";
import { BenchKeys } from "./keys.ts";
import { type Extent, type Load, runRound } from "./loops.ts";
import { WORKLOADS } from "./names.ts";
import { Recorder } from "./recorder.ts";
import { grouped, jsonOf, type Report, textOf } from "./report.ts";
import { CommandTarget, type Target } from "./target.ts";
import { type Asked, workloadFor } from "./workloads.ts";

const BATCH = 500;
/** Of what is in flight. */
const MOST_BYTES = 1 << 30;
const MOST_IN_FLIGHT = 10_000;

interface Plan {
  readonly load: Load;
  readonly asked: Asked;
  readonly extent: Extent;
  readonly warmUpMs: number;
  readonly rounds: number;
  readonly keys: number;
  readonly valueBytes: number;
  readonly seed: number;
  readonly tls: TlsSettings;
}

function planOf(args: Arguments, words: readonly string[], places: readonly Place[]): Plan {
  const workload = args.text("workload") ?? "set";
  if (words.length > 0 && args.has("workload")) throw new UsageError("give a --workload or a command, not both");
  if (args.has("script") && workload !== "script") throw new UsageError("--script is for --workload script");
  if (args.has("pipeline") && args.has("rate"))
    throw new UsageError("--pipeline is for a closed loop: leave --rate out");
  if (args.has("count") && args.has("duration")) throw new UsageError("give --duration or --count, not both");
  if (args.has("rounds") && !args.has("compare")) throw new UsageError("--rounds is for --compare");
  const valueBytes = args.whole("value-bytes", 64, 0, 512 << 20);
  const clients = args.whole("clients", 50, 1, 10_000);
  const pipeline = args.whole("pipeline", 1, 1, 10_000);
  if (clients * pipeline * (valueBytes + 100) > MOST_BYTES) {
    throw new UsageError("clients × pipeline × value-bytes is more than 1 GiB in flight: lower one of them");
  }
  const script = args.text("script");
  return {
    load: {
      clients,
      pipeline,
      rate: args.has("rate") ? args.whole("rate", 0, 1, 10_000_000) : undefined,
      mostInFlight: Math.max(1, Math.min(MOST_IN_FLIGHT, Math.floor(MOST_BYTES / 16 / (valueBytes + 100)))),
      timeoutMs: args.duration("timeout", 10_000),
    },
    asked: {
      workload,
      reads: args.whole("reads", 80, 0, 100),
      lua: script === undefined ? undefined : luaIn(script),
      words,
      allowsAnyKey: args.has("any-key"),
    },
    extent: args.has("count")
      ? { ms: Number.POSITIVE_INFINITY, count: args.whole("count", 0, 1) }
      : { ms: Math.max(1, args.duration("duration", 10_000)), count: Number.POSITIVE_INFINITY },
    warmUpMs: args.duration("warm-up", 1_000),
    rounds: args.has("compare") ? args.whole("rounds", 10, 1, 1_000) : 1,
    keys: args.whole("keys", 10_000, 1, 100_000_000),
    valueBytes,
    seed: args.whole("seed", 1, 0, 0xff_ff_ff_ff),
    tls: tlsFrom(args, places),
  };
}

function luaIn(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`--script: ${messageOf(error)}`);
  }
}

/** One of the stores, ready to be measured. */
class Subject {
  readonly recorder = new Recorder();
  readonly label: string;
  server = "";
  title = "";
  readonly #plan: Plan;
  readonly #store: WholeStore;
  readonly #prefix = `cinnabar-bench:${randomBytes(6).toString("hex")}:`;
  #target: Target | null = null;
  #keys: BenchKeys | null = null;
  #tidy: (() => Promise<void>) | null = null;

  constructor(plan: Plan, store: WholeStore) {
    this.#plan = plan;
    this.#store = store;
    this.label = store.label;
  }

  async open(): Promise<void> {
    const { asked, keys, valueBytes, seed, load } = this.#plan;
    const link = await this.#store.control();
    const info = await infoOf(link, "server");
    this.server = `version ${info.get("redis_version") ?? "unknown"}`;
    const chance = new Chance(seed);
    const value = madeValue(valueBytes, chance);
    if (asked.words.length === 0 && isComponentWorkload(asked.workload)) {
      const setting = {
        prefix: this.#prefix.slice(0, -1),
        keys,
        value,
        chance,
        inFlight: load.clients * load.pipeline,
      };
      const { reached } = this.#store;
      const isTls = reached.place.kind !== "folder" && reached.place.tls;
      const options = { retryMs: 0, breaker: false, ...(isTls ? { tls: this.#plan.tls } : {}) } as const;
      const component = await openComponent(asked.workload, reached, setting, options);
      [this.#target, this.#tidy, this.title] = [component.target, component.tidy, component.title];
      return;
    }
    this.#keys = new BenchKeys(this.#prefix, keys, chance);
    const workload = await workloadFor(asked, link, { keys: this.#keys, chance, value });
    this.title = workload.title;
    if (workload.isFilled) await this.#fill(this.#keys, value);
    const target = new CommandTarget(this.#store, () => workload.next());
    this.#target = target;
    await target.open(load.clients);
  }

  get #db(): number {
    const { place } = this.#store.reached;
    return place.kind === "folder" ? 0 : place.db;
  }

  async #fill(keys: BenchKeys, value: string): Promise<void> {
    const bytes = Buffer.from(value, "latin1");
    const size = Math.max(1, Math.min(BATCH, Math.floor((16 << 20) / (bytes.length + 100))));
    for (let from = 0; from < keys.count; from += size) {
      const commands: Keyed[] = [];
      for (let number = from; number < Math.min(keys.count, from + size); number++) {
        const key = Buffer.from(keys.take(number));
        commands.push({ key, words: ["SET", key, bytes] });
      }
      noErrors(await this.#store.run(this.#db, commands));
    }
  }

  async measure(extent: Extent, recorder: Recorder, signal: AbortSignal | undefined): Promise<void> {
    await runRound(this.#plan.load, extent, this.#target!, recorder, signal);
  }

  /** Deletes what was made, and nothing else. */
  async close(): Promise<void> {
    await this.#target?.close();
    try {
      if (this.#tidy !== null) {
        await this.#tidy();
        for (const part of await this.#store.parts()) {
          for await (const keys of keysOf(part, `${this.#prefix}*`, 1_000)) await this.#delete(part.db, keys);
        }
      } else if (this.#keys !== null) await this.#deleteNamed(this.#keys);
    } catch (error) {
      throw new CommandFailure(
        `the keys of the benchmark could not be deleted on ${this.label}: ${messageOf(error)}`,
        `they begin with ${this.#prefix}`,
      );
    } finally {
      await this.#store.close();
    }
  }

  async #deleteNamed(keys: BenchKeys): Promise<void> {
    let batch: Buffer[] = [];
    for (const name of keys.names()) {
      batch.push(Buffer.from(name, "latin1"));
      if (batch.length < BATCH) continue;
      await this.#delete(this.#db, batch);
      batch = [];
    }
    await this.#delete(this.#db, batch);
  }

  async #delete(db: number, keys: readonly Buffer[]): Promise<void> {
    if (keys.length > 0)
      noErrors(
        await this.#store.run(
          db,
          keys.map((key) => ({ key, words: ["UNLINK", key] })),
        ),
      );
  }
}

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

function madeValue(bytes: number, chance: Chance): string {
  const some = Array.from({ length: Math.min(bytes, 1_024) }, () => LETTERS[chance.below(64)]).join("");
  return bytes <= 1_024 ? some : some.repeat(Math.ceil(bytes / 1_024)).slice(0, bytes);
}

export async function runBench(args: Arguments, streams: Streams): Promise<number> {
  const { placeWord, words } = placeIn(args);
  const second = args.text("compare");
  const first = onePlace(placeWord, streams.env);
  const places = second === undefined ? [first] : [first, placeOf(second, streams.env, "TO_")];
  const plan = planOf(args, words, places);
  const subjects: Subject[] = [];
  const failures: unknown[] = [];
  try {
    for (const place of places) {
      const subject = new Subject(plan, new WholeStore(await reach(place, { tls: plan.tls })));
      subjects.push(subject);
      await subject.open();
    }
    await measureAll(subjects, plan, streams);
  } catch (error) {
    failures.push(error);
  }
  for (const subject of subjects) await subject.close().catch((error: unknown) => failures.push(error));
  if (subjects.some(({ recorder }) => recorder.rounds.length > 0)) tell(subjects, plan, args, streams);
  if (failures.length > 0) throw failures[0];
  return subjects.some(({ recorder }) => recorder.errorCount + recorder.unanswered > 0) ? 1 : 0;
}

/** The words behind a place, or behind `--`, are a command. */
function placeIn(args: Arguments): { readonly placeWord: string | undefined; readonly words: readonly string[] } {
  const { positionals, behindDashes } = args;
  const before = positionals.slice(0, positionals.length - behindDashes.length);
  if (before.length > 1)
    throw new UsageError(`name one store; a command stands behind --: -- ${before.slice(1).join(" ")}`);
  const [placeWord] = before;
  // Somebody who types a workload or a command here does not mean a folder of that name.
  if (placeWord !== undefined && !isPlace(placeWord) && !placeWord.includes(":") && !existsSync(placeWord)) {
    const isWorkload = WORKLOADS.includes(placeWord.toLowerCase());
    const meant = isWorkload ? `--workload ${placeWord.toLowerCase()}` : `-- ${placeWord}`;
    throw new UsageError(
      `'${placeWord}' is no URL and no folder; did you mean '${meant}'? A new folder is ./${placeWord}`,
    );
  }
  return { placeWord, words: behindDashes };
}

/** The stores in turns; the one that goes first in a round goes second in the next. */
async function measureAll(subjects: readonly Subject[], plan: Plan, streams: Streams): Promise<void> {
  const { rounds, extent, warmUpMs } = plan;
  const { signal } = streams;
  const isStopped = (): boolean => signal?.aborted === true;
  for (const subject of subjects) {
    const warmUp = { ms: warmUpMs, count: Number.POSITIVE_INFINITY };
    if (warmUpMs > 0 && !isStopped()) await subject.measure(warmUp, new Recorder(), signal);
  }
  const { stdin, stdout, stderr, env } = streams;
  const progress = new Progress({ stdin, stdout, stderr, env });
  for (let round = 0; round < rounds && !isStopped(); round++) {
    const share = { ms: extent.ms / rounds, count: shareOf(extent.count, round, rounds) };
    for (const subject of round % 2 === 0 ? subjects : [...subjects].reverse()) {
      if (isStopped() || share.count === 0) break;
      const shown = setInterval(() => stderr.isTTY === true && show(progress, subject, extent), 200);
      await subject.measure(share, subject.recorder, signal).finally(() => clearInterval(shown));
      if (subject.recorder.unanswered > 0) return;
    }
  }
  progress.clear();
}

const shareOf = (count: number, round: number, rounds: number): number =>
  Number.isFinite(count) ? Math.floor(((round + 1) * count) / rounds) - Math.floor((round * count) / rounds) : count;

function show(progress: Progress, { label, recorder }: Subject, { ms, count }: Extent): void {
  const isCounted = Number.isFinite(count);
  const done = isCounted ? recorder.requests + recorder.errorCount : Math.round(recorder.elapsedMs / 1_000);
  const errors = recorder.errorCount === 0 ? "" : `, ${counted(recorder.errorCount, "error")}`;
  const rate = Math.round((recorder.requests / Math.max(1, recorder.elapsedMs)) * 1_000);
  progress.show(
    `${label}: ${rate} requests/s${errors}`,
    done,
    isCounted ? count : Math.round(ms / 1_000),
    isCounted ? "" : " s",
  );
}

function tell(subjects: readonly Subject[], plan: Plan, args: Arguments, { stdout, signal }: Streams): void {
  const { load, valueBytes, keys, seed, rounds } = plan;
  const { clients, pipeline, rate } = load;
  const loop =
    rate === undefined ? `closed loop, pipeline ${pipeline}` : `open loop, ${grouped(rate)} requests a second`;
  const report: Report = {
    title: subjects[0]!.title,
    load: `${loop}, ${counted(clients, "client")}, ${grouped(keys)} ${keys === 1 ? "key" : "keys"}, values of ${counted(valueBytes, "byte")}`,
    settings: { loop: rate === undefined ? "closed" : "open", clients, pipeline, rate, keys, valueBytes, seed, rounds },
    sides: subjects,
    isOpen: rate !== undefined,
    isInterrupted: signal?.aborted === true,
  };
  stdout.write(args.has("json") ? jsonOf(report) : textOf(report));
}
