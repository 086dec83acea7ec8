/**
 * Servers for the replication suites: ours and real ones behind one face, each a process of its own on a free port in a
 * folder of its own, with a configuration file that CONFIG REWRITE may write to. They can be killed with -9 and started
 * again where they were. Whatever a test leaves behind, `stopAll` ends; if this process is killed, the shell that keeps each
 * server sees its pipe close and kills it.
 *
 * With REPLICATION_YARDSTICK=redis "ours" is a real redis-server too: every test here passes that way, so what a test
 * asks for is what Redis does. With SERVER_BIN=folder the real servers are Valkey's, or another Redis's, from there.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeWords } from "../../../scripts/program.ts";
import { systemClock } from "../../src/core/clock.ts";
import type { Answer } from "../conformance/answer.ts";
import { freePort, realProgram } from "../conformance/redis-server.ts";
import { openWire } from "../conformance/target.ts";
import type { Wire } from "../conformance/wire.ts";

export type Kind = "ours" | "redis";
export type Directives = Readonly<Record<string, string>>;

/** How much longer than in the test run the long suites go on. */
export const ROUNDS = Math.max(1, Number(process.env.REPLICATION_ROUNDS ?? 1));
/** For a whole test: most take a second or two, on a machine that has time. */
export const PATIENCE_MS = 150_000;
export const YARDSTICK_ONLY = process.env.REPLICATION_YARDSTICK === "redis";

const PROGRAM = fileURLToPath(new URL("../../src/bin/cinnabar-server.ts", import.meta.url));

const COMMANDS = {
  ours: (): string[] => (YARDSTICK_ONLY ? [realProgram()] : [process.execPath, ...nodeWords(PROGRAM)]),
  redis: (): string[] => [realProgram()],
  sentinel: (): string[] => [realProgram("sentinel")],
};

const DEFAULTS: Directives = {
  bind: "127.0.0.1",
  save: "",
  "enable-debug-command": "yes",
  // The real default waits five seconds for a second replica to come.
  "repl-diskless-sync-delay": "0",
  "repl-ping-replica-period": "1",
  "repl-backlog-size": "64mb",
};

/** Prints the pid, and kills the server when the pipe to it closes. */
const KEEPER = `
"$@" & pid=$!
echo "keeper of $pid"
exec 3<&0
( cat <&3 >/dev/null 2>&1; kill -KILL $pid 2>/dev/null ) >/dev/null 2>&1 &
wait $pid
`;

/** Polls until something is so; what it is goes into the error when it does not come about. */
export async function until(
  what: string,
  so: () => boolean | Promise<boolean>,
  { ms = 60_000, state = async () => "" }: { ms?: number; state?: () => Promise<string> } = {},
): Promise<void> {
  const end = systemClock.monotonic() + ms;
  while (!(await so())) {
    if (systemClock.monotonic() > end) throw new Error(`not after ${ms} ms: ${what} ${await state()}`);
    await pause(15);
  }
}

/** Lets time pass between two looks. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const running = new Set<{ stop(): Promise<void> }>();

/** Has `stopAll` end this too. */
export function stopLater<T extends { stop(): Promise<void> }>(what: T): T {
  running.add(what);
  return what;
}

export async function stopAll(): Promise<void> {
  const all = [...running];
  running.clear();
  await Promise.all(all.map((one) => one.stop()));
}

const quoted = (value: string): string => (value === "" ? '""' : value);

export const fileOf = (directives: Directives): string =>
  Object.entries(directives)
    .map(([name, value]) => `${name} ${quoted(value)}\n`)
    .join("");

export const newFolder = (): string => mkdtempSync(join(tmpdir(), "cinnabar-replication-"));

/** A process that a keeper keeps. */
export class Process {
  log = "";
  pid = 0;
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  #gone = false;

