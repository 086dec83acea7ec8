/** Users who try to do more than they may: by guessing, and by every command that runs others. The table is in README.md. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { AclLog } from "../../src/core/acl/log.ts";
import { LEAST_COMPARISONS, User } from "../../src/core/acl/user.ts";
import { Engine, type EngineOptions } from "../../src/core/engine.ts";
import { ReplyError } from "../../src/core/errors.ts";
import type { Reply } from "../../src/core/reply.ts";
import { Engine as EmbeddedEngine } from "../../src/index.ts";
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

  test.each([
    ["AUTH", (name: string) => ["AUTH", name, "wrong"]],
    ["HELLO", (name: string) => ["HELLO", "3", "AUTH", name, "wrong"]],
  ])("%s computes as much for every name, and for any number of passwords", (_, attempt) => {
    const some = (count: number) => Array.from({ length: count }, (_, i) => `>right${i}`);
    const engine = open({
      users: [
        ["none", "on"],
        ["off", ">right"],
        ["one", "on", ...some(1)],
        ["three", "on", ...some(3)],
        ["eight", "on", ...some(LEAST_COMPARISONS)],
        ["open", "on", "nopass"],
        ["nine", "on", ...some(LEAST_COMPARISONS + 1)],
      ],
    });
    const client = new TestClient(engine);
    const compared = vi.spyOn(User, "isSameDigest");
    const comparisons = (name: string) => {
      compared.mockClear();
      const answer = call(client, engine, ...attempt(name));
      if (name !== "open") expect(answer).toBe(WRONGPASS);
      // None is left out because the others already differ, and each is over the whole digest.
      for (const [one, other] of compared.mock.calls) expect([one.length, other.length]).toEqual([32, 32]);
      return compared.mock.calls.length;
    };
    for (const name of ["nobody", "none", "off", "one", "three", "eight", "open"]) {
      expect([name, comparisons(name)]).toEqual([name, LEAST_COMPARISONS]);
    }
    // Redis and we compare all that there are: only a user with more than these takes longer.
    expect(comparisons("nine")).toBe(LEAST_COMPARISONS + 1);
    // The right one among others takes no less.
    compared.mockClear();
    expect(call(client, engine, "AUTH", "three", "right0")).toBe("OK");
    expect(compared).toHaveBeenCalledTimes(LEAST_COMPARISONS);
  });

  test("what stands for missing passwords opens nothing", () => {
    const engine = open({ users: [["none", "on"]] });
    expect(engine.acl.find("none")!.hasPassword("0".repeat(64))).toBe(false);
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

/** What one dangerous permission is worth to a user who has no other but for keys x*. docs/engine.md has the same list in words. */
describe("a user with one dangerous permission", () => {
  const REFUSED = [
    ["GET", "secret"],
    ["SET", "secret", "theirs"],
    ["ACL", "SETUSER", "mallory", "+@all"],
    ["CONFIG", "GET", "requirepass"],
    ["CONFIG", "SET", "dir", "/tmp"],
    ["CONFIG", "SET", "requirepass", "mine"],
    ["REPLICAOF", "127.0.0.1", "1"],
    ["DEBUG", "RELOAD"],
    ["FUNCTION", "LOAD", "x"],
    ["MODULE", "LOAD", "/m.so"],
    ["MIGRATE", "127.0.0.1", "1", "secret", "0", "10"],
  ];
  const only = (...permissions: string[]) => scene(["~x*", "-@all", ...permissions.map((name) => `+${name}`)]);

  test.each([
    ["config|set", 2],
    ["config|get", 1],
    ["replicaof", 1],
    ["debug", 1],
    ["migrate", 0],
    ["acl|list", 0],
    ["acl|getuser", 0],
    ["module", 1],
    ["function|load", 1],
    ["monitor", 0],
  ])("+%s opens no other command, and no other key", (permission, own) => {
    const { asMallory } = only(permission);
    const isOwn = (words: readonly string[]) =>
      [words[0], words.slice(0, 2).join("|")].some((name) => name!.toLowerCase() === permission);
    const others = REFUSED.filter((words) => words.includes("secret") || !isOwn(words));
    for (const words of others) expect([words, asMallory(...words)]).toEqual([words, expect.stringMatching(/^NOPERM/)]);
    expect(REFUSED.length - others.length).toBe(own);
  });

  test("+config|set writes no file elsewhere and cannot unlock what is locked", () => {
    const { asMallory } = only("config|set");
    for (const name of ["dir", "dbfilename"])
      expect(asMallory("CONFIG", "SET", name, "x")).toMatch(/can't set protected config/);
    for (const name of ["aclfile", "enable-protected-configs", "enable-debug-command", "enable-module-command"]) {
      expect(asMallory("CONFIG", "SET", name, "yes")).toMatch(/can't set immutable config/);
    }
  });

  test("+config|set becomes the user default, by a password of its own choice, unless that is off", () => {
    const { asAdmin, asMallory } = only("config|set");
    expect(asMallory("CONFIG", "SET", "requirepass", "mine")).toBe("OK");
    expect(asMallory("AUTH", "mine")).toBe("OK");
    expect(asMallory("GET", "secret")).toBe("value");
    asAdmin("ACL", "SETUSER", "default", "off");
    asMallory("AUTH", "mallory", "guess");
    expect(asMallory("CONFIG", "SET", "requirepass", "again")).toBe("OK");
    expect(asMallory("AUTH", "again")).toBe(WRONGPASS);
  });

  test("+config|get reads the passwords that the configuration has", () => {
    const { asAdmin, asMallory } = only("config|get");
    asAdmin("CONFIG", "SET", "requirepass", "plain", "masterauth", "too");
    expect(JSON.stringify(asMallory("CONFIG", "GET", "*auth"))).toContain("too");
    expect(JSON.stringify(asMallory("CONFIG", "GET", "requirepass"))).toContain("plain");
  });

  test("+debug does nothing until the server allows DEBUG, and does not ask for keys then", () => {
    const { asMallory } = only("debug");
    expect(asMallory("DEBUG", "OBJECT", "secret")).toMatch(/^ERR DEBUG command not allowed/);
    const engine = open({ config: { "enable-debug-command": "yes" }, users: [["mallory", "on", "nopass", "+debug"]] });
    const [admin, mallory] = [new TestClient(engine), new TestClient(engine)];
    call(admin, engine, "SET", "secret", "value");
    call(mallory, engine, "AUTH", "mallory", "");
    expect(String(call(mallory, engine, "DEBUG", "OBJECT", "secret"))).toContain("encoding:embstr");
    expect(call(mallory, engine, "GET", "secret")).toBe(command("get"));
  });

  test("+acl|setuser is everything", () => {
    const { asMallory } = only("acl|setuser");
    expect(asMallory("ACL", "SETUSER", "mallory", "+@all", "~*")).toBe("OK");
    expect(asMallory("GET", "secret")).toBe("value");
  });

  test("+module loads nothing, since there are no modules", () => {
    expect(only("module").asMallory("MODULE", "LOAD", "/m.so")).toMatch(/^ERR /);
    expect(only("module").asMallory("MODULE", "LOADEX", "/m.so")).toMatch(/^ERR /);
  });

  test("+function|load puts code where others call it: it runs with the rights of its caller", () => {
    const { asAdmin, asMallory } = only("function|load", "fcall");
    const library = (body: string) => `#!lua name=lib\nredis.register_function('report', function() ${body} end)`;
    expect(asAdmin("FUNCTION", "LOAD", library("return 'all is well'"))).toBe("lib");
    expect(
      asMallory("FUNCTION", "LOAD", "REPLACE", library("return redis.call('SET', 'x', redis.call('GET', 'secret'))")),
    ).toBe("lib");
    expect(asMallory("FCALL", "report", "0")).toMatch(/can't run this command|can't access/);
    expect(asAdmin("FCALL", "report", "0")).toBe("OK");
    expect(asAdmin("GET", "x")).toBe("value");
  });

  test("+migrate reaches any address, with its own keys only", async () => {
    const dialled: string[] = [];
    const { engine, asMallory } = only("migrate");
    engine.onError = () => {};
    engine.dial = (host, port) => {
      dialled.push(`${host}:${port}`);
      throw new Error("not in this test");
    };
    expect(asMallory("MIGRATE", "10.0.0.1", "25", "secret", "0", "10")).toBe(KEY);
    expect(dialled).toEqual([]);
    asMallory("MIGRATE", "10.0.0.1", "25", "x", "0", "10");
    expect(dialled).toEqual(["10.0.0.1:25"]);
  });

  test("+replicaof obeys whatever the chosen primary sends, rules for users included", async () => {
    const primary = await startFalsePrimary([
      ["ACL", "SETUSER", "mallory", "+@all", "~*"],
      ["SET", "theirs", "1"],
    ]);
    const engine = await EmbeddedEngine.open({ users: [["mallory", "on", "nopass", "+replicaof"]] });
    try {
      await engine.connect().call("SET", "mine", "1");
      const mallory = engine.connect({ user: "mallory" });
      await expect(mallory.call("KEYS", "*")).rejects.toThrow("NOPERM");
      await mallory.call("REPLICAOF", "127.0.0.1", String(primary.port));
      await expect.poll(() => mallory.call("KEYS", "*").catch(() => null)).toEqual(["theirs"]);
    } finally {
      await engine.close();
      await primary.close();
    }
  });
});

/** Takes a replica, gives it an empty snapshot, and then these commands. */
async function startFalsePrimary(
  commands: readonly (readonly string[])[],
): Promise<{ port: number; close(): Promise<void> }> {
  const encoded = (words: readonly string[]) =>
    `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;
  const snapshot = `REDIS0010\xff${"\0".repeat(8)}`;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => {
      const text = data.toString("latin1").toUpperCase();
      if (text.includes("$5\r\nPSYNC")) {
        socket.write(`+FULLRESYNC ${"a".repeat(40)} 0\r\n$${snapshot.length}\r\n${snapshot}`, "latin1");
        socket.write(commands.map(encoded).join(""), "latin1");
      } else if (text.includes("PING")) socket.write("+PONG\r\n");
      else for (const _ of text.matchAll(/\*\d+\r\n\$8\r\nREPLCONF\r\n\$\d+\r\n(?!ACK)/g)) socket.write("+OK\r\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

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
