/** Users who try to do more than they may: by guessing, and by every command that runs others. The table is in README.md. */
import { afterEach, describe, expect, test, vi } from "vitest";
import type { AclLog } from "../../src/core/acl/log.ts";
import { User } from "../../src/core/acl/user.ts";
import { Engine, type EngineOptions } from "../../src/core/engine.ts";
import { ReplyError } from "../../src/core/errors.ts";
import type { Reply } from "../../src/core/reply.ts";
import { Prng } from "../conformance/prng.ts";
import { TestClient } from "../kit/test-client.ts";

const engines: Engine[] = [];

function open(options: EngineOptions = {}): Engine {
  const engine = new Engine(options);
  engines.push(engine);
  return engine;
}

afterEach(() => {
  for (const engine of engines.splice(0)) engine.stop();
  vi.restoreAllMocks();
});

/** What a call answers; of an error, its text. */
function call(by: TestClient, engine: Engine, ...words: string[]): unknown {
  return plain(engine.execute(by.client, words));
}

function plain(reply: Reply): unknown {
  if (reply instanceof ReplyError) return reply.text;
  if (Array.isArray(reply)) return reply.map(plain);
  return typeof reply === "object" && reply !== null && "text" in reply ? reply.text : reply;
}

/** A store with an administrator, and a user who may do everything to keys x* but what is dangerous. */
function scene(rules: readonly string[] = ["~x*", "&x*", "+@all", "-@dangerous"]) {
  const engine = open({ users: [["mallory", "on", ">guess", ...rules]] });
  const admin = new TestClient(engine);
  const mallory = new TestClient(engine);
  const asAdmin = (...words: string[]) => call(admin, engine, ...words);
  const asMallory = (...words: string[]) => call(mallory, engine, ...words);
  expect(asMallory("AUTH", "mallory", "guess")).toBe("OK");
  asAdmin("SET", "secret", "value");
  asAdmin("SET", "x", "own");
  return { engine, admin, mallory, asAdmin, asMallory };
}

const KEY = "NOPERM this user has no permissions to access one of the keys used as arguments";
const command = (name: string) => `NOPERM this user has no permissions to run the '${name}' command`;
const WRONGPASS = "WRONGPASS invalid username-password pair or user is disabled.";

describe("guessing", () => {
  test("a user who does not exist, one who is off and a wrong password are told alike", () => {
    const engine = open({
      users: [
        ["off", ">right"],
        ["on", "on", ">right"],
        ["default", "off"],
      ],
    });
    const client = new TestClient(engine);
    const attempts = [
      ["nobody", "right"],
      ["off", "right"],
      ["off", "wrong"],
      ["on", "wrong"],
      ["default", ""],
    ] as const;
    for (const [name, password] of attempts) expect(call(client, engine, "AUTH", name, password)).toBe(WRONGPASS);
    expect(engine.acl.log.entries.map(({ reason }) => reason)).toEqual(["auth", "auth", "auth", "auth"]);
    for (const words of [
      ["GET", "k"],
      ["ACL", "WHOAMI"],
      ["ACL", "USERS"],
      ["CLIENT", "LIST"],
      ["COMMAND"],
      ["INFO"],
    ]) {
      expect(call(client, engine, ...words)).toBe("NOAUTH Authentication required.");
    }
  });

  test("as much is computed for a user that does not exist", () => {
    const engine = open({
      users: [
        ["off", ">right"],
        ["on", "on", ">right"],
        ["open", "on", "nopass"],
      ],
    });
    const client = new TestClient(engine);
    const compared = vi.spyOn(User.prototype, "hasPassword");
    for (const name of ["nobody", "off", "on", "open"]) call(client, engine, "AUTH", name, "wrong");
    expect(compared).toHaveBeenCalledTimes(4);
  });

  test("a password is compared in full, whichever of several it is", () => {
    const engine = open({ users: [["many", "on", ">one", ">two", ">three"]] });
    const client = new TestClient(engine);
    for (const password of ["one", "two", "three"]) expect(call(client, engine, "AUTH", "many", password)).toBe("OK");
    for (const password of ["", "on", "one ", "ONE", "\0"]) {
      expect(call(client, engine, "AUTH", "many", password)).toBe(WRONGPASS);
    }
  });

  test("a thousand attempts are one entry of the log that counts, and every one is in the statistics", () => {
    const engine = open({ users: [["target", "on", ">right"]] });
    const client = new TestClient(engine);
    for (let i = 0; i < 1000; i++) call(client, engine, "AUTH", "target", String(i));
    const { log }: { log: AclLog } = engine.acl;
    expect(log.entries.map(({ count, object, user }) => ({ count, object, user }))).toEqual([
      { count: 1000, object: "AUTH", user: "target" },
    ]);
    expect(engine.stats.errors.get("WRONGPASS")).toBe(1000);
  });

  test("attempts under a thousand names do not fill memory", () => {
    const engine = open();
    const client = new TestClient(engine);
    for (let i = 0; i < 1000; i++) call(client, engine, "AUTH", `name${i}`, "x");
    expect(engine.acl.log.entries.length).toBe(128);
  });
});

