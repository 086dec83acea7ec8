/**
 * Files, both servers in turn and in the same folder: how long the longest stall is while a snapshot is taken under load, how
 * long saving and loading take, and what an append-only file costs.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BenchServer, median, run, startServer } from "./servers.ts";

export interface FileRow {
  readonly what: string;
  readonly unit: "ms" | "requests/s";
  readonly ours: number;
  /** Missing where it can be measured from inside only. */
  readonly redis?: number;
}

type Name = BenchServer["name"];
const NAMES = ["cinnabar", "redis"] as const;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const cli = (server: BenchServer, ...words: string[]) => run("redis-cli", ["-p", String(server.port), ...words]).trim();

/** Measures both, in turn and in changing order; the medians. */
async function inTurn(rounds: number, measure: (name: Name) => Promise<number[]>): Promise<Record<Name, number[]>> {
  const figures: Record<Name, number[][]> = { cinnabar: [], redis: [] };
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? NAMES : [...NAMES].reverse()) {
      const measured = await measure(name);
      for (const [i, figure] of measured.entries()) figures[name][i] = [...(figures[name][i] ?? []), figure];
      process.stderr.write(".");
    }
  }
  return { cinnabar: figures.cinnabar.map(median), redis: figures.redis.map(median) };
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "cinnabar-bench-files-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// ---------------------------------------------------------------------------------------------- stalls

/** Asks PING again and again on a connection of its own, and knows the longest wait. */
class Prober {
  longestMs = 0;
  readonly #socket;
  #sentAt = 0;

  constructor(port: number) {
    this.#socket = connect(port, "127.0.0.1").setNoDelay();
    this.#socket.on("error", () => {});
    this.#socket.on("data", () => {
      this.longestMs = Math.max(this.longestMs, performance.now() - this.#sentAt);
      setTimeout(() => this.#ask(), 1);
    });
    this.#ask();
  }

  #ask(): void {
    this.#sentAt = performance.now();
    this.#socket.write("PING\r\n");
  }

  stop(): void {
    this.#socket.destroy();
  }
}

/** Fifty clients that set and get random keys until they are told to stop. */
function load(server: BenchServer, keys: number): () => Promise<void> {
  const flags = ["-t", "set,get", "-r", String(keys), "-c", "50", "-d", "32", "-n", "100000", "-l", "-q"];
  const child = spawn("redis-benchmark", ["-p", String(server.port), ...flags], { stdio: "ignore" });
  return () =>
    new Promise((resolve) => {
      child.once("exit", () => resolve());
      child.kill("SIGKILL");
    });
}

/** Lets the prober ask while `work` goes on; the longest wait for an answer. */
async function longestWait(server: BenchServer, work: () => Promise<void>): Promise<number> {
  const prober = new Prober(server.port);
  await work();
  prober.stop();
  return prober.longestMs;
}

/** The longest turn of our event loop since the last call. */
async function longestTurn(server: BenchServer, file: string): Promise<number> {
  rmSync(file, { force: true });
  process.kill(server.pid, "SIGUSR2");
  while (!existsSync(file) || readFileSync(file, "utf8") === "") await pause(5);
  return Number(readFileSync(file, "utf8"));
}

/** Longest waits without and with BGSAVE, how long it took, and the longest turn of the event loop during it. */
async function measureStalls(name: Name, keys: number, aloneMs: number): Promise<number[]> {
  return inFolder(async (folder) => {
    const file = join(folder, "delay");
    const inside = name === "cinnabar";
    const environment = {
      NODE_OPTIONS: `--import=${join(import.meta.dirname, "event-loop-delay.js")}`,
      CINNABAR_DELAY_FILE: file,
    };
    const flags = ["--dir", folder, "--enable-debug-command", "yes"];
    const server = await startServer(name, flags, inside ? environment : {});
    cli(server, "DEBUG", "POPULATE", String(keys), "key", "32");
    const stop = load(server, keys);
    await pause(2000);
    if (inside) await longestTurn(server, file);
    const alone = await longestWait(server, () => pause(aloneMs));
    const turnAlone = inside ? await longestTurn(server, file) : 0;
    let seconds = 0;
    const saving = await longestWait(server, async () => {
      const started = performance.now();
      cli(server, "BGSAVE");
      while (cli(server, "INFO", "persistence").includes("rdb_bgsave_in_progress:1")) await pause(50);
      seconds = performance.now() - started;
    });
    const turn = inside ? await longestTurn(server, file) : 0;
    await stop();
    await server.stop();
    return [alone, saving, seconds, turnAlone, turn];
  });
}

