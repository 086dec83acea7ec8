/**
 * Fills a server of a given heap until it refuses more, and checks what is promised: the process does not abort; everything
 * that was acknowledged is there; reading works while it is full; deleting makes room; and after kill -9 the same heap is
 * enough to load it all again.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeWords } from "../../../../scripts/program.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { freePort } from "../../conformance/redis-server.ts";
import type { Container } from "./container.ts";
import type { Kind } from "./kinds.ts";

const BIN = join(import.meta.dirname, "../../../src/bin/cinnabar-server.ts");

export const command = (words: readonly string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;

/** A client whose replies are all one line, or one word without line breaks, in the order of what was asked. */
export class LineClient {
  readonly socket: Socket;
  #rest = "";
  #lines: string[] = [];
  #wanted = 0;
  #wake: (() => void) | null = null;
  #over = false;

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.socket.on("data", (chunk: Buffer) => {
      const lines = (this.#rest + chunk.latin1Slice()).split("\r\n");
      this.#rest = lines.pop()!;
      // The length of a word is not the word.
      for (const line of lines) if (!/^\$\d/.test(line)) this.#lines.push(line);
      if (this.#lines.length >= this.#wanted) this.#wake?.();
    });
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.#over = true;
      this.#wake?.();
    });
  }

  /** Sends commands and settles with one line for each; with fewer if the connection is cut. */
  async ask(commands: readonly string[]): Promise<string[]> {
    this.#lines = [];
    this.#wanted = commands.length;
    let text = "";
    for (const each of commands) {
      text += each;
      if (text.length < 1 << 20) continue;
      this.socket.write(text, "latin1");
      text = "";
    }
    this.socket.write(text, "latin1");
    while (this.#lines.length < this.#wanted && !this.#over) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#lines;
  }

  close(): void {
    this.socket.destroy();
  }
}

export class HeapServer {
  readonly port: number;
  readonly heapMb: number;
  readonly dir: string;
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  output = "";
  #exit: string | null = null;

  constructor(port: number, heapMb: number, dir: string, flags: readonly string[] = [], container?: Container) {
    this.port = port;
    this.heapMb = heapMb;
    this.dir = dir;
    // As the launcher starts it, with a heap of this size.
    const program = ["--max-semi-space-size=4", `--max-old-space-size=${heapMb}`, ...nodeWords(BIN)];
    const words = [...program, "--port", String(port), "--dir", dir, "--save", "", ...flags];
    const [start, startWords] = container?.words(process.execPath, words) ?? [process.execPath, words];
    this.child = spawn(start, startWords, { stdio: ["ignore", "pipe", "pipe"] });
    const take = (chunk: Buffer) => {
      this.output += chunk;
    };
    this.child.stdout!.on("data", take);
    this.child.stderr!.on("data", take);
    this.ready = new Promise((resolve, reject) => {
      this.child.stdout!.on("data", () => this.output.includes("Ready to accept") && resolve());
      this.child.once("exit", (code, signal) => {
        this.#exit = signal ?? `code ${code}`;
        reject(new Error(`the server ended (${this.#exit}) before it was ready:\n${this.output.slice(-3000)}`));
      });
    });
    this.ready.catch(() => {});
  }

  /** Waits until the server has written something like this. */
  async said(what: RegExp): Promise<void> {
    while (!what.test(this.output)) {
      this.expectAlive();
      await Promise.race([once(this.child.stdout!, "data"), once(this.child, "exit")]);
    }
  }

