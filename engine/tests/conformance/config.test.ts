/** Directives, configuration files and flags, beside a real server: names, defaults, refusals, and what CONFIG REWRITE writes. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Config } from "../../src/config/config.ts";
import { DIRECTIVES, type DirectiveName, NAMES } from "../../src/config/directives.ts";
import { ConfigFileError, parseConfigText, parseServerArguments } from "../../src/config/file.ts";
import { rewrittenConfig } from "../../src/config/rewrite.ts";
import type { Answer } from "./answer.ts";
import { freePort, realProgram, redisMissing, startRedis } from "./redis-server.ts";
import { engineTarget, openWire, realTarget, type Target } from "./target.ts";
import type { Wire } from "./wire.ts";

const missing = redisMissing();
if (missing !== undefined) console.warn(`The comparison of configurations is skipped: ${missing}`);

const folder = mkdtempSync(join(tmpdir(), "cinnabar-config-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Differ by nature: where the server is, and what the operating system grants it. */
const OWN = new Set(["port", "dir", "bind", "pidfile", "maxclients", "jemalloc-bg-thread"]);

/** Setting these acts on sockets, files or the operating system. */
const NOT_TRIED =
  /^(?:bind|dir|port|tls-.*|maxclients|oom-score-adj.*|appendonly|watchdog-period|requirepass|timeout|save)$/;

/** Redis has none of these. */
const OURS = new Set(["metrics-bind", "metrics-port", "script-time-limit"]);

const VALUES = ["zz", "-1", "0", "1", "2", "100", "1mb", "5%", "yes", "NO", "", "9223372036854775807"];
const WORSE_VALUES = ["99999999999999999999", "-9223372036854775808", "1.5", " 1", "0x10", "1 2 3"];

const pairsOf = (answer: Answer): Map<string, string> => {
  const pairs = new Map<string, string>();
  for (let i = 0; i < answer.items.length; i += 2) pairs.set(answer.items[i]!.text, answer.items[i + 1]!.text);
  return pairs;
};

async function everything(wire: Wire): Promise<Map<string, string>> {
  const [answer] = await wire.pipeline([["CONFIG", "GET", "*"]]);
  return pairsOf(answer!);
}

const withoutOwn = (pairs: Map<string, string>) =>
  Object.fromEntries([...pairs].filter(([name]) => !OWN.has(name)).sort(([a], [b]) => (a < b ? -1 : 1)));

/** The file of the real server's program. */
function programOf(): string {
  const program = realProgram();
  return program.includes("/") ? program : spawnSync("which", [program], { encoding: "utf8" }).stdout.trim();
}

/** What CONFIG GET * would show for these directives. */
function shown(directives: Record<string, string>): Map<string, string> {
  const config = new Config(directives);
  const flat = config.get(["*"]);
  return new Map(Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]));
}

describe.skipIf(missing !== undefined)("directives", () => {
  let real: Target;
  let ours: Target;
  let realWire: Wire;
  let ourWire: Wire;

  beforeAll(async () => {
    real = await realTarget();
    ours = await engineTarget({ save: "" });
    realWire = await real.connect();
    ourWire = await ours.connect();
  });
  afterAll(async () => {
    await real?.close();
    await ours?.close();
  });

  test("have Redis's names and defaults", async () => {
    expect(withoutOwn(await everything(ourWire))).toEqual(withoutOwn(await everything(realWire)));
  });

  test("that CONFIG GET * does not show are the same: every name in Redis's program was asked for", async () => {
    const words = [...new Set(readFileSync(programOf(), "latin1").match(/(?<=\0)[a-z][a-z0-9_-]{1,63}(?=\0)/g))];
    expect(words).toContain("watchdog-period");
    const [theirs, mine] = await Promise.all(
      [realWire, ourWire].map(async (wire) => pairsOf(await wire.call("CONFIG", "GET", ...words))),
    );
    const hidden = [...theirs!].filter(([name]) => !NAMES.has(name) || DIRECTIVES[NAMES.get(name)!].hidden);
    expect(hidden.length).toBeGreaterThan(4);
    expect(hidden.filter(([name, value]) => mine!.get(name) !== value)).toEqual([]);
  });

  test("accept and refuse what Redis does", { timeout: 60_000 }, async () => {
    const all = [...NAMES.keys()].filter((name) => !NOT_TRIED.test(name) && !OURS.has(name));
    // Some builds of this version lack a hidden directive that came with a correction.
    const known = pairsOf(await realWire.call("CONFIG", "GET", ...all));
    const names = all.filter((name) => known.has(name) || !DIRECTIVES[NAMES.get(name)!].hidden);
    for (const name of names) {
      const primary = NAMES.get(name)!;
      const before = new Config().format(primary);
      // Of a value past int64 Redis makes a negative one here, which then reads as a percentage.
      const choices = [...VALUES, ...WORSE_VALUES].filter((v) => name !== "maxmemory-clients" || v.length < 20);
      const commands = choices.flatMap((value) => [
        ["CONFIG", "SET", name, value],
        ["CONFIG", "GET", name],
        ["CONFIG", "SET", name, before],
      ]);
      const [theirs, mine] = await Promise.all([realWire.pipeline(commands), ourWire.pipeline(commands)]);
      const text = (answers: Answer[]) =>
        answers.map(
          (answer, i) => `${commands[i]!.join(" ")} → ${answer.text}${answer.items.map((item) => ` ${item.text}`)}`,
        );
      expect(text(mine)).toEqual(text(theirs));
    }
  });
});