async function compareStalls(quick: boolean): Promise<FileRow[]> {
  const keys = quick ? 100_000 : 1_000_000;
  const { cinnabar, redis } = await inTurn(quick ? 1 : 3, (name) => measureStalls(name, keys, quick ? 1000 : 4000));
  const label = `${keys.toLocaleString("en-US").replaceAll(",", " ")} keys, 50 clients`;
  const row = (what: string, i: number, both = true): FileRow => {
    const ours = { what: `${what}: ${label}`, unit: "ms" as const, ours: cinnabar[i]! };
    return both ? { ...ours, redis: redis[i]! } : ours;
  };
  return [
    row("longest PING, load alone", 0),
    row("longest PING during BGSAVE under load", 1),
    row("longest turn of the event loop, load alone", 3, false),
    row("longest turn of the event loop during BGSAVE under load", 4, false),
    row("BGSAVE under load", 2),
  ];
}

// ---------------------------------------------------------------------------------------------- saving and loading

const fields = Array.from({ length: 10 }, (_, i) => `"field-${i}","value " .. i .. " of ${i}, thirty-two bytes"`).join(
  ",",
);

/** What is saved and loaded: how it is made, in pieces that no server finds too long. */
const DATA: { what: string; keys: number; fill(server: BenchServer, keys: number): void }[] = [
  {
    what: "strings of 32 bytes",
    keys: 1_000_000,
    fill: (server, keys) => void cli(server, "DEBUG", "POPULATE", String(keys), "key", "32"),
  },
  {
    what: "hashes of ten fields",
    keys: 200_000,
    fill(server, keys) {
      const script = `for i = ARGV[1], ARGV[2] do redis.call("HSET", "hash:" .. i, ${fields}) end`;
      for (let i = 0; i < keys; i += 20_000) cli(server, "EVAL", script, "0", String(i), String(i + 19_999));
    },
  },
];

/** Seconds as the server's log tells them, in milliseconds. */
function loadedMs(log: string): number {
  return Number(/DB loaded from disk: ([\d.]+) seconds/.exec(readFileSync(log, "utf8"))![1]) * 1000;
}

async function compareSaving(quick: boolean): Promise<FileRow[]> {
  const rows: FileRow[] = [];
  for (const { what, keys: full, fill } of DATA) {
    const keys = quick ? full / 10 : full;
    await inFolder(async (folder) => {
      const flags = ["--dir", folder, "--enable-debug-command", "yes"];
      // One file for both: Redis's.
      const maker = await startServer("redis", flags);
      fill(maker, keys);
      cli(maker, "SAVE");
      await maker.stop();
      const { cinnabar, redis } = await inTurn(quick ? 1 : 3, async (name) => {
        const log = join(folder, `${name}.log`);
        rmSync(log, { force: true });
        const server = await startServer(name, [...flags, "--logfile", log]);
        while (cli(server, "PING") !== "PONG") await pause(50);
        const loaded = loadedMs(log);
        const started = performance.now();
        cli(server, "SAVE");
        const saved = performance.now() - started;
        await server.stop();
        return [loaded, saved];
      });
      const label = `${keys.toLocaleString("en-US").replaceAll(",", " ")} ${what}`;
      rows.push({ what: `load ${label}`, unit: "ms", ours: cinnabar[0]!, redis: redis[0]! });
      rows.push({ what: `SAVE ${label}`, unit: "ms", ours: cinnabar[1]!, redis: redis[1]! });
    });
  }
  return rows;
}

// ---------------------------------------------------------------------------------------------- append-only file

const APPENDING = [
  { fsync: "always", pipeline: 1, requests: 40_000 },
  { fsync: "always", pipeline: 16, requests: 300_000 },
  { fsync: "everysec", pipeline: 1, requests: 200_000 },
  { fsync: "everysec", pipeline: 16, requests: 1_000_000 },
] as const;

async function compareAppending(quick: boolean): Promise<FileRow[]> {
  const { cinnabar, redis } = await inTurn(quick ? 1 : 3, (name) =>
    inFolder(async (folder) => {
      const server = await startServer(name, ["--dir", folder, "--appendonly", "yes"]);
      const figures: number[] = [];
      for (const { fsync, pipeline, requests } of APPENDING) {
        cli(server, "CONFIG", "SET", "appendfsync", fsync);
        const count = String(quick ? requests / 10 : requests);
        const flags = [
          "-t",
          "set",
          "-r",
          "100000",
          "-c",
          "50",
          "-d",
          "32",
          "-P",
          String(pipeline),
          "-n",
          count,
          "--csv",
        ];
        const line = run("redis-benchmark", ["-p", String(server.port), ...flags])
          .trim()
          .split("\n")
          .at(-1)!;
        figures.push(Number(/","([\d.]+)"/.exec(line)![1]));
      }
      await server.stop();
      return figures;
    }),
  );
  return APPENDING.map(({ fsync, pipeline }, i) => ({
    what: `SET, appendfsync ${fsync}, 50 clients${pipeline > 1 ? `, pipeline of ${pipeline}` : ""}`,
    unit: "requests/s",
    ours: cinnabar[i]!,
    redis: redis[i]!,
  }));
}

export async function compareFiles(quick: boolean): Promise<FileRow[]> {
  const rows = [...(await compareStalls(quick)), ...(await compareSaving(quick)), ...(await compareAppending(quick))];
  process.stderr.write("\n");
  return rows;
}
