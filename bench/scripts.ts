/** EVALSHA on both servers: small scripts through redis-benchmark, BullMQ's own through a generator of our own. */
import { execFileSync } from "node:child_process";
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import type { Row } from "./redis-benchmark.ts";
import { type BenchServer, median, run } from "./servers.ts";

const SMALL: { test: string; script: string; keys: string[]; args: string[] }[] = [
  { test: "counter: one INCR", script: "return redis.call('INCR', KEYS[1])", keys: ["counter"], args: [] },
  {
    test: "three calls and a loop",
    script: `
      local n = tonumber(redis.call("GET", KEYS[1]) or "0")
      for i = 1, 10 do n = n + i end
      redis.call("SET", KEYS[1], n)
      redis.call("HINCRBY", KEYS[2], ARGV[1], 1)
      return n`,
    keys: ["total", "hits"],
    args: ["page"],
  },
];

function benchmark(server: BenchServer, sha: string, keys: string[], args: string[], requests: number): number {
  const words = ["evalsha", sha, String(keys.length), ...keys, ...args];
  const flags = ["-p", String(server.port), "-n", String(requests), "-c", "50", "-P", "16", "--csv"];
  const line = run("redis-benchmark", [...flags, ...words])
    .trim()
    .split("\n")
    .at(-1)!;
  return Number(/","([\d.]+)"/.exec(line)![1]);
}

const cli = (server: BenchServer, ...words: string[]) => run("redis-cli", ["-p", String(server.port), ...words]).trim();

/** What BullMQ sends for one job: recorded from a real queue, so that the scripts and their arguments are its own. */
async function recordBullmq(server: BenchServer): Promise<{ add: Buffer; move: Buffer }> {
  const sent: Buffer[][] = [];
  const open = () => {
    const redis = new Redis({ port: server.port, maxRetriesPerRequest: null });
    const send = redis.sendCommand.bind(redis);
    redis.sendCommand = (command, stream) => {
      if (/^evalsha$/i.test(command.name)) {
        sent.push(
          [command.name, ...command.args].map((word) => (Buffer.isBuffer(word) ? word : Buffer.from(String(word)))),
        );
      }
      return send(command, stream);
    };
    return redis;
  };
  const connections = [open(), open()];
  const queue = new Queue("bench", { connection: connections[0]! });
  await queue.add("warm", {});
  await queue.add("job", { user: 17, text: "a job of a usual size, with some words in it" });
  const add = sent.at(-1)!;
  sent.length = 0;
  const worker = new Worker("bench", null, { connection: connections[1]! });
  await worker.waitUntilReady();
  await worker.getNextJob("token");
  await worker.getNextJob("token");
  const move = sent.at(-1)!;
  await worker.close();
  await queue.close();
  for (const redis of connections) redis.disconnect();
  return { add: encode(add), move: encode(move) };
}

function encode(words: Buffer[]): Buffer {
  const parts: Buffer[] = [Buffer.from(`*${words.length}\r\n`)];
  for (const word of words) parts.push(Buffer.from(`$${word.length}\r\n`), word, Buffer.from("\r\n"));
  return Buffer.concat(parts);
}

/** Sends these commands over and over through redis-cli's pipe mode, which costs the least; scripts a second. */
function hammer(server: BenchServer, commands: Buffer[], times: number): number {
  const input = Buffer.concat(new Array(times).fill(Buffer.concat(commands)));
  const started = performance.now();
  const said = execFileSync("redis-cli", ["-p", String(server.port), "--pipe"], { input, encoding: "utf8" });
  const seconds = (performance.now() - started) / 1000;
  if (!said.includes("errors: 0,")) throw new Error(`a script failed: ${said}`);
  return (times * commands.length) / seconds;
}

export async function compareScripts(ours: BenchServer, redis: BenchServer, quick: boolean): Promise<Row[]> {
  const servers = [ours, redis] as const;
  const rounds = quick ? 1 : 3;
  const rows: Row[] = [];
  const row = (test: string, figures: Map<BenchServer, number[]>) => {
    const a = median(figures.get(ours)!);
    const b = median(figures.get(redis)!);
    rows.push({ test, ours: a, redis: b, ratio: a / b });
    process.stderr.write(".");
  };
  const inTurn = async (measure: (server: BenchServer) => number | Promise<number>) => {
    const figures = new Map<BenchServer, number[]>(servers.map((server) => [server, []]));
    for (let round = 0; round < rounds; round++) {
      for (const server of round % 2 === 0 ? servers : [...servers].reverse()) {
        cli(server, "FLUSHALL");
        figures.get(server)!.push(await measure(server));
      }
    }
    return figures;
  };
  for (const { test, script, keys, args } of SMALL) {
    const shas = new Map(servers.map((server) => [server, cli(server, "SCRIPT", "LOAD", script)]));
    const requests = quick ? 50_000 : 500_000;
    row(test, await inTurn((server) => benchmark(server, shas.get(server)!, keys, args, requests)));
  }
  const recorded = new Map<BenchServer, { add: Buffer; move: Buffer }>();
  for (const server of servers) recorded.set(server, await recordBullmq(server));
  const times = quick ? 5_000 : 50_000;
  row("BullMQ: add a job", await inTurn((server) => hammer(server, [recorded.get(server)!.add], times)));
  row(
    "BullMQ: add a job, move one to active",
    await inTurn((server) => {
      const { add, move } = recorded.get(server)!;
      return hammer(server, [add, move], times / 2);
    }),
  );
  process.stderr.write("\n");
  return rows;
}