/** Starts a real server that must not start, and returns what it complains about. */
function complaint(args: readonly string[], input = ""): string {
  const run = spawnSync("redis-server", [...args], { encoding: "latin1", timeout: 5000, input, cwd: folder });
  return run.status === null || run.status === 0 ? "(it started)" : run.stderr;
}

const BAD_FILES: Record<string, string> = {
  "an unknown directive": "port 0\n\n# comment\nnosuch 1\n",
  "a wrong number": "maxmemory-samples x\n",
  "a number out of bounds": "databases 0\n",
  "too many words": "maxmemory 1 2\n",
  "too few words": "maxmemory\n",
  "a word that is none of the choices": "  maxmemory-policy lru  \n",
  "an unbalanced quote": 'pidfile "abc\n',
  "text behind a quote": 'pidfile "abc"d\n',
  "a bad save point": "save 10\n",
  "a bad buffer limit": "client-output-buffer-limit foo 1 2 3\n",
  "too many bind addresses": `bind ${Array.from({ length: 17 }, (_, i) => `127.0.0.${i}`).join(" ")}\n`,
  "a bad mode": "unixsocketperm 999\n",
  "a path where a name is wanted": "dbfilename a/b.rdb\n",
  "another path": "appendfilename a/b.aof\n",
  "a bad event": "notify-keyspace-events q\n",
  "a folder that is not there": "dir /nonexistent/folder\n",
  "a bad supervisor": "supervised maybe\n",
  "an empty append-only name": 'appenddirname ""\n',
};

describe.skipIf(missing !== undefined)("configuration files", () => {
  test.each(Object.entries(BAD_FILES))("complain about %s in Redis's words", (_, text) => {
    const file = join(folder, "bad.conf");
    writeFileSync(file, text, "latin1");
    let ours = "(it started)";
    try {
      parseServerArguments([file]);
    } catch (error) {
      if (!(error instanceof ConfigFileError)) throw error;
      ours = error.message;
    }
    expect(ours).toBe(complaint([file]));
  });

  test("complain about flags by the line that they would be", () => {
    const file = join(folder, "good.conf");
    writeFileSync(file, 'port 0\nsave ""\n');
    for (const args of [
      [file, "--maxmemory", "abc"],
      ["--maxmemory-samples", "1", "--nosuch"],
      ["--port", "1", "2"],
      ["--maxmemory", "--port", "0"],
      ["maxmemory.conf", "--port", "0"],
    ]) {
      expect(() =>
        parseServerArguments(args.map((word) => (word === "maxmemory.conf" ? join(folder, word) : word))),
      ).toThrow();
      if (args[0] === "maxmemory.conf") continue;
      let ours = "";
      try {
        parseServerArguments(args);
      } catch (error) {
        ours = (error as Error).message;
      }
      expect(ours).toBe(complaint(args));
    }
  });

  test("are read as Redis reads them", async () => {
    const included = join(folder, "included.conf");
    writeFileSync(included, "maxmemory-samples 9\nhash-max-ziplist-entries 7\n");
    const text = [
      "# a comment",
      "   maxmemory   100mb   ",
      "MAXMEMORY-POLICY allkeys-LFU",
      "\tslave-read-only no",
      "lfu-log-factor 3",
      'requirepass "se\\x63ret \\"1\\""',
      "masterauth 'it''s'".replace("''", "\\'"),
      "save 900 1",
      "save 300 10 60 10000",
      "client-output-buffer-limit normal 1mb 2mb 30",
      "client-output-buffer-limit pubsub 0 0 0",
      "notify-keyspace-events KEx",
      "latency-tracking-info-percentiles 50 90",
      "list-max-ziplist-entries 5",
      "oom-score-adj-values 1 2 3",
      "shutdown-on-sigterm nosave now",
      "maxmemory-clients 5%",
      `include ${included}`,
    ].join("\r\n");
    const file = join(folder, "whole.conf");
    writeFileSync(file, text);
    const { directives } = parseServerArguments(["--save", "", "--enable-debug-command", "yes", "--include", file]);
    const server = await startRedis(["--include", file]);
    try {
      const wire = await openWire(server.port);
      await wire.pipeline([["AUTH", 'secret "1"']]);
      expect(withoutOwn(shown(directives))).toEqual(withoutOwn(await everything(wire)));
      await wire.close();
    } finally {
      await server.stop();
    }
  });

  test.each([
    [["--maxmemory", "10mb", "--maxmemory-policy", "allkeys-lru"]],
    [["--save", "--maxmemory-samples", "3"]],
    [["--save 100 1 200 2", "--maxmemory-samples 3"]],
    [["--save", "100", "1", "--save", "200", "2"]],
    [["--save", "100", "1", "--save", ""]],
    [["--save", "100", "1", "--save", "200 2"]],
    [["--proc-title-template", "--{title}"]],
    [["--client-output-buffer-limit", "normal", "1", "2", "3", "--SAVE"]],
  ])("flags %j mean what they mean to Redis", async (flags) => {
    const { directives } = parseServerArguments(["--save", "", "--enable-debug-command", "yes", ...flags]);
    const server = await startRedis(flags).catch((error: Error) => error);
    if (server instanceof Error) throw server;
    try {
      const wire = await openWire(server.port);
      expect(withoutOwn(shown(directives))).toEqual(withoutOwn(await everything(wire)));
      await wire.close();
    } finally {
      await server.stop();
    }
  });
});

