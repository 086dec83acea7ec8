/** The append-only file: what it keeps, what a torn or damaged one does, and how it is rewritten. */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { dataCommands } from "../../../tests/conformance/rdb/data.ts";
import { EmbeddedEngine } from "../../embed/embedded.ts";
import { digestOfAll } from "../../observe/debug-digest.ts";

const open: EmbeddedEngine[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const engine of open.splice(0)) await engine.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "cinnabar-aof-"));
  folders.push(path);
  return path;
}

async function openIn(dir: string, config: Record<string, string> = {}): Promise<EmbeddedEngine> {
  const engine = await EmbeddedEngine.open({ dir, config: { "enable-debug-command": "yes", ...config } });
  open.push(engine);
  return engine;
}

/** Opens, runs commands, closes; returns a signature of the data. */
async function fill(dir: string, commands: readonly (readonly string[])[], config: Record<string, string> = {}) {
  const engine = await openIn(dir, config);
  const client = engine.connect();
  // Not one by one: with appendfsync always, those that are called together share a sync.
  await Promise.all(commands.map((command) => client.call(...command)));
  const digest = digestOfAll(engine.core.databases);
  await engine.close();
  return digest;
}

const increment = (dir: string, seq = 1) => join(dir, "appendonlydir", `appendonly.aof.${seq}.incr.aof`);
const words = (...lines: string[]) => lines.map((line) => line.split(" "));

describe("what was written is there again", () => {
  test.each(["always", "everysec", "no"])("with appendfsync %s", async (appendfsync) => {
    const dir = folder();
    const digest = await fill(dir, dataCommands(1), { appendfsync });
    const again = await openIn(dir);
    expect(digestOfAll(again.core.databases)).toBe(digest);
  });

  test("whatever DEBUG AOF-FLUSH-SLEEP adds before each write: nothing is answered meanwhile", async () => {
    const dir = folder();
    const engine = await openIn(dir, { appendfsync: "always" });
    const client = engine.connect();
    expect(await client.call("DEBUG", "AOF-FLUSH-SLEEP", "50000")).toBe("OK");
    const begun = performance.now();
    for (const key of ["a", "b"]) await client.call("SET", key, "v");
    expect(performance.now() - begun).toBeGreaterThanOrEqual(100);
    await client.call("DEBUG", "AOF-FLUSH-SLEEP", "-1");
    await engine.close();
    const again = await openIn(dir);
    expect(await again.connect().call("EXISTS", "a", "b")).toBe(2);
  });

  test("in several databases, in transactions, after expiry", async () => {
    const dir = folder();
    const engine = await openIn(dir);
    const client = engine.connect();
    await client.call("SET", "a", "1");
    await client.call("SELECT", "5");
    await client.transaction(words("SET b 2", "SELECT 7", "INCR c", "INCR c"));
    await client.call("SET", "gone", "1", "PX", "1");
    await expect.poll(() => client.call("GET", "gone")).toBeNull();
    await client.call("EVAL", "redis.call('SET', 'd', 1) redis.call('APPEND', 'd', 2)", "0");
    await client.call("PUBLISH", "channel", "message");
    await engine.close();
    const text = readFileSync(increment(dir), "latin1")
      .replaceAll(/\$\d+\r\n/g, "")
      .replaceAll("\r\n", " ");
    expect(text).toMatch(
      /^\*2 SELECT 0 \*3 SET a 1 \*2 SELECT 5 \*1 MULTI \*3 SET b 2 \*2 SELECT 7 \*2 INCR c \*2 INCR c \*1 EXEC \*5 SET gone 1 PXAT \d+ \*2 DEL gone \*1 MULTI \*3 SET d 1 \*3 APPEND d 2 \*1 EXEC $/,
    );
    const again = await openIn(dir);
    expect(await again.connect({ db: 7 }).call("GET", "c")).toBe("2");
  });

  test("keys do not expire while commands that need them are still to come", async () => {
    const dir = folder();
    await fill(dir, []);
    appendFileSync(increment(dir), "*5\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n$4\r\nPXAT\r\n$4\r\n1000\r\n");
    appendFileSync(increment(dir), "*3\r\n$6\r\nAPPEND\r\n$1\r\nk\r\n$1\r\nw\r\n");
    const engine = await openIn(dir);
    expect(await engine.connect().call("EXISTS", "k")).toBe(0);
  });
});

