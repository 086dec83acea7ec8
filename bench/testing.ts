/**
 * The test kit beside ioredis-mock and redis-memory-server: `node --import tsx bench/testing.ts`, after `npm run build`. Each is
 * measured in a process of its own: the time from the import to the first answer, a fresh store for a test that begins with 100 keys,
 * and what the process holds then. Writes docs/testing-figures.md.
 *
 * redis-memory-server is installed into a temporary folder for it, without its script that compiles a Redis: it uses redis-server.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";

const TESTS = 200;
const ROUNDS = 5;

const FILL = `const fill = async (redis) => { for (let n = 0; n < 100; n++) await redis.hset("user:" + n, "name", "n" + n); };`;

/** What one process does: `open` answers a client, `again` makes it fresh for the next test. */
const measured = (open: string, again: string, close: string): string => `
const begin = performance.now();
${FILL}
${open}
const start = performance.now() - begin;
const times = [];
for (let test = 0; test < ${TESTS}; test++) {
  const at = performance.now();
  ${again}
  times.push(performance.now() - at);
}
times.sort((a, b) => a - b);
const result = { start, reset: times[times.length >> 1], memory: process.memoryUsage.rss() + (globalThis.serverBytes ?? 0) };
${close}
console.log(JSON.stringify(result));
process.exit(0);
`;

const SUBJECTS: Readonly<Record<string, string>> = {
  "`TestStore.fork()`": measured(
    `const { TestStore } = await import("cinnabar/testing");
     const seeded = await TestStore.open({ fill: (db) => fill({ hset: (key, field, value) => db.hset(key, { [field]: value }) }) });
     let store = await seeded.fork();
     await store.db.get("a");`,
    "await store.db.incr('a'); await store.close(); store = await seeded.fork();",
    "await store.close(); await seeded.close();",
  ),
  "ioredis-mock": measured(
    `const { default: Redis } = await import("ioredis-mock");
     const redis = new Redis();
     await fill(redis);`,
    "await redis.incr('a'); await redis.flushall(); await fill(redis);",
    "redis.disconnect();",
  ),
  "redis-memory-server, ioredis": measured(
    `const { RedisMemoryServer } = await import("redis-memory-server");
     const { Redis } = await import("ioredis");
     const { readFileSync } = await import("node:fs");
     const server = new RedisMemoryServer({ binary: { systemBinary: process.env.REDIS_SERVER } });
     const redis = new Redis(await server.getPort(), await server.getHost());
     await fill(redis);
     const pid = /process_id:(\\d+)/.exec(await redis.info("server"))[1];
     globalThis.serverBytes = Number(/VmRSS:\\s+(\\d+)/.exec(readFileSync("/proc/" + pid + "/status", "utf8"))[1]) * 1024;`,
    "await redis.incr('a'); await redis.flushall(); await fill(redis);",
    "redis.disconnect(); await server.stop();",
  ),
};

interface Result {
  readonly start: number;
  readonly reset: number;
  readonly memory: number;
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;

function measure(program: string, folder: string): Result {
  const file = join(folder, "program.mjs");
  writeFileSync(file, program);
  const redis = execFileSync("which", ["redis-server"], { encoding: "utf8" }).trim();
  const results = Array.from({ length: ROUNDS }, () => {
    const env = { ...process.env, REDIS_SERVER: redis };
    return JSON.parse(execFileSync(process.execPath, [file], { encoding: "utf8", env }).trim()) as Result;
  });
  return {
    start: median(results.map(({ start }) => start)),
    reset: median(results.map(({ reset }) => reset)),
    memory: median(results.map(({ memory }) => memory)),
  };
}

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "cinnabar-bench-testing-"));
try {
  writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
  const packages = [
    "ioredis@5",
    "ioredis-mock@8",
    "redis-memory-server@0",
    join(root, "engine"),
    join(root, "toolkit"),
  ];
  execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...packages], { cwd: folder });
  const rows = Object.entries(SUBJECTS).map(([name, program]) => {
    const { start, reset, memory } = measure(program, folder);
    const row = `| ${name} | ${start.toFixed(0)} ms | ${reset.toFixed(3)} ms | ${Math.round(memory / (1 << 20))} MB |`;
    console.log(row);
    return row;
  });
  writeFileSync(
    join(root, "docs/testing-figures.md"),
    `# The test kit in figures

Written by \`node --import tsx bench/testing.ts\`: Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, medians of ${ROUNDS} processes. Start: from the import to the first answer, with 100 hashes filled in. For each test: a store that has these 100 hashes and nothing else. Memory: resident, of the process and of its server.

| | start | for each test | memory |
| --- | --- | --- | --- |
${rows.join("\n")}
`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
