/**
 * Rounds of kill -9 under load, on one folder: each round starts a victim on what the last one left, checks that everything
 * which was acknowledged is there, writes from several sides, and kills it at a random moment.
 *
 * What is promised: with appendfsync always, every acknowledged write is there; with everysec, every one that is older than
 * a second. A kill does not take the system's page cache with it, so losses here would be writes that had not even been
 * handed to the system when they were acknowledged.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeWords } from "../../../../scripts/program.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { EmbeddedEngine } from "../../../src/embed/embedded.ts";

export interface Figures {
  readonly rounds: number;
  acknowledged: number;
  /** Acknowledged and gone. */
  lost: number;
  /** Kills that found a snapshot, or a rewrite, half written. */
  duringSave: number;
  duringRewrite: number;
  /** The longest time between the acknowledgement of a write that was lost and the kill. */
  oldestLostMs: number;
}

export interface RoundOptions {
  readonly rounds: number;
  readonly appendfsync: "always" | "everysec";
  readonly mode: "server" | "inside";
  /** Told after every round. */
  readonly onRound?: (round: number, figures: Figures) => void;
  readonly random?: () => number;
}

const VICTIM = join(import.meta.dirname, "victim.ts");
const WRITERS = 4;

function start(mode: string, dir: string, appendfsync: string, from: number): ChildProcess {
  return spawn(process.execPath, [...nodeWords(VICTIM), mode, dir, appendfsync, String(from)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** Lines of a child's output, as they come. */
function listen(child: ChildProcess, take: (line: string) => void): void {
  let rest = "";
  child.stdout!.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    for (const line of lines) take(line);
  });
}

/** A client that sets one key after the other, a few at a time, and notes when each was acknowledged. */
class Writer {
  /** The next number to write, and the first that was not acknowledged. */
  next: number;
  acknowledged: number;
  readonly times: { upTo: number; at: number }[] = [];
  readonly #socket: Socket;

  constructor(port: number, name: string, from: number) {
    this.next = this.acknowledged = from;
    this.#socket = connect({ host: "127.0.0.1", port, noDelay: true });
    this.#socket.on("error", () => {});
    const send = () => {
      let text = "";
      for (let i = 0; i < 5; i++, this.next++) text += `SET ${name}:${this.next} ${this.next}\r\n`;
      this.#socket.write(text);
    };
    this.#socket.on("connect", send);
    let bytes = 0;
    this.#socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      const answers = Math.floor(bytes / 5);
      bytes -= answers * 5;
      this.acknowledged += answers;
      this.times.push({ upTo: this.acknowledged, at: systemClock.monotonic() });
      if (this.acknowledged === this.next) send();
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}

interface Load {
  readonly prefix: string;
  /** Everything below is acknowledged, counted from where the round began. */
  readonly from: number;
  readonly upTo: number;
  readonly times: readonly { upTo: number; at: number }[];
}

async function overTcp(dir: string, options: RoundOptions, from: number, lifeMs: number): Promise<[Load[], number]> {
  const child = start("server", dir, options.appendfsync, 0);
  const port = await new Promise<number>((resolve, reject) => {
    listen(child, (line) => line.startsWith("port ") && resolve(Number(line.slice(5))));
    child.once("exit", () => reject(new Error("the store did not start again")));
  });
  const writers = Array.from({ length: WRITERS }, (_, i) => new Writer(port, `tcp${i}`, from));
  const killedAt = await killAfter(child, lifeMs);
  // What was on its way when it was killed has still been acknowledged.
  await new Promise((resolve) => setTimeout(resolve, 20));
  for (const writer of writers) writer.close();
  const loads = writers.map(({ acknowledged, times }, i) => ({ prefix: `tcp${i}`, from, upTo: acknowledged, times }));
  return [loads, killedAt];
}

async function inProcess(dir: string, options: RoundOptions, from: number, lifeMs: number): Promise<[Load[], number]> {
  const child = start("inside", dir, options.appendfsync, from);
  let upTo = from;
  const times: { upTo: number; at: number }[] = [];
  await new Promise<void>((resolve, reject) => {
    listen(child, (line) => {
      if (line === "ready") resolve();
      else if (line.startsWith("kept ")) {
        upTo = Number(line.slice(5)) + 1;
        times.push({ upTo, at: systemClock.monotonic() });
      }
    });
    child.once("exit", () => reject(new Error("the store did not start again")));
  });
  const killedAt = await killAfter(child, lifeMs);
  return [[{ prefix: "inside", from, upTo, times }], killedAt];
}

async function killAfter(child: ChildProcess, lifeMs: number): Promise<number> {
  const closed = new Promise((resolve) => child.once("close", resolve));
  await new Promise((resolve) => setTimeout(resolve, lifeMs));
  const at = systemClock.monotonic();
  child.kill("SIGKILL");
  await closed;
  return at;
}

/** Opens what a victim left and counts what is missing. */
async function inspect(dir: string, loads: readonly Load[], killedAt: number, figures: Figures): Promise<void> {
  const names = readdirSync(dir);
  if (names.some((name) => /^temp-\d+-bg\.rdb$/.test(name))) figures.duringSave++;
  if (names.some((name) => name.startsWith("temp-rewriteaof"))) figures.duringRewrite++;
  const engine = await EmbeddedEngine.open({ dir });
  if (readdirSync(dir).some((name) => name.startsWith("temp-"))) throw new Error("half-written files are left behind");
  try {
    const db = engine.core.databases[0]!;
    for (const { prefix, from, upTo, times } of loads) {
      figures.acknowledged += upTo - from;
      for (let i = from; i < upTo; i++) {
        if (String(db.peek(`${prefix}:${i}`)) === String(i)) continue;
        figures.lost++;
        const { at } = times.find((time) => time.upTo > i)!;
        figures.oldestLostMs = Math.max(figures.oldestLostMs, killedAt - at);
      }
    }
  } finally {
    await engine.close();
  }
}

export async function crashRounds(options: RoundOptions): Promise<Figures> {
  const dir = mkdtempSync(join(tmpdir(), "cinnabar-crash-"));
  const random = options.random ?? (() => systemClock.random());
  const figures: Figures = {
    rounds: options.rounds,
    acknowledged: 0,
    lost: 0,
    duringSave: 0,
    duringRewrite: 0,
    oldestLostMs: 0,
  };
  try {
    let from = 0;
    for (let round = 1; round <= options.rounds; round++) {
      const lifeMs = 30 + random() * 400;
      const life = options.mode === "server" ? overTcp : inProcess;
      const [loads, killedAt] = await life(dir, options, from, lifeMs);
      await inspect(dir, loads, killedAt, figures);
      from = Math.max(...loads.map((load) => load.upTo)) + 1000;
      options.onRound?.(round, figures);
    }
    return figures;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
