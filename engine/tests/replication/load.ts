/**
 * Load on a server: several connections that send batches of seeded commands without pause, one that waits on keys, and in
 * each connection a ledger, numbers appended one by one whose acknowledgements are recorded. So a test knows what must be
 * there whatever else happened: `1, 2, 3 …` up to what was acknowledged, no gap and nothing twice.
 */
import type { Answer } from "../conformance/answer.ts";
import { Prng } from "../conformance/prng.ts";
import type { Wire } from "../conformance/wire.ts";
import { pause, type Server } from "./servers.ts";
import { LIBRARY, Vocabulary } from "./vocabulary.ts";

export interface LoadOptions {
  readonly seed: number;
  readonly connections?: number;
  readonly batch?: number;
  /** Between batches, so that a small machine is not all load. */
  readonly pauseMs?: number;
}

/** What a load is never answered by a primary in order. That a key is missing or of another type is part of the game. */
const FAULT =
  /^(READONLY|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|OOM|EXECABORT|ERR (unknown|wrong number|syntax error|internal|MULTI|EXEC|DISCARD))/i;

/** A connection of the load, with its own seed and its own ledger. */
class Writer {
  readonly ledger: string;
  /** The last number whose append was acknowledged. */
  acknowledged = 0;
  commands = 0;
  readonly unexpected = new Map<string, string>();
  readonly #rng: Prng;
  readonly #words: Vocabulary;

  constructor(seed: number, index: number) {
    this.#rng = new Prng(seed, index);
    this.#words = new Vocabulary(this.#rng);
    this.ledger = `ledger:${seed}:${index}`;
  }

  /** One batch: seeded commands in a random database, then an entry in the ledger (in database 5, which nobody flushes). */
  batch(size: number): string[][] {
    const commands: string[][] = [["SELECT", this.#rng.pick(["0", "0", "1", "2", "9"])]];
    for (let i = 0; i < size; i++) commands.push(...this.#words.step());
    const entry = String(this.acknowledged + 1);
    commands.push(["SELECT", "5"], ["RPUSH", this.ledger, entry]);
    return commands;
  }

  take(commands: readonly string[][], answers: readonly Answer[]): void {
    this.commands += commands.length;
    for (const [i, answer] of answers.entries()) {
      if (answer.tag === "-" && FAULT.test(answer.text)) this.unexpected.set(answer.text, commands[i]!.join(" "));
    }
    const last = answers.at(-1)!;
    if (last.tag !== ":") throw new Error(`the ledger was answered ${last.tag}${last.text}`);
    this.acknowledged++;
    if (Number(last.text) !== this.acknowledged) throw new Error(`${this.ledger} has ${last.text} entries`);
  }
}

const WAITS: readonly (readonly string[])[] = [
  ["BLPOP", "list:1", "list:2", "0.05"],
  ["BLMOVE", "list:3", "list:4", "LEFT", "RIGHT", "0.05"],
  ["BZPOPMIN", "zset:1", "zset:2", "0.05"],
  ["BLMPOP", "0.05", "1", "list:5", "LEFT", "COUNT", "3"],
  ["XREADGROUP", "GROUP", "g1", "waiter", "BLOCK", "50", "STREAMS", "stream:1", "stream:2", ">", ">"],
  ["BRPOPLPUSH", "list:6", "list:6", "0.05"],
  ["BZMPOP", "0.05", "1", "zset:3", "MAX"],
];

export class Load {
  readonly #writers: Writer[];
  readonly #options: Required<LoadOptions>;
  #stopping = false;
  #running: Promise<void>[] = [];

  private constructor(options: LoadOptions) {
    this.#options = { connections: 3, batch: 25, pauseMs: 4, ...options };
    const { seed, connections } = this.#options;
    this.#writers = Array.from({ length: connections }, (_, i) => new Writer(seed, i));
  }

  static async start(server: Server, options: LoadOptions): Promise<Load> {
    const load = new Load(options);
    await server.ask("FUNCTION", "LOAD", "REPLACE", LIBRARY);
    const wires = await Promise.all([server.wire(), ...load.#writers.map(() => server.wire())]);
    load.#running = load.#writers.map((writer, i) => load.#write(wires[i + 1]!, writer));
    load.#running.push(load.#wait(wires[0]!));
    // The caller that stops the load hears of it.
    for (const running of load.#running) running.catch(() => {});
    return load;
  }

  async #write(wire: Wire, writer: Writer): Promise<void> {
    while (!this.#stopping) {
      const commands = writer.batch(this.#options.batch);
      writer.take(commands, await wire.pipeline(commands, 60_000));
      await pause(this.#options.pauseMs);
    }
    await wire.close();
  }

  async #wait(wire: Wire): Promise<void> {
    for (let i = 0; !this.#stopping; i++) {
      const [answer] = await wire.pipeline([WAITS[i % WAITS.length]!], 60_000);
      if (answer!.tag === "closed" || answer!.tag === "timeout") throw new Error(`waiting ended with ${answer!.tag}`);
      // Nothing to wait on yet.
      if (answer!.tag === "-") await pause(5);
    }
    await wire.close();
  }

  get commands(): number {
    return this.#writers.reduce((sum, writer) => sum + writer.commands, 0);
  }

  get entries(): number {
    return this.#writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
  }

  /** Returns when this many more batches have been acknowledged. */
  async goesOn(batches: number): Promise<void> {
    const goal = this.entries + batches;
    while (this.entries < goal) await Promise.race([pause(5), ...this.#running]);
  }

  /** Ends it; throws if a command was answered what no correct server answers. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#running);
    for (const { unexpected } of this.#writers) {
      for (const [text, words] of unexpected) throw new Error(`${words.slice(0, 200)} was answered ${text}`);
    }
  }

  /** What is wrong with the ledgers on this server: entries lost, twice, out of order. */
  async ledgerFaults(server: Server): Promise<string[]> {
    const wire = await server.wire();
    const faults: string[] = [];
    await wire.call("SELECT", "5");
    for (const { ledger, acknowledged } of this.#writers) {
      const entries = (await wire.call("LRANGE", ledger, "0", "-1")).items.map((item) => Number(item.text));
      const wrong = entries.findIndex((entry, i) => entry !== i + 1);
      if (entries.length !== acknowledged) faults.push(`${ledger}: ${entries.length} of ${acknowledged} entries`);
      if (wrong >= 0) faults.push(`${ledger}: ${entries[wrong]} stands in place of ${wrong + 1}`);
    }
    await wire.close();
    return faults;
  }
}