describe("escalation", () => {
  test("by scripts: each call is checked as its caller's, at any depth and from the cache", () => {
    const { asAdmin, asMallory } = scene();
    const read = "return redis.call('GET', 'secret')";
    const sha = String(asAdmin("SCRIPT", "LOAD", read));
    expect(asAdmin("EVALSHA", sha, "0")).toBe("value");
    const refused = /^ERR The user executing the script can't access at least one of the keys/;
    expect(asMallory("EVALSHA", sha, "0")).toMatch(refused);
    expect(asMallory("EVAL", read, "0")).toMatch(refused);
    expect(asMallory("EVAL_RO", read, "0")).toMatch(refused);
    expect(asMallory("EVAL", "return loadstring([[return redis.call('GET', 'secret')]])()", "0")).toMatch(refused);
    expect(asMallory("EVAL", "return redis.pcall('GET', 'secret')", "0")).toMatch(refused);
    expect(asMallory("EVAL", "return redis.call('FLUSHALL')", "0")).toMatch(/can't run this command/);
    expect(asMallory("EVAL", "return redis.call('PUBLISH', 'secret', 'm')", "0")).toMatch(/can't publish/);
    expect(asMallory("EVAL", "return redis.call('GET', 'x')", "0")).toBe("own");
    expect(asMallory("EVAL", read, "1", "secret")).toBe(KEY);
    for (const words of [
      "'ACL', 'SETUSER', 'mallory', 'allkeys'",
      "'AUTH', 'default', ''",
      "'EVAL', 'return 1', '0'",
    ]) {
      expect(asMallory("EVAL", `return redis.call(${words})`, "0")).toMatch(/not allowed from script/);
    }
    expect(asAdmin("GET", "secret")).toBe("value");
  });

  test("by functions that an administrator has loaded", () => {
    const { asAdmin, asMallory } = scene();
    const code = "#!lua name=lib\nredis.register_function('peek', function() return redis.call('GET', 'secret') end)";
    expect(asAdmin("FUNCTION", "LOAD", code)).toBe("lib");
    expect(asAdmin("FCALL", "peek", "0")).toBe("value");
    expect(asMallory("FCALL", "peek", "0")).toMatch(/can't access at least one of the keys/);
    expect(asMallory("FCALL", "peek", "1", "secret")).toBe(KEY);
  });

  test("by MULTI: refused when queued, and again when the permission is gone by EXEC", () => {
    const { asAdmin, asMallory } = scene();
    asMallory("MULTI");
    expect(asMallory("GET", "secret")).toBe(KEY);
    expect(asMallory("EXEC")).toMatch(/^EXECABORT/);
    asMallory("MULTI");
    expect(asMallory("SET", "x2", "1")).toBe("QUEUED");
    asAdmin("ACL", "SETUSER", "mallory", "resetkeys", "~x");
    expect(asMallory("EXEC")).toEqual([expect.stringMatching(/^NOPERM ACLs rules changed/)]);
    expect(asAdmin("EXISTS", "x2")).toBe(0);
  });

  test("by AUTH and RESET inside a transaction that was queued as somebody else", () => {
    const { asAdmin, asMallory } = scene();
    asAdmin("ACL", "SETUSER", "default", "-get");
    asMallory("MULTI");
    expect(asMallory("AUTH", "default", "")).toBe("QUEUED");
    expect(asMallory("GET", "x")).toBe("QUEUED");
    expect(asMallory("EXEC")).toEqual(["OK", expect.stringMatching(/^NOPERM ACLs rules changed/)]);
  });

  test("by commands that run, move or reveal what others own", () => {
    const { asMallory } = scene();
    const calls: [string, ...string[]][] = [
      ["DEBUG", "OBJECT", "secret"],
      ["CONFIG", "SET", "requirepass", "mine"],
      ["CONFIG", "GET", "requirepass"],
      ["CONFIG", "REWRITE"],
      ["ACL", "SETUSER", "mallory", "+@all"],
      ["ACL", "DELUSER", "other"],
      ["ACL", "GETUSER", "default"],
      ["ACL", "LIST"],
      ["ACL", "LOAD"],
      ["ACL", "LOG", "RESET"],
      ["CLIENT", "KILL", "USER", "default"],
      ["CLIENT", "LIST"],
      ["REPLICAOF", "127.0.0.1", "1"],
      ["PSYNC", "?", "-1"],
      ["SYNC"],
      ["REPLCONF", "listening-port", "1"],
      ["MONITOR"],
      ["SLOWLOG", "GET"],
      ["KEYS", "*"],
      ["FLUSHALL"],
      ["SHUTDOWN", "NOSAVE"],
      ["MODULE", "LOAD", "/m.so"],
      ["MIGRATE", "127.0.0.1", "1", "secret", "0", "10"],
    ];
    for (const words of calls)
      expect([words[0], asMallory(...words)]).toEqual([words[0], expect.stringMatching(/^NOPERM/)]);
  });

  test("by MIGRATE, SORT, OBJECT, WATCH, COPY and others of a user who may call everything", () => {
    const { asAdmin, asMallory } = scene(["~x*", "%R~r*", "&x*", "+@all"]);
    asAdmin("RPUSH", "xs", "1");
    const keyed: string[][] = [
      ["MIGRATE", "127.0.0.1", "1", "secret", "0", "10"],
      ["MIGRATE", "127.0.0.1", "1", "", "0", "10", "KEYS", "x", "secret"],
      ["MIGRATE", "127.0.0.1", "1", "", "0", "10", "COPY", "AUTH", "KEYS", "KEYS", "secret"],
      ["SORT", "secret"],
      ["SORT", "xs", "STORE", "secret"],
      ["SORT_RO", "secret"],
      ["OBJECT", "ENCODING", "secret"],
      ["MEMORY", "USAGE", "secret"],
      ["DUMP", "secret"],
      ["WATCH", "secret"],
      ["TOUCH", "secret"],
      ["EXISTS", "x", "secret"],
      ["COPY", "secret", "x"],
      ["COPY", "x", "r"],
      ["RENAME", "r", "x"],
      ["GETEX", "r", "PERSIST"],
      ["GETDEL", "r"],
      ["XREAD", "STREAMS", "x", "secret", "0", "0"],
      ["XREADGROUP", "GROUP", "STREAMS", "c", "STREAMS", "secret", ">"],
      ["ZUNION", "2", "x", "secret"],
      ["ZUNIONSTORE", "secret", "1", "x"],
      ["GEORADIUS", "x", "0", "0", "1", "m", "STORE", "secret"],
      ["LMPOP", "1", "secret", "LEFT"],
      ["BITOP", "NOT", "x", "secret"],
      ["EVAL", "return 1", "1", "secret"],
      ["FCALL", "f", "1", "secret"],
    ];
    for (const words of keyed) {
      expect([words, asMallory(...words)]).toEqual([words, KEY]);
    }
    expect(asMallory("SORT", "xs", "BY", "secret*")).toMatch(/^ERR BY option of SORT denied/);
    expect(asMallory("SORT", "xs", "GET", "secret*")).toMatch(/^ERR GET option of SORT denied/);
    expect(asMallory("SORT_RO", "xs", "GET", "*")).toMatch(/^ERR GET option of SORT denied/);
  });

  test("by another name: a renamed command is checked as what it is", () => {
    const engine = open({
      renamedCommands: [
        ["GET", "fetch"],
        ["CONFIG", "settings"],
      ],
      users: [["a", "on", ">p", "~*", "+get", "-set", "+config|get"]],
    });
    const client = new TestClient(engine);
    call(client, engine, "AUTH", "a", "p");
    expect(call(client, engine, "fetch", "k")).toBeNull();
    expect(call(client, engine, "GET", "k")).toMatch(/^ERR unknown command/);
    expect(call(client, engine, "settings", "SET", "maxmemory", "0")).toBe(command("config|set"));
    expect(call(client, engine, "SET", "k", "v")).toBe(command("set"));
    const admin = new TestClient(engine);
    expect(call(admin, engine, "ACL", "SETUSER", "a", "+fetch")).toMatch(/Unknown command or category name in ACL/);
  });

  test("by listening: channels of keyspace events and of others need a permission of their own", () => {
    const { mallory, asMallory } = scene();
    const refused = "NOPERM this user has no permissions to access one of the channels used as arguments";
    expect(asMallory("SUBSCRIBE", "__keyspace@0__:secret")).toBe(refused);
    expect(asMallory("SUBSCRIBE", "x1", "y")).toBe(refused);
    expect(asMallory("PSUBSCRIBE", "*")).toBe(refused);
    expect(asMallory("PSUBSCRIBE", "xx*")).toBe(refused);
    expect(asMallory("SSUBSCRIBE", "y")).toBe(refused);
    expect(mallory.client.subscriptions).toBe(0);
  });

  test("by staying: a deleted user is disconnected, also while blocked, and comes back as nobody", () => {
    const { engine, mallory, asAdmin, asMallory } = scene();
    mallory.run("BLPOP x-list 0");
    expect(asAdmin("ACL", "DELUSER", "mallory")).toBe(1);
    expect(mallory.closed).toBe("at once");
    expect(engine.clients.has(mallory.client.id)).toBe(false);
    asAdmin("RPUSH", "x-list", "1");
    expect(asAdmin("LLEN", "x-list")).toBe(1);
    asAdmin("ACL", "SETUSER", "default", ">pw");
    expect(asMallory("GET", "secret")).toBe("NOAUTH Authentication required.");
  });
});

test("rules of any bytes are applied or refused, and what is applied can be described and read again", () => {
  const engine = open();
  const admin = new TestClient(engine);
  const faults: unknown[] = [];
  engine.onError = (error) => faults.push(error);
  const rng = new Prng(7);
  const parts = [
    ..."()%~&+-@|#!<>*\\[]'\" \t\0\xff",
    "R",
    "W",
    "get",
    "config",
    "all",
    "on",
    "reset",
    "hash",
    "a".repeat(300),
  ];
  let applied = 0;
  for (let i = 0; i < 20_000; i++) {
    const word = () => Array.from({ length: rng.between(0, 5) }, () => rng.pick(parts)).join("");
    const rules = Array.from({ length: rng.between(1, 3) }, word);
    if (call(admin, engine, "ACL", "SETUSER", "u", ...rules) !== "OK") continue;
    applied++;
    const line = engine.acl.find("u")!.describe();
    // A pattern that has a parenthesis or a quote in it cannot stand in a line of rules.
    if (!/[()"']/.test(line)) {
      call(admin, engine, "ACL", "SETUSER", "v", "reset", ...line.split(" "));
      expect(engine.acl.find("v")!.describe().replace(" sanitize-payload", "")).toBe(
        line.replace(" sanitize-payload", ""),
      );
    }
    if (applied % 20 === 0) call(admin, engine, "ACL", "SETUSER", "u", "reset");
  }
  expect(applied).toBeGreaterThan(1000);
  expect(faults).toEqual([]);
});

describe("secrets", () => {
  test("passwords are in no list, file line, log, error or statistic", () => {
    const { engine, admin, asAdmin, asMallory } = scene();
    engine.slowLog.threshold = 0;
    const monitor = new TestClient(engine);
    monitor.run("MONITOR");
    const said: string[] = [];
    engine.log = (_level, message) => said.push(message);
    asAdmin("ACL", "SETUSER", "bob", "on", ">hunter2");
    asAdmin("ACL", "SETUSER", "bob", ">hunter2", "+nosuch");
    asAdmin("CONFIG", "SET", "requirepass", "hunter2");
    asAdmin("CONFIG", "SET", "masterauth", "hunter2");
    asMallory("AUTH", "hunter2");
    asMallory("AUTH", "bob", "hunter2");
    asMallory("HELLO", "2", "AUTH", "bob", "hunter2");
    asMallory("HELLO", "2", "AUTH", "nobody", "hunter2");
    const shown = [
      ...said,
      ...monitor.taken(),
      ...engine.slowLog.entries.map(({ argv }) => argv),
      ...engine.acl.log.entries,
      engine.acl.lines(),
      admin.call("ACL GETUSER bob"),
      admin.call("CLIENT LIST"),
      engine.info(["everything"]),
    ];
    expect(JSON.stringify(shown)).not.toContain("hunter2");
    expect(engine.slowLog.entries.length).toBeGreaterThan(5);
  });
});
