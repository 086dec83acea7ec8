/** What the append-only file and the replicas get of commands that do not stand for themselves. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestClient } from "../../tests/kit/test-client.ts";
import { ManualClock } from "./clock.ts";
import { Engine } from "./engine.ts";
import { parseNotifyFlags } from "./notify.ts";
import { Push } from "./reply.ts";

let clock: ManualClock;
let engine: Engine;
let client: TestClient;
let units: string[][];

/** What is handed on from now on, a list for each unit. */
function listen(): void {
  units = [];
  engine.effects.listen((effects) => void units.push(effects.map(({ argv }) => argv.join(" "))));
}

beforeEach(() => {
  clock = new ManualClock();
  engine = new Engine({ clock });
  client = new TestClient(engine);
  for (const line of ["SET k v", "SET n 1", "SADD s a", "RPUSH l a b", "ZADD z 1 a", "HSET h f 1"]) client.run(line);
  listen();
});
afterEach(() => engine.stop());

describe("a deadline", () => {
  const at = (ms: number) => clock.now() + ms;

  test.each([
    ["EXPIRE k 10", () => `PEXPIREAT k ${at(10_000)}`],
    ["PEXPIRE k 10 NX", () => `PEXPIREAT k ${at(10)}`],
    ["GETEX k EX 10", () => `PEXPIREAT k ${at(10_000)}`],
    ["SETEX k 10 w", () => `SET k w PXAT ${at(10_000)}`],
    ["SET k 7 PX 10 NX", () => undefined],
    ["SET new 7 PX 10 NX", () => `SET new 7 PXAT ${at(10)}`],
    ["EXPIRE k -1", () => "DEL k"],
    ["GETEX k PXAT 1", () => "DEL k"],
    ["EXPIRE none 10", () => undefined],
  ])("of %s is propagated as a point in time, or as the end of the key", (line, expected) => {
    client.run(line);
    const said = expected();
    expect(units).toEqual(said === undefined ? [] : [[said]]);
  });

  test.each([
    ["EXPIRE k 10", ["expire"]],
    ["SET k v EX 10", ["set", "expire"]],
    ["GETEX old PERSIST", ["persist"]],
    ["PERSIST old", ["persist"]],
    ["EXPIRE k -1", ["del"]],
    ["RENAME old k", ["rename_to"]],
    ["COPY old k REPLACE", ["copy_to"]],
  ])("of %s is announced to watchers and as an event", (line, events) => {
    client.run("SET old v EX 100");
    engine.notifications.flags = parseNotifyFlags("KA")!;
    const key = line.split(" ")[line.startsWith("RENAME") || line.startsWith("COPY") ? 2 : 1]!;
    const listener = new TestClient(engine);
    listener.call(`SUBSCRIBE __keyspace@0__:${key}`);
    client.run(`WATCH ${key}`);
    new TestClient(engine).run(line);
    expect(client.client.watchBroken).toBe(true);
    expect(listener.taken().map((message) => message instanceof Push && message.items.at(-1))).toEqual(events);
  });
});

describe("what a command says instead of itself", () => {
  test.each([
    ["GETSET k w", "SET k w"],
    ["GETDEL k", "DEL k"],
    ["INCRBYFLOAT n 0.5", "SET n 1.5 KEEPTTL"],
    ["HINCRBYFLOAT h f 0.5", "HSET h f 1.5"],
    ["SPOP s", "SREM s a"],
    ["BLPOP none l 0", "LPOP l"],
    ["LMPOP 2 none l RIGHT COUNT 5", "RPOP l 2"],
    ["BLMOVE l m LEFT RIGHT 0", "LMOVE l m left right"],
    ["BRPOPLPUSH l m 0", "RPOPLPUSH l m"],
    ["BZPOPMIN none z 0", "ZPOPMIN z"],
  ])("is what came of it: %s as %s", (line, said) => {
    client.run(line);
    expect(units).toEqual([[said]]);
  });

  test("is its own, whatever runs inside it or around it", () => {
    client.run("MULTI").run("SPOP s").run("SET k w").run("GETDEL n").run("EXEC");
    client.run("EVAL redis.call('INCRBYFLOAT','f','1.5')redis.call('SET','k','x')return\tredis.call('GETDEL','k') 0");
    expect(units).toEqual([
      ["SREM s a", "SET k w", "DEL n"],
      ["SET f 1.5 KEEPTTL", "SET k x", "DEL k"],
    ]);
  });

  test("is that of the client who waited and of the one who served it, each by itself", () => {
    const waiting = new TestClient(engine);
    waiting.run("BLPOP queue 0");
    client.run("RPUSH queue a b");
    expect(units).toEqual([["RPUSH queue a b"], ["LPOP queue"]]);
  });

  test("is forgotten while nobody listens", () => {
    const silent = new Engine({ clock });
    new TestClient(silent).run("SADD s a").run("SPOP s").run("SET k v EX 10");
    expect(silent.effects.propagation.instead).toBeNull();
    expect(silent.effects.hasPending).toBe(false);
    silent.stop();
  });
});
