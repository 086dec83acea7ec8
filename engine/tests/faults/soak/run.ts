/**
 * A soak: `npm run soak -- [--minutes 20] [--rate 4000]`. Our server and redis-server run side by side under the same steady
 * mixed load with an append-only file that is rewritten every minute. Prints the resident memory over time and whether it is
 * flat in the second half, and how long PING took, the longest pause included.
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ManualClock, systemClock } from "../../../src/core/clock.ts";
import { freePort } from "../../conformance/redis-server.ts";
import { makeBatch, Target } from "./load.ts";

const { values: options } = parseArgs({
  options: { minutes: { type: "string", default: "20" }, rate: { type: "string", default: "4000" } },
});
const minutes = Number(options.minutes);
const rate = Number(options.rate);
const BATCH_MS = 10;
const REWRITE_MS = 60_000;
const PAGE_BYTES = 4096;
/** Memory that grows by more than this share in the second half is not flat. */
const FLAT = 0.05;

const programs = [
  { name: "cinnabar-server", program: join(import.meta.dirname, "../../../bin/cinnabar-server") },
  { name: "redis-server", program: "redis-server" },
];

interface Server {
  readonly name: string;
  readonly port: number;
  readonly child: ChildProcess;
  readonly dir: string;
  readonly residentMb: number[];
}

async function start({ name, program }: (typeof programs)[number]): Promise<Server> {
  const dir = mkdtempSync(join(tmpdir(), "cinnabar-soak-"));
  const port = await freePort();
  const flags = ["--port", String(port), "--dir", dir, "--save", "", "--appendonly", "yes"];
  const child = spawn(program, flags, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`${name} ended: ${output.slice(-1000)}`)));
    child.stdout.on("data", (chunk) => {
      output = (output + chunk).slice(-10_000);
      if (/Ready to accept/.test(output)) resolve();
    });
  });
  return { name, port, child, dir, residentMb: [] };
}

const residentMb = ({ pid }: ChildProcess) =>
  (Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES) / 1024 / 1024;

/** The slope of a line through the points, in their unit for each step. */
function slope(points: readonly number[]): number {
  const middle = (points.length - 1) / 2;
  const mean = points.reduce((sum, y) => sum + y, 0) / points.length;
  let above = 0;
  let below = 0;
  points.forEach((y, x) => {
    above += (x - middle) * (y - mean);
    below += (x - middle) ** 2;
  });
  return below === 0 ? 0 : above / below;
}

function report(server: Server, target: Target, times: Float64Array): { readonly row: string; readonly flat: boolean } {
  const half = server.residentMb.slice(Math.floor(server.residentMb.length / 2));
  const mean = half.reduce((sum, mb) => sum + mb, 0) / half.length;
  const perMinute = slope(half) * 60;
  const growth = (slope(half) * half.length) / mean;
  const at = (share: number) => (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(2);
  const flat = growth < FLAT;
  const cells = [
    server.name,
    `${Math.round(target.done * (rate / 1000) * BATCH_MS)}${target.missed > 0 ? ` (${target.missed} batches missed)` : ""}`,
    `${at(0.5)} / ${at(0.99)} / ${at(0.999)} ms`,
    `${at(1)} ms`,
    `${mean.toFixed(0)} MB`,
    `${perMinute >= 0 ? "+" : ""}${perMinute.toFixed(2)} MB a minute${flat ? "" : ": NOT FLAT"}`,
    target.errors === 0 ? "none" : `${target.errors}, first ${target.firstError}`,
  ];
  return { row: `| ${cells.join(" | ")} |`, flat };
}

const servers: Server[] = [];
let probe: ChildProcess | undefined;
try {
  for (const program of programs) servers.push(await start(program));
  const targets = servers.map(({ port }) => new Target(port));
  const ports = servers.map(({ port }) => port);
  probe = fork(join(import.meta.dirname, "probe.ts"), ports.map(String), { serialization: "advanced" });
  const probed = new Promise<Float64Array[]>((resolve, reject) => {
    probe!.on("message", (times) => times !== "asking" && resolve(times as Float64Array[]));
    probe!.once("exit", (code) => reject(new Error(`the probe ended with ${code}`)));
  });
  const random = new ManualClock(0, 7);
  const started = systemClock.monotonic();
  const endsAt = started + minutes * 60_000;
  let sentMs = 0;
  let rewrites = 0;
  const loaded = new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const now = systemClock.monotonic();
      for (; sentMs < now - started; sentMs += BATCH_MS) {
        const batch = makeBatch((rate / 1000) * BATCH_MS, () => random.random());
        for (const target of targets) target.send(batch);
      }
      for (const server of servers) {
        if (server.residentMb.length * 1000 < now - started) server.residentMb.push(residentMb(server.child));
      }
      if (rewrites * REWRITE_MS < now - started - REWRITE_MS / 2) {
        rewrites++;
        for (const target of targets) target.control("BGREWRITEAOF");
        console.log(
          `${Math.round((now - started) / 1000)} s: ${servers.map((s) => `${s.name} ${s.residentMb.at(-1)?.toFixed(0)} MB`).join(", ")}`,
        );
      }
      if (now < endsAt) return;
      clearInterval(timer);
      resolve();
    }, BATCH_MS);
  });
  await Promise.race([loaded, probed]);
  probe.send("end");
  const times = await probed;
  console.log(`\n${minutes} minutes, ${rate} commands a second each, ${rewrites} rewrites of the append-only file\n`);
  console.log("| server | commands | PING p50 / p99 / p99.9 | longest | resident, second half | its growth | errors |");
  console.log("| --- | --- | --- | --- | --- | --- | --- |");
  const reports = servers.map((server, i) => report(server, targets[i]!, times[i]!));
  for (const { row } of reports) console.log(row);
  if (!reports[0]!.flat || targets[0]!.errors > 0) process.exitCode = 1;
  for (const target of targets) target.close();
} finally {
  probe?.kill("SIGKILL");
  for (const { child, dir } of servers) {
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGKILL");
    await ended;
    rmSync(dir, { recursive: true, force: true });
  }
}
process.exit();