  constructor(kind: keyof typeof COMMANDS, folder: string, file: string) {
    const command = [...COMMANDS[kind](), file];
    const child = spawn("sh", ["-c", KEEPER, "keeper", ...command], {
      stdio: ["pipe", "pipe", "pipe"],
      cwd: folder,
      env: { ...process.env, LC_ALL: "C" },
    });
    this.#child = child;
    const hear = (chunk: Buffer) => {
      this.log = (this.log + chunk.toString("latin1")).slice(-200_000);
      if (this.pid === 0) this.pid = Number(/keeper of (\d+)\n/.exec(this.log)?.[1] ?? 0);
    };
    child.stdout!.on("data", hear);
    child.stderr!.on("data", hear);
    child.stdin!.on("error", () => {});
    this.exited = new Promise((resolve) => {
      child.once("exit", () => {
        this.#gone = true;
        child.stdin!.end();
        resolve();
      });
    });
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** kill -9; returns when it is gone. */
  kill(): Promise<void> {
    this.#child.stdin!.end();
    return this.exited;
  }

  signal(name: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
    if (!this.#gone && this.pid !== 0) process.kill(this.pid, name);
  }
}

export interface Info {
  readonly [field: string]: string;
}

export class Server {
  readonly kind: Kind;
  readonly port: number;
  readonly folder: string;
  #process: Process;
  #ownsFolder = true;
  #control: Wire | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(kind: Kind, port: number, folder: string, started: Process) {
    this.kind = kind;
    this.port = port;
    this.folder = folder;
    this.#process = started;
  }

  /** In a folder of its own, or in one that the caller has and removes. */
  static async start(kind: Kind, directives: Directives = {}, given?: string): Promise<Server> {
    const folder = given ?? newFolder();
    for (let attempt = 0; ; attempt++) {
      const port = await freePort();
      writeFileSync(
        join(folder, "server.conf"),
        fileOf({ port: String(port), dir: folder, ...DEFAULTS, ...directives }),
      );
      const server = new Server(kind, port, folder, new Process(kind, folder, join(folder, "server.conf")));
      server.#ownsFolder = given === undefined;
      stopLater(server);
      if (await server.#ready()) return server;
      // Somebody else may have taken the port in between.
      if (attempt === 3) throw new Error(`${kind} did not start:\n${server.log}`);
    }
  }

  async #ready(): Promise<boolean> {
    const process = this.#process;
    await until(`${this.kind} is ready`, () => process.gone || process.log.includes("Ready to accept connections"));
    return !process.gone;
  }

  get log(): string {
    return this.#process.log;
  }

  get pid(): number {
    return this.#process.pid;
  }

  get running(): boolean {
    return !this.#process.gone;
  }

  /** A connection of one's own. */
  wire(): Promise<Wire> {
    return openWire(this.port);
  }

  /** Over a connection that is kept for this, one at a time. */
  call(...words: string[]): Promise<Answer> {
    const answer = this.#turn.then(async () => {
      if (this.#control === null || this.#control.closed) this.#control = await this.wire();
      return this.#control.call(...words);
    });
    this.#turn = answer.catch(() => {});
    return answer;
  }

  /** The answer's text; an error is thrown. */
  async ask(...words: string[]): Promise<string> {
    const answer = await this.call(...words);
    if (["-", "closed", "timeout", "broken"].includes(answer.tag)) {
      throw new Error(`${this.kind} answered ${words.join(" ").slice(0, 100)}: ${answer.tag}${answer.text}`);
    }
    return answer.text;
  }

  async info(section = "everything"): Promise<Info> {
    const fields: Record<string, string> = {};
    let answer = await this.call("INFO", section);
    // Sentinel ends the connections of those whose roles it changes.
    if (answer.tag === "closed" && this.running) answer = await this.call("INFO", section);
    if (answer.tag !== "$") throw new Error(`${this.kind} answered INFO: ${answer.tag}${answer.text}`);
    for (const line of answer.text.split("\r\n")) {
      const colon = line.indexOf(":");
      if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1);
    }
    return fields;
  }

  async number(field: string): Promise<number> {
    return Number((await this.info())[field] ?? Number.NaN);
  }

  /** kill -9; returns when it is gone. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.#process.signal(name);
  }

  /** After `kill`: the same folder, the same port, the configuration file as it is now. */
  async restart(): Promise<void> {
    await this.#process.kill();
    this.#process = new Process(this.kind, this.folder, join(this.folder, "server.conf"));
    if (!(await this.#ready())) throw new Error(`${this.kind} did not start again:\n${this.log}`);
  }

  async stop(): Promise<void> {
    running.delete(this);
    await this.#process.kill();
    if (this.#ownsFolder) rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Starts several at once. */
export const startAll = (kinds: readonly Kind[], directives: Directives = {}): Promise<Server[]> =>
  Promise.all(kinds.map((kind) => Server.start(kind, directives)));

export const linkUp = (replica: Server): Promise<void> =>
  until("the link to the primary is up", async () => (await replica.info()).master_link_status === "up", {
    state: async () => `${(await replica.ask("INFO", "replication")).slice(0, 600)}\n${replica.log.slice(-1500)}`,
  });

/** Makes it follow the server on the port, and returns once it does. */
export async function follow(replica: Server, port: number): Promise<void> {
  await replica.ask("REPLICAOF", "127.0.0.1", String(port));
  await linkUp(replica);
}

/** Returns when the replica has everything that the primary has written. */
export async function caughtUp(primary: Server, replica: Server): Promise<void> {
  let seen = "";
  await until(
    "the replica has caught up",
    async () => {
      const [theirs, own] = await Promise.all([primary.info("replication"), replica.info("replication")]);
      seen = `${theirs.master_repl_offset} and ${own.slave_repl_offset}, link ${own.master_link_status}`;
      return own.master_link_status === "up" && theirs.master_repl_offset === own.slave_repl_offset;
    },
    { state: async () => `${seen}\n${replica.log.slice(-1500)}` },
  );
}

/** A line of figures in the output of a test. */
export function figures(what: string, values: Record<string, number | string>): void {
  const shown = Object.entries(values).map(([name, value]) => {
    return `${name} ${typeof value === "number" ? Number(value.toFixed(1)).toLocaleString("en") : value}`;
  });
  console.info(`[replication] ${what}: ${shown.join(", ")}`);
}