const ORIGINAL = (port: number) => `# My server.
port ${port}
dir ${folder}
save ""
bind 127.0.0.1

# Memory
maxmemory 10mb
hash-max-ziplist-entries 100


# The next lines stay as they are
maxmemory-policy noeviction
client-output-buffer-limit normal 0 0 0
slave-priority 50
requirepass "a b"
loglevel warning
`;

const CHANGES: [string, string][] = [
  ["maxmemory", "2097152"],
  ["maxmemory-samples", "8"],
  ["maxmemory-policy", "allkeys-lru"],
  ["hash-max-listpack-entries", "200"],
  ["client-output-buffer-limit", "pubsub 1mb 1000 5"],
  ["slowlog-max-len", "5"],
  ["notify-keyspace-events", "KEA"],
  ["proto-max-bulk-len", "1048577"],
  ["latency-tracking-info-percentiles", "50 90.5"],
  ["masterauth", "x\ty"],
  ["requirepass", ""],
  ["lazyfree-lazy-expire", "yes"],
  ["oom-score-adj-values", "1 2 3"],
  ["maxmemory-clients", "5%"],
  ["shutdown-on-sigterm", "now nosave"],
  ["repl-backlog-size", "2mb"],
  ["replica-announce-ip", "1.2.3.4"],
];

/** What CONFIG REWRITE adds at the end comes in the order of a hash table. */
function comparable(text: string): string[] {
  const lines = text.split("\n");
  const mark = lines.indexOf("# Generated by CONFIG REWRITE");
  if (mark < 0) return lines;
  return [
    ...lines.slice(0, mark),
    ...lines
      .slice(mark)
      .filter((line) => line !== "")
      .sort(),
  ];
}

describe.skipIf(missing !== undefined)("CONFIG REWRITE", () => {
  test("writes what Redis writes", { timeout: 30_000 }, async () => {
    const port = await freePort();
    const file = join(folder, "rewrite.conf");
    const original = ORIGINAL(port);
    writeFileSync(file, original);
    const child = spawn("redis-server", [file], { stdio: ["ignore", "pipe", "ignore"] });
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    try {
      let wire: Wire | undefined;
      for (let i = 0; i < 100 && wire === undefined; i++) {
        wire = await openWire(port).catch(() => undefined);
        if (wire === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const answers = await wire!.pipeline([
        ["AUTH", "a b"],
        ...CHANGES.map(([name, value]) => ["CONFIG", "SET", name, value]),
        ["CONFIG", "REWRITE"],
      ]);
      expect(answers.map(({ text }) => text)).toEqual(answers.map(() => "OK"));
      await wire!.close();
    } finally {
      child.kill();
      await ended;
    }
    const config = new Config(parseConfigText(original));
    for (const change of CHANGES) expect(config.set([change], () => false)).toBeUndefined();
    const theirs = comparable(readFileSync(file, "latin1"));
    const users = theirs.filter((line) => line.startsWith("user "));
    const ours = rewrittenConfig(original, config, { users });
    expect(comparable(ours)).toEqual(theirs);
    // What was written reads back as it was, and once lines have found their places they stay.
    const again = rewrittenConfig(ours, config, { users });
    expect(rewrittenConfig(again, config, { users })).toBe(again);
    expect(shown(parseConfigText(again))).toEqual(shown(Object.fromEntries(valuesOf(config))));
  });
});

function valuesOf(config: Config): [string, string][] {
  return (Object.keys(DIRECTIVES) as DirectiveName[]).map((name) => [name, config.format(name)]);
}