  /** Throws if the process has ended by itself. */
  expectAlive(): void {
    if (this.#exit !== null) throw new Error(`the server ended by ${this.#exit}:\n${this.output.slice(-3000)}`);
  }

  async stop(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    if (this.#exit !== null) return;
    const closed = new Promise((resolve) => this.child.once("close", resolve));
    this.child.kill(signal);
    await closed;
  }
}

export interface FillOptions {
  readonly kind: Kind;
  readonly heapMb: number;
  readonly connections?: number;
  readonly pipeline?: number;
  readonly flags?: readonly string[];
  /** A replica with the same heap follows meanwhile. */
  readonly replica?: boolean;
  /** The process may take no more memory than this. */
  readonly container?: Container;
  /** Ask for a rewrite of the append-only file, or a snapshot, again and again. */
  readonly meanwhile?: "BGREWRITEAOF" | "BGSAVE";
}

export interface FillFigures {
  readonly acknowledged: number;
  readonly refused: number;
  readonly missing: number;
  readonly usedHeapMb: number;
  readonly seconds: number;
  readonly restartSeconds: number;
  readonly replicaKept: boolean | undefined;
}

/** Runs writers until every one of them is refused several times in a row; what was acknowledged, by number. */
async function fill(
  server: HeapServer,
  { kind, ...options }: FillOptions,
): Promise<{ acked: number[]; refused: number }> {
  const acked: number[] = [];
  let refused = 0;
  let next = 0;
  const pipeline = Math.max(1, Math.min(options.pipeline ?? 1000, Math.floor(1_000_000 / kind.bytes)));
  const writer = async () => {
    const client = new LineClient(server.port);
    for (let full = 0; full < 3; ) {
      const from = next;
      next += pipeline;
      const replies = await client.ask(Array.from({ length: pipeline }, (_, i) => command(kind.write(from + i))));
      server.expectAlive();
      if (replies.length < pipeline) throw new Error(`a writer was cut off:\n${server.output.slice(-2000)}`);
      let ok = 0;
      for (const [i, reply] of replies.entries()) {
        if (!reply.startsWith("-")) ok = acked.push(from + i);
        else if (/^-(OOM|.*-OOM|ERR.*OOM)/.test(reply)) refused++;
        else throw new Error(`unexpected: ${reply}`);
      }
      full = ok === 0 ? full + 1 : 0;
    }
    client.close();
  };
  await Promise.all(Array.from({ length: options.connections ?? 4 }, writer));
  return { acked, refused };
}

/** How many of these are not there. */
async function countMissing(port: number, kind: Kind, numbers: readonly number[]): Promise<number> {
  const client = new LineClient(port);
  let missing = 0;
  for (let at = 0; at < numbers.length; at += 1000) {
    const some = numbers.slice(at, at + 1000);
    const replies = await client.ask(some.map((number) => command(kind.check(number))));
    missing += some.length - replies.filter((reply, i) => kind.found(reply, some[i]!)).length;
  }
  client.close();
  return missing;
}

async function heapMbOf(port: number): Promise<number> {
  const client = new LineClient(port);
  const [reply] = await client.ask([
    command(["EVAL", "return tonumber(string.match(redis.call('INFO','memory'),'heap_live:(%d+)'))", "0"]),
  ]);
  client.close();
  return Math.round(Number(reply!.slice(1)) / 1024 / 1024);
}

/** A full store must answer, and take writes again once something was deleted. */
async function checkRelief(server: HeapServer, kind: Kind, acked: readonly number[]): Promise<Set<number>> {
  const client = new LineClient(server.port);
  const [pong] = await client.ask([command(["PING"])]);
  if (pong !== "+PONG") throw new Error(`PING got ${pong}`);
  const removed = acked.filter((number) => Math.floor(number / (kind.together ?? 1)) % 5 === 0);
  for (let at = 0; at < removed.length; at += 1000) {
    await client.ask(removed.slice(at, at + 1000).map((number) => command(kind.remove(number))));
  }
  const [reply] = await client.ask([command(["SET", "after:relief", "1"])]);
  if (reply !== "+OK") throw new Error(`no write after deleting a fifth: ${reply}`);
  client.close();
  server.expectAlive();
  return new Set(removed);
}

export async function fillToTheLimit(options: FillOptions): Promise<FillFigures> {
  const { kind, heapMb } = options;
  const dir = mkdtempSync(join(tmpdir(), "cinnabar-heap-"));
  const replicaDir = mkdtempSync(join(tmpdir(), "cinnabar-heap-replica-"));
  const flags = ["--appendonly", "yes", "--busy-reply-threshold", "600000", ...(options.flags ?? [])];
  const servers: HeapServer[] = [];
  const start = async (folder: string, extra: readonly string[] = []) => {
    const server = new HeapServer(await freePort(), heapMb, folder, [...flags, ...extra], options.container);
    servers.push(server);
    await server.ready;
    return server;
  };
  let timer: NodeJS.Timeout | undefined;
  try {
    const server = await start(dir);
    const replica = options.replica ? await start(replicaDir, ["--replicaof", `127.0.0.1 ${server.port}`]) : undefined;
    if (options.meanwhile !== undefined) {
      const client = new LineClient(server.port);
      timer = setInterval(() => client.socket.write(`${options.meanwhile}\r\n`), 500);
    }
    const started = systemClock.monotonic();
    const { acked, refused } = await fill(server, options);
    const seconds = (systemClock.monotonic() - started) / 1000;
    if (refused === 0) throw new Error("nothing was refused");
    const usedHeapMb = await heapMbOf(server.port);
    let missing = await countMissing(server.port, kind, acked);
    const removed = await checkRelief(server, kind, acked);
    replica?.expectAlive();
    const replicaKept = replica === undefined ? undefined : !/does not fit/.test(replica.output);
    clearInterval(timer);
    await replica?.stop();
    await server.stop();
    const restarted = systemClock.monotonic();
    const again = await start(dir);
    const restartSeconds = (systemClock.monotonic() - restarted) / 1000;
    const left = acked.filter((number) => !removed.has(number));
    missing += await countMissing(again.port, kind, left);
    again.expectAlive();
    return { acknowledged: acked.length, refused, missing, usedHeapMb, seconds, restartSeconds, replicaKept };
  } finally {
    clearInterval(timer);
    for (const server of servers) await server.stop();
    rmSync(dir, { recursive: true, force: true });
    rmSync(replicaDir, { recursive: true, force: true });
  }
}