describe("rewriting", () => {
  test("leaves one base and one increment, and everything in them", async () => {
    const dir = folder();
    const engine = await openIn(dir);
    const client = engine.connect();
    for (const command of dataCommands(2)) await client.call(...command);
    for (let round = 0; round < 3; round++) {
      expect(await client.call("BGREWRITEAOF")).toBe("Background append only file rewriting started");
      await expect(client.call("BGREWRITEAOF")).rejects.toThrow("already in progress");
      for (let i = 0; engine.core.persistence.busy; i++) {
        await client.call("RPUSH", `during:${round}`, String(i));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await client.call("SET", "after", String(round));
    }
    const digest = digestOfAll(engine.core.databases);
    expect(String(await client.call("INFO", "persistence"))).toMatch(/aof_rewrites:3\r\n/);
    await engine.close();
    await expect
      .poll(() => readdirSync(join(dir, "appendonlydir")).sort())
      .toEqual(["appendonly.aof.4.base.rdb", "appendonly.aof.4.incr.aof", "appendonly.aof.manifest"]);
    const again = await openIn(dir);
    expect(digestOfAll(again.core.databases)).toBe(digest);
  });

  test("begins by itself when the file has grown enough", async () => {
    const dir = folder();
    const config = { "auto-aof-rewrite-min-size": "100kb" };
    const engine = await openIn(dir, config);
    const client = engine.connect();
    for (let i = 0; i < 3000; i++) await client.call("SET", `k${i % 10}`, "x".repeat(50));
    await new Promise((resolve) => setImmediate(resolve));
    engine.core.tick();
    await engine.core.persistence.idle();
    expect(engine.core.persistence.aof.rewrites).toBe(1);
    expect(engine.core.persistence.aof.currentSize).toBeLessThan(10_000);
  });

  test("that fails loses nothing", async () => {
    const dir = folder();
    const engine = await openIn(dir);
    const client = engine.connect();
    await client.call("SET", "a", "1");
    await client.call("BGREWRITEAOF");
    engine.core.snapshot!.abort();
    await client.call("SET", "b", "2");
    await engine.core.persistence.idle();
    expect(String(await client.call("INFO", "persistence"))).toContain("aof_last_bgrewrite_status:err");
    const digest = digestOfAll(engine.core.databases);
    await engine.close();
    const again = await openIn(dir);
    expect(digestOfAll(again.core.databases)).toBe(digest);
  });

  test("CONFIG SET appendonly yes in a transaction does not make its commands count twice", async () => {
    const dir = folder();
    const engine = await openIn(dir, { appendonly: "no" });
    const client = engine.connect();
    await client.transaction(words("INCR a", "CONFIG SET appendonly yes", "INCR a"));
    while (engine.core.persistence.aof.state !== "on") {
      engine.core.tick();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await client.call("INCR", "b");
    await engine.close();
    const again = (await openIn(dir)).connect();
    expect(await again.call("MGET", "a", "b")).toEqual(["2", "1"]);
  });

  test("CONFIG SET appendonly yes during a save does not make what comes before its turn count twice", async () => {
    const dir = folder();
    const engine = await openIn(dir, { appendonly: "no" });
    const client = engine.connect();
    await client.call("SET", "a", "1");
    await client.call("BGSAVE");
    await client.call("CONFIG", "SET", "appendonly", "yes");
    await client.call("INCR", "a");
    while (engine.core.persistence.aof.state !== "on") {
      engine.core.tick();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await client.call("INCR", "a");
    await engine.close();
    expect(await (await openIn(dir)).connect().call("GET", "a")).toBe("3");
  });

  test("CONFIG SET appendonly yes keeps what is there and what comes; no stops it", async () => {
    const dir = folder();
    const engine = await openIn(dir, { appendonly: "no" });
    const client = engine.connect();
    for (const command of dataCommands(3)) await client.call(...command);
    await client.call("CONFIG", "SET", "appendonly", "yes");
    await client.call("SET", "during", "1");
    await engine.core.persistence.idle();
    await client.call("SET", "after", "1");
    const digest = digestOfAll(engine.core.databases);
    await client.call("CONFIG", "SET", "appendonly", "no");
    await client.call("SET", "unheard", "1");
    await engine.close();
    const again = await openIn(dir);
    expect(digestOfAll(again.core.databases)).toBe(digest);
  });
});

describe("files of other versions", () => {
  test("a single file of commands, and one with an RDB before them, are taken over", async () => {
    for (const preamble of [false, true]) {
      const dir = folder();
      const digest = await fill(dir, dataCommands(4));
      const parts = join(dir, "appendonlydir");
      const commands = readFileSync(increment(dir));
      const base = readFileSync(join(parts, "appendonly.aof.1.base.rdb"));
      rmSync(parts, { recursive: true });
      writeFileSync(join(dir, "appendonly.aof"), preamble ? Buffer.concat([base, commands]) : commands);
      expect(await fill(dir, [])).toBe(digest);
      expect(readdirSync(parts)).toContain("appendonly.aof");
      expect(await fill(dir, [])).toBe(digest);
    }
  });

  test("a snapshot becomes the base of a new append-only file", async () => {
    const dir = folder();
    const digest = await fill(dir, [...dataCommands(5), ["SAVE"]], { appendonly: "no" });
    expect(await fill(dir, [])).toBe(digest);
  });
});

describe("a file that is not whole", () => {
  const tail = words("SET first 1", "RPUSH list a b c");

  test("is cut at every byte of its last command, and loads up to there", async () => {
    const dir = folder();
    await fill(dir, tail);
    const whole = readFileSync(increment(dir));
    const start = whole.lastIndexOf("*5\r\n");
    for (let length = start; length < whole.length; length++) {
      writeFileSync(increment(dir), whole.subarray(0, length));
      const engine = await openIn(dir);
      const client = engine.connect();
      expect([length, await client.call("GET", "first"), await client.call("EXISTS", "list")]).toEqual([
        length,
        "1",
        0,
      ]);
      await engine.close();
      expect(readFileSync(increment(dir)).length).toBe(start);
    }
  });

  test("loses an unfinished transaction as a whole", async () => {
    const dir = folder();
    const engine = await openIn(dir);
    const client = engine.connect();
    await client.call("SET", "first", "1");
    await client.transaction(words("SET x 1", "SET y 1"));
    await engine.close();
    const whole = readFileSync(increment(dir));
    const start = whole.lastIndexOf("*1\r\n$5\r\nMULTI");
    for (let length = start + 1; length < whole.length; length += 3) {
      writeFileSync(increment(dir), whole.subarray(0, length));
      const again = await openIn(dir);
      expect(await again.connect().call("EXISTS", "x", "y", "first")).toBe(1);
      await again.close();
      expect(readFileSync(increment(dir)).length).toBe(start);
    }
  });

  test("is refused where cutting is not allowed, or anything follows it", async () => {
    const dir = folder();
    await fill(dir, tail);
    const whole = readFileSync(increment(dir));
    writeFileSync(increment(dir), whole.subarray(0, -1));
    await expect(openIn(dir, { "aof-load-truncated": "no" })).rejects.toThrow(
      /1\.incr\.aof, offset \d+: the file ends in/,
    );
    appendFileSync(
      join(dir, "appendonlydir", "appendonly.aof.manifest"),
      "file appendonly.aof.2.incr.aof seq 2 type i\n",
    );
    writeFileSync(increment(dir, 2), "");
    await expect(openIn(dir)).rejects.toThrow(/1\.incr\.aof, offset \d+: the file ends in/);
  });

  test.each([
    ["a changed sign", (bytes: Buffer) => bytes.fill("x", 0, 1), /incr\.aof, offset 0: expected a command/],
    ["a changed length", (bytes: Buffer) => bytes.fill("9", 5, 6), /incr\.aof, offset 0: a word does not end/],
    [
      "an unknown command",
      (bytes: Buffer) => bytes.fill("Z", 8, 10),
      /Unknown command 'ZZLECT' reading the append only file .*incr\.aof, offset 0: a command that cannot be run/,
    ],
  ])("is refused with %s in the middle", async (_what, damage, reason) => {
    const dir = folder();
    await fill(dir, tail);
    const bytes = readFileSync(increment(dir));
    damage(bytes);
    writeFileSync(increment(dir), bytes);
    await expect(openIn(dir)).rejects.toThrow(reason);
    expect(readFileSync(increment(dir)).length).toBe(bytes.length);
  });

  test("is refused if a file is missing, or the manifest is damaged", async () => {
    const dir = folder();
    await fill(dir, tail);
    const manifest = join(dir, "appendonlydir", "appendonly.aof.manifest");
    const text = readFileSync(manifest, "utf8");
    for (const [bad, reason] of [
      [text.replace("type b", "type x"), /manifest, offset 0: Unknown AOF file type/],
      [text.replace("seq 1", "seq 0"), /manifest, offset 0: Invalid AOF manifest file format/],
      [text.replace("appendonly.aof.1.base", "../appendonly.aof.1.base"), /File can't be a path, just a filename/],
      [`${text}file appendonly.aof.1.incr.aof seq 1 type i\n`, /Found a non-monotonic sequence number/],
      ["", /Found an empty AOF manifest/],
    ] as const) {
      writeFileSync(manifest, bad);
      await expect(openIn(dir)).rejects.toThrow(reason);
    }
    writeFileSync(manifest, text);
    renameSync(increment(dir), join(dir, "away"));
    await expect(openIn(dir)).rejects.toThrow(/doesn't exist: No such file or directory/);
  });
});

describe("the folder", () => {
  test("is locked while it is open, and a lock that nobody holds is taken over", async () => {
    const dir = folder();
    const engine = await openIn(dir);
    await expect(openIn(dir)).rejects.toThrow(/is in use by this process/);
    await engine.close();
    writeFileSync(join(dir, "cinnabar.lock"), "1 \n");
    await expect(openIn(dir)).rejects.toThrow(/is in use by process 1/);
    writeFileSync(join(dir, "cinnabar.lock"), "999999999 1\n");
    await fill(dir, []);
    expect(readdirSync(dir)).not.toContain("cinnabar.lock");
  });

  test("is made if it does not exist", async () => {
    const dir = join(folder(), "a", "b");
    await fill(dir, words("SET k v"));
    expect((await openIn(dir)).core.databases[0]!.size).toBe(1);
  });

  test("that cannot be written refuses CONFIG SET appendonly yes", async () => {
    const dir = folder();
    writeFileSync(join(dir, "appendonlydir"), "a file");
    const engine = await openIn(dir, { appendonly: "no" });
    await expect(engine.connect().call("CONFIG", "SET", "appendonly", "yes")).rejects.toThrow("Unable to turn on AOF");
    expect(await engine.connect().call("CONFIG", "GET", "appendonly")).toEqual(["appendonly", "no"]);
    mkdirSync(join(dir, "other"));
  });
});

test("functions are kept in increments, bases and snapshots", async () => {
  const dir = folder();
  const source = "#!lua name=lib\nredis.register_function('one', function() return 1 end)";
  const engine = await openIn(dir);
  const client = engine.connect();
  await client.call("FUNCTION", "LOAD", source);
  await engine.close();
  for (const command of ["BGREWRITEAOF", "PING"]) {
    const again = await openIn(dir);
    expect(await again.connect().call("FCALL", "one", "0")).toBe(1);
    await again.connect().call(command);
    await again.core.persistence.idle();
    await again.close();
  }
});

test("while data is loaded, only what needs none is answered", async () => {
  const engine = await openIn(folder());
  const client = engine.connect();
  engine.core.loading = true;
  await expect(client.call("GET", "k")).rejects.toThrow("LOADING Redis is loading the dataset in memory");
  await expect(client.call("SAVE")).rejects.toThrow("LOADING");
  expect(String(await client.call("INFO", "persistence"))).toContain("loading:1");
  engine.core.loading = false;
});

test("a process that ends without closing has written everything", async () => {
  const dir = folder();
  const program = `
    import { EmbeddedEngine } from ${JSON.stringify(join(import.meta.dirname, "../../embed/embedded.ts"))};
    const engine = await EmbeddedEngine.open({ dir: ${JSON.stringify(dir)} });
    engine.connect().callSync("SET", "last", "words");
    process.exit(0);
  `;
  const flags = [
    "--conditions=source",
    "--import",
    import.meta.resolve("tsx"),
    "--input-type=module",
    "--eval",
    program,
  ];
  expect(spawnSync(process.execPath, flags, { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
  expect(readdirSync(dir)).toEqual(["appendonlydir"]);
  expect(await (await openIn(dir)).connect().call("GET", "last")).toBe("words");
});

test("a script that holds the thread holds nothing back that was acknowledged before it", async () => {
  const dir = folder();
  const engine = await openIn(dir, { "busy-reply-threshold": "1" });
  const { core } = engine;
  core.log = () => {};
  const client = engine.connect();
  const { appender } = core.persistence.aof;
  const write = (key: string) => {
    void client.call("SET", key, "1");
    core.persistence.flush();
  };
  // With a sync under way, of which nothing is heard before this turn of the event loop is over, a write is put off.
  for (write("before"); appender.syncsInFlight === 0; write("before")) await setTimeout(10);
  write("acknowledged");
  expect(readFileSync(increment(dir), "latin1")).not.toContain("acknowledged");
  let kept = "";
  core.onHeld = (held) => {
    if (held) kept = readFileSync(increment(dir), "latin1");
  };
  await expect(client.call("EVAL", "while true do end", "0")).rejects.toThrow("Script killed");
  expect(kept).toContain("acknowledged");
});

test("a replica's own file may hold scripts that write", async () => {
  const dir = folder();
  await fill(dir, [["SET", "k", "v"]]);
  const script = "redis.call('INCR', KEYS[1])";
  const words = ["EVAL", script, "1", "n"];
  appendFileSync(increment(dir), `*4\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`);
  const engine = await openIn(dir, { replicaof: "127.0.0.1 1" });
  expect(await engine.connect().call("GET", "n")).toBe("1");
  await engine.close();
});
