/** What the fault suites share: an engine to be ill-treated, somebody who goes on meanwhile, and figures to print. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "../../src/core/clock.ts";
import { Engine, type OpenOptions } from "../../src/index.ts";
import { Peer } from "../kit/test-peer.ts";

const MB = 1024 * 1024;

export interface Bench {
  readonly engine: Engine;
  readonly port: number;
  /** A raw connection; closed with the bench. */
  peer(keep?: boolean): Peer;
  close(): Promise<void>;
}

export async function openBench(config: NonNullable<OpenOptions["config"]> = {}, clock?: Clock): Promise<Bench> {
  const engine = await Engine.open({ config, ...(clock && { clock }) });
  const { port } = await engine.listen({ port: 0 });
  const peers: Peer[] = [];
  return {
    engine,
    port,
    peer(keep = true) {
      const peer = new Peer(port, keep);
      peers.push(peer);
      return peer;
    },
    async close() {
      for (const { socket } of peers) socket.destroy();
      await engine.close();
    },
  };
}

/** Another client that goes on while something happens: it asks again and again, over TCP, and measures the longest wait. */
export class Bystander {
  readonly #peer: Peer;
  #stopped = false;
  #worstMs = 0;
  #asked = 0;
  readonly #loop: Promise<void>;

  constructor(bench: Bench) {
    this.#peer = bench.peer();
    this.#loop = this.#run();
    // A test that fails otherwise does not ask how it went.
    this.#loop.catch(() => {});
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const started = performance.now();
      const value = `value ${this.#asked++}`;
      this.#peer.write(`SET bystander "${value}"\r\nGET bystander\r\n`);
      const expected = `+OK\r\n$${value.length}\r\n${value}\r\n`;
      const answer = await this.#peer.take(expected.length);
      if (answer !== expected) throw new Error(`the bystander was answered ${JSON.stringify(answer)}`);
      this.#worstMs = Math.max(this.#worstMs, performance.now() - started);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  /** Until it has been answered so many more times: the engine has been through everything that it had to read. */
  async isAnswered(times: number): Promise<void> {
    const enough = this.#asked + times;
    while (this.#asked < enough) await Promise.race([this.#loop, new Promise(setImmediate)]);
  }

  /** How it went; throws if it was ever answered wrongly. */
  async stop(): Promise<{ asked: number; worstMs: number }> {
    this.#stopped = true;
    await this.#loop;
    return { asked: this.#asked, worstMs: this.#worstMs };
  }
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** What this process keeps in memory, in MB, garbage not counted. */
export function memoryMb(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MB;
}

/** A line of figures, with the test's name before it. */
export function figures(what: string, values: Record<string, number | string>): void {
  const shown = Object.entries(values).map(([name, value]) => {
    return `${name} ${typeof value === "number" ? Number(value.toFixed(1)).toLocaleString("en") : value}`;
  });
  console.info(`[fault] ${what}: ${shown.join(", ")}`);
}

/** A command as clients send it. */
export function command(...words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;
}
