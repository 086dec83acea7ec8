/** MIGRATE between the engine and a real server, both ways, and side by side with what a real server answers. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { EmbeddedEngine } from "../../src/embed/embedded.ts";
import { dataCommands } from "./rdb/data.ts";
import { type RealServer, redisMissing, startRedis } from "./redis-server.ts";
import { compareState } from "./state.ts";
import { openWire } from "./target.ts";
import type { Wire } from "./wire.ts";

const missing = redisMissing();
if (missing !== undefined) console.warn(`Keys are not migrated to and from a real server: ${missing}`);

const HOST = "127.0.0.1";

interface Side {
  readonly wire: Wire;
  readonly port: string;
}

async function run(wire: Wire, commands: readonly (readonly string[])[]): Promise<void> {
  for (let i = 0; i < commands.length; i += 500) {
    for (const answer of await wire.pipeline(commands.slice(i, i + 500))) {
      if (answer.tag === "-") throw new Error(answer.text);
    }
  }
}

const keysOf = async (wire: Wire) => (await wire.call("KEYS", "*")).items.map((item) => item.text).sort();
const text = async (wire: Wire, ...words: string[]) => (await wire.call(...words)).text;

describe.skipIf(missing !== undefined)("MIGRATE", () => {
  let dir: string;
  let engines: EmbeddedEngine[];
  let servers: RealServer[];
  let ours: Side;
  let others: Side;
  let real: Side;
  let guarded: Side;
  let control: Side;

  async function openEngine(config: Record<string, string>, folder?: string): Promise<Side> {
    const options = { config: { "enable-debug-command": "yes", ...config } };
    const engine = await EmbeddedEngine.open(folder === undefined ? options : { dir: folder, ...options });
    engines.push(engine);
    const { port } = await engine.listen({ host: HOST, port: 0 });
    return { wire: await openWire(port), port: String(port) };
  }

  async function openReal(...args: string[]): Promise<Side> {
    const server = await startRedis(args);
    servers.push(server);
    return { wire: await openWire(server.port), port: String(server.port) };
  }

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "cinnabar-migrate-"));
    engines = [];
    servers = [];
    ours = await openEngine({ appendfsync: "always" }, dir);
    others = await openEngine({});
    real = await openReal();
    control = await openReal();
    guarded = await openReal("--requirepass", "secret");
    await run(guarded.wire, [
      ["AUTH", "secret"],
      ["ACL", "SETUSER", "mover", "on", ">word", "~*", "+@all"],
    ]);
  });
  afterAll(async () => {
    for (const side of [ours, others, real, guarded, control]) await side?.wire.close();
    for (const engine of engines) await engine.close();
    for (const server of servers) await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  beforeEach(async () => {
    for (const { wire } of [ours, others, real, guarded, control]) await run(wire, [["FLUSHALL"]]);
  });

  /** Data of every type and encoding, half of it with deadlines, the same in a third server to compare with. */
  async function fill(...sides: Side[]): Promise<string[]> {
    const commands = dataCommands(3);
    for (const { wire } of sides) await run(wire, commands);
    const keys = await keysOf(sides[0]!.wire);
    const deadlines = keys.filter((_, i) => i % 2 === 0).map((key) => ["PEXPIREAT", key, "9999999999999"]);
    for (const { wire } of sides) await run(wire, deadlines);
    return keys;
  }

  const directions = [
    { name: "from here to a real server", from: () => ours, to: () => real },
    { name: "from a real server to here", from: () => real, to: () => ours },
    { name: "from here to another of ours", from: () => ours, to: () => others },
  ];

  test.each(directions)("moves every type and encoding $name", async ({ from, to }) => {
    const [source, target] = [from(), to()];
    // What a payload makes of a value, which may have a leaner encoding than before, is what arrives.
    const keys = await fill(source);
    const dumps = await source.wire.pipeline(keys.map((key) => ["DUMP", key]));
    const ttls = await source.wire.pipeline(keys.map((key) => ["PEXPIRETIME", key]));
    const restores = keys.map((key, i) => {
      const ttl = Number(ttls[i]!.text);
      return ["RESTORE", key, ttl > 0 ? String(ttl) : "0", dumps[i]!.text, "ABSTTL"];
    });
    await run(control.wire, restores);
    for (let i = 0; i < keys.length; i += 50) {
      const some = keys.slice(i, i + 50);
      expect(await text(source.wire, "MIGRATE", HOST, target.port, "", "0", "5000", "KEYS", ...some)).toBe("OK");
    }
    expect(await text(source.wire, "DBSIZE")).toBe("0");
    expect(await keysOf(target.wire)).toEqual(keys);
    // Deadlines travel as the time that is left, and are so exact to some milliseconds.
    const moved = await target.wire.pipeline(keys.map((key) => ["PTTL", key]));
    for (const [i, { text: left }] of moved.entries()) {
      if (i % 2 === 0) expect(Number(left)).toBeGreaterThan(1e12);
      else expect(left).toBe("-1");
    }
    const deadlines = keys.filter((_, i) => i % 2 === 0).map((key) => ["PEXPIREAT", key, "9999999999999"]);
    await run(target.wire, deadlines);
    expect(await compareState(control.wire, target.wire)).toBeUndefined();
  });

  /** The same calls on a real server and on ours, to the same target: the same answers, and the same is left. */
  async function sameAnswers(target: Side, calls: readonly (readonly string[])[], keys: readonly string[]) {
    const seen: unknown[] = [];
    for (const { wire } of [real, ours]) {
      await run(target.wire, [["FLUSHALL"], ["SET", "busy", "theirs"]]);
      await run(wire, [["FLUSHALL"], ...keys.map((key) => ["SET", key, `value of ${key}`])]);
      const answers: string[] = [];
      for (const call of calls) answers.push(await text(wire, ...call));
      const [here, there] = [await keysOf(wire), await keysOf(target.wire)];
      // The next test is about what becomes of it.
      const kept = there.filter((key) => key !== "unsent");
      seen.push({ answers, here, there: kept, busy: await text(target.wire, "GET", "busy") });
    }
    expect(seen[1]).toEqual(seen[0]);
    return seen[0] as { answers: string[]; here: string[]; there: string[]; busy: string };
  }

  test("answers as a real server does: options, busy keys, missing keys, other databases", async () => {
    const to = (key: string, ...rest: string[]) => ["MIGRATE", HOST, others.port, key, "0", "2000", ...rest];
    const { answers, here } = await sameAnswers(
      others,
      [
        to("a", "COPY"),
        to("a"),
        to("a", "REPLACE"),
        to("a"),
        to("busy"),
        to("", "KEYS", "b", "busy", "c", "nothing"),
        to("", "KEYS", "d", "d"),
        to("", "REPLACE", "KEYS", "e", "e", "busy"),
        ["MIGRATE", HOST, others.port, "f", "1", "2000"],
        ["MIGRATE", HOST, others.port, "g", "0", "0"],
        ["MIGRATE", "localhost", others.port, "h", "0", "-5"],
        ["MIGRATE", HOST, others.port, "unsent", "99", "2000"],
        ["MIGRATE", HOST, others.port, "unsent", "0", "2000", "AUTH", "no"],
      ],
      ["a", "b", "busy", "c", "d", "e", "f", "g", "h", "unsent"],
    );
    expect(answers.slice(0, 6)).toEqual([
      "OK",
      "ERR Target instance replied with error: BUSYKEY Target key name already exists.",
      "OK",
      "NOKEY",
      "ERR Target instance replied with error: BUSYKEY Target key name already exists.",
      "ERR Target instance replied with error: BUSYKEY Target key name already exists.",
    ]);
    expect(here).toEqual(["unsent"]);
  });

  test("answers as a real server does where a password is wanted", async () => {
    const to = (key: string, ...rest: string[]) => ["MIGRATE", HOST, guarded.port, key, "0", "2000", ...rest];
    await sameAnswers(
      guarded,
      [
        to("a"),
        to("a", "AUTH", "wrong"),
        to("a", "AUTH2", "nobody", "word"),
        to("a", "AUTH", "secret"),
        to("b", "AUTH2", "mover", "word"),
        to("", "AUTH2", "mover", "word", "REPLACE", "KEYS", "c", "busy"),
        // Redis and we keep the connection, and with it who it is.
        to("d"),
      ],
      ["a", "b", "busy", "c", "d"],
    );
  });

  test("asks for the password on a kept connection too, since it may have been changed", async () => {
    const to = (key: string) => ["MIGRATE", HOST, guarded.port, key, "0", "2000", "AUTH", "secret"];
    await run(ours.wire, [["MSET", "p", "1", "q", "2"]]);
    expect((await ours.wire.call(...to("p"))).text).toBe("OK");
    await run(guarded.wire, [["CONFIG", "SET", "requirepass", "changed"]]);
    expect((await ours.wire.call(...to("q"))).text).toContain("WRONGPASS");
    await run(guarded.wire, [
      ["CONFIG", "SET", "requirepass", "secret"],
      ["DEL", "p"],
    ]);
    await run(ours.wire, [["DEL", "q"]]);
  });

  test("a wrong database or password leaves nothing behind on the other side, unlike in Redis", async () => {
    await run(ours.wire, [["SET", "k", "v"]]);
    await ours.wire.call("MIGRATE", HOST, real.port, "k", "99", "2000");
    await ours.wire.call("MIGRATE", HOST, real.port, "k", "0", "2000", "AUTH", "wrong");
    expect(await text(real.wire, "DBSIZE")).toBe("0");
    expect(await text(ours.wire, "GET", "k")).toBe("v");
  });

  test("works inside transactions and scripts, both of which it ends with the key gone", async () => {
    await run(ours.wire, [["MSET", "a", "1", "b", "2", "c", "3"]]);
    const migrate = (key: string, ...rest: string[]) => ["MIGRATE", HOST, real.port, key, "0", "2000", ...rest];
    const replies = await ours.wire.pipeline([["MULTI"], migrate("a"), ["EXISTS", "a"], migrate("a"), ["EXEC"]]);
    expect(replies.at(-1)!.items.map((item) => item.text)).toEqual(["OK", "0", "NOKEY"]);
    const script = "return {redis.call('MIGRATE', ARGV[1], ARGV[2], KEYS[1], 0, 2000), redis.call('EXISTS', KEYS[1])}";
    const scripted = await ours.wire.call("EVAL", script, "1", "b", HOST, real.port);
    expect(scripted.items.map((item) => item.text)).toEqual(["OK", "0"]);
    await run(real.wire, [["SET", "c", "theirs"]]);
    const refused = "return redis.pcall('MIGRATE', ARGV[1], ARGV[2], KEYS[1], 0, 2000)";
    expect(await text(ours.wire, "EVAL", refused, "1", "c", HOST, real.port)).toMatch(/BUSYKEY/);
    expect(await keysOf(real.wire)).toEqual(["a", "b", "c"]);
    expect(await keysOf(ours.wire)).toEqual(["c"]);
  });

  test("the end of one connection is not taken for the end of the next", async () => {
    const keys = Array.from({ length: 2_000 }, (_, n) => `key ${n}`);
    await run(ours.wire, [["MSET", ...keys.flatMap((key) => [key, "v"])]]);
    const moves = keys.map((key) => ["MIGRATE", HOST, real.port, key, "0", "5000"]);
    const replies = await ours.wire.pipeline([["MULTI"], ...moves, ["EXEC"]]);
    expect(replies.at(-1)!.items.filter((item) => item.text !== "OK")).toEqual([]);
    expect(await text(ours.wire, "DBSIZE")).toBe("0");
  });

  test("a large value goes through, in a transaction too", async () => {
    await run(ours.wire, [["CONFIG", "SET", "rdbcompression", "no"]]);
    const value = "0123456789".repeat(1_000_000);
    await run(ours.wire, [["MSET", "large", value, "again", value]]);
    expect(await text(ours.wire, "MIGRATE", HOST, real.port, "large", "0", "5000")).toBe("OK");
    const again = ["MIGRATE", HOST, real.port, "again", "0", "5000"];
    const replies = await ours.wire.pipeline([["MULTI"], again, ["EXEC"]]);
    expect(replies.at(-1)!.items[0]!.text).toBe("OK");
    await run(ours.wire, [["CONFIG", "SET", "rdbcompression", "yes"]]);
    expect(await text(real.wire, "STRLEN", "large")).toBe("10000000");
    expect(await text(real.wire, "GET", "again")).toBe(value);
  });

  test("goes to the append-only file as DEL, and what was not taken stays there", async () => {
    await run(ours.wire, [["MSET", "a", "1", "b", "2", "c", "3", "kept", "4"]]);
    await run(real.wire, [["SET", "b", "theirs"]]);
    const answer = await text(ours.wire, "MIGRATE", HOST, real.port, "", "0", "2000", "KEYS", "a", "b", "nothing", "c");
    expect(answer).toMatch(/BUSYKEY/);
    const file = readFileSync(join(dir, "appendonlydir", "appendonly.aof.1.incr.aof"), "latin1");
    expect(file.endsWith("*3\r\n$3\r\nDEL\r\n$1\r\na\r\n$1\r\nc\r\n")).toBe(true);
    expect(file).not.toMatch(/migrate/i);
  });

  test("RESTORE-ASKING, which nodes of a cluster send, is understood", async () => {
    await run(real.wire, [["RPUSH", "list", "a", "b"]]);
    const payload = await text(real.wire, "DUMP", "list");
    expect(await text(ours.wire, "RESTORE-ASKING", "list", "0", payload)).toBe("OK");
    expect(await text(ours.wire, "LLEN", "list")).toBe("2");
  });
});
