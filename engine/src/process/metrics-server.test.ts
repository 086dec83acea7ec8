/** The port for monitoring, on the server as a program. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import parse from "parse-prometheus-text-format";
import { afterEach, beforeEach, expect, test } from "vitest";

const PROGRAM = fileURLToPath(new URL("../../dist/bin/cinnabar-server.js", import.meta.url));

let folder: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cinnabar-metrics-"));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts the server and waits until it says the text, or ends. */
function start(args: readonly string[], text = "Ready to accept connections"): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: folder });
  children.push(child);
  return new Promise((resolve) => {
    let said = "";
    const hear = (chunk: Buffer): void => {
      said += String(chunk);
      if (said.includes(text)) resolve(said);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("close", () => resolve(said));
  });
}

const portIn = (said: string): number => Number(/Listening on [^ \n]*:(\d+)/.exec(said)?.[1]);

/** Sends commands in one go and waits for the last reply. */
function send(port: number, commands: readonly string[], last: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => void socket.write(`${commands.join("\r\n")}\r\n`));
    let heard = "";
    socket.on("data", (chunk) => {
      heard += String(chunk);
      if (!heard.includes(last)) return;
      socket.destroy();
      resolve();
    });
    socket.once("error", reject);
  });
}

async function scrape(port: number, headers: Record<string, string> = {}) {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers });
  return { response, text: await response.text() };
}

test("serves metrics that a Prometheus parser reads, and says that it is ready", async () => {
  const metricsPort = await freePort();
  const said = await start(["--port", String(await freePort()), "--metrics-port", String(metricsPort)]);
  expect(said).toContain(`Metrics on http://127.0.0.1:${metricsPort}/metrics`);
  await send(portIn(said), ["SET a 1", "GET a", "GET none", "LPUSH a x", "PING end"], "$3\r\nend");
  const { response, text } = await scrape(metricsPort);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const families = parse(text);
  const value = (name: string, labels: Record<string, string> = {}) =>
    families
      .find((family) => family.name === name)
      ?.metrics.find((metric) => Object.entries(labels).every(([label, word]) => metric.labels?.[label] === word))
      ?.value;
  expect(value("redis_up")).toBe("1");
  expect(value("redis_commands_total", { cmd: "get" })).toBe("2");
  expect(value("redis_commands_failed_calls_total", { cmd: "lpush" })).toBe("1");
  expect(value("redis_errors_total", { err: "WRONGTYPE" })).toBe("1");
  expect(value("redis_db_keys", { db: "db0" })).toBe("1");
  expect([value("redis_keyspace_hits_total"), value("redis_keyspace_misses_total")]).toEqual(["1", "1"]);
  expect(Number(value("cinnabar_heap_limit_bytes"))).toBeGreaterThan(0);
  const open = await scrape(metricsPort, { accept: "application/openmetrics-text" });
  expect(open.text.endsWith("# EOF\n")).toBe(true);
  const status = async (path: string, method = "GET") =>
    (await fetch(`http://127.0.0.1:${metricsPort}${path}`, { method })).status;
  expect(
    await Promise.all([status("/healthz"), status("/readyz"), status("/other"), status("/metrics", "POST")]),
  ).toEqual([200, 200, 404, 405]);
});

test("a replica without its primary lives and is not ready; the directive may stand in a file", async () => {
  const [port, metricsPort, nobody] = [await freePort(), await freePort(), await freePort()];
  const file = join(folder, "server.conf");
  writeFileSync(file, `port ${port}\nmetrics-port ${metricsPort}\nreplicaof 127.0.0.1 ${nobody}\n`);
  await start([file]);
  expect((await fetch(`http://127.0.0.1:${metricsPort}/healthz`)).status).toBe(200);
  const ready = await fetch(`http://127.0.0.1:${metricsPort}/readyz`);
  expect([ready.status, await ready.text()]).toEqual([503, "not ready\n"]);
});

test("a Cluster in one process has one port, and its nodes as labels", async () => {
  const metricsPort = await freePort();
  const said = await start(["--cluster-nodes", "3", "--port", "0", "--metrics-port", String(metricsPort)]);
  expect(said).toContain("Ready");
  const up = parse((await scrape(metricsPort)).text).find(({ name }) => name === "redis_up");
  expect(up?.metrics.map(({ value }) => value)).toEqual(["1", "1", "1"]);
  expect(new Set(up?.metrics.map(({ labels }) => labels?.node)).size).toBe(3);
});

test("a port that is taken is an error that names the directive", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => void taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as { port: number };
  const said = await start(["--port", String(await freePort()), "--metrics-port", String(port)], "cannot be opened");
  expect(said).toContain(`metrics-port ${port} on 127.0.0.1 cannot be opened`);
  await new Promise((resolve) => taken.close(resolve));
});
