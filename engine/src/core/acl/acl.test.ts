/** Users, rules and the log of refusals by themselves. What a real server makes of them: engine/tests/conformance/acl/. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { TestClient } from "../../../tests/kit/test-client.ts";
import { ConfigError } from "../../config/config.ts";
import { parseServerArguments } from "../../config/file.ts";
import { ManualClock } from "../clock.ts";
import { Engine, type EngineOptions } from "../engine.ts";
import { OK } from "../reply.ts";
import { joinSelectors } from "./rule-words.ts";
import { userCheck } from "./user-check.ts";

const engines: Engine[] = [];

function open(options: EngineOptions = {}): Engine {
  const engine = new Engine(options);
  engines.push(engine);
  return engine;
}

afterEach(() => {
  for (const engine of engines.splice(0)) engine.stop();
});

test("words of a selector are joined, others stand for themselves", () => {
  expect(joinSelectors(["on", "(~x", "+get", "+set)", "~y", "()", "(+ping)"])).toEqual([
    "on",
    "(~x +get +set)",
    "~y",
    "()",
    "(+ping)",
  ]);
  expect(joinSelectors(["on", "(~x", "+get"])).toBe(1);
  expect(joinSelectors([])).toEqual([]);
});

describe("descriptions", () => {
  /** What ACL LIST says of a user with these rules. */
  const described = (engine: Engine, ...rules: string[]) => {
    engine.acl.set("u", ["reset", ...rules]);
    return engine.acl.find("u")!.describe();
  };

  test("say what was meant, and read back as what they describe", () => {
    const engine = open();
    const users = [
      ["on", ">pw", "~a", "%R~b", "&c", "+@all", "-@admin", "-get"],
      ["nopass", "+config|get", "+select|0", "+@hash", "(~x +set)", "(%W~y &z +@write -del)"],
      ["allkeys", "allchannels", "allcommands", "-@all", "+client", "-client|kill"],
      ["+@all", "-@all"],
      ["+@all", "-@dangerous", "+keys", "-debug", "-@scripting", "+eval"],
    ];
    for (const rules of users) {
      const text = described(engine, ...rules);
      engine.acl.set("copy", ["reset", ...text.split(" ")]);
      expect(engine.acl.find("copy")!.describe()).toBe(text);
    }
  });

  test("tell everything but some commands from a list of commands", () => {
    const engine = open();
    const every = engine.acl.catalog.commands.filter(({ parent }) => parent === null).map(({ name }) => `+${name}`);
    expect(described(engine, ...every)).toMatch(/ -@all \+@/);
    expect(described(engine, "+@all", "-get")).toMatch(/ \+@all -get$/);
  });
});

describe("changes", () => {
  test("a wrong rule changes nothing, of a new user neither", () => {
    const engine = open();
    engine.acl.set("u", ["on", "~a"]);
    const before = engine.acl.lines();
    expect(() => engine.acl.set("u", ["off", "resetkeys", "+nosuch"])).toThrow();
    expect(() => engine.acl.set("v", ["on", "(~x"])).toThrow();
    expect(engine.acl.lines()).toEqual(before);
  });

  test("reach clients that are already in", () => {
    const engine = open({ users: [["u", "on", "nopass", "~*", "+@all"]] });
    const client = new TestClient(engine);
    client.call("AUTH u x");
    expect(client.call("SET k v")).toEqual([OK]);
    engine.acl.set("u", ["-set"]);
    expect(client.call("SET k v")).toEqual([expect.objectContaining({ text: expect.stringMatching(/^NOPERM/) })]);
    engine.acl.set("u", ["+@all", "&*"]);
    expect(client.client.user.limited).toBe(false);
    expect(client.call("SET k v")).toEqual([OK]);
  });

  test("a subscriber that takes a channel away from itself is answered and then gone", () => {
    // Redis 7.0.15 crashes here.
    const engine = open({ users: [["u", "on", "nopass", "+@all", "&c"]] });
    const client = new TestClient(engine, 3);
    client.call("AUTH u x");
    client.call("SUBSCRIBE c");
    expect(client.call("ACL SETUSER u resetchannels")).toEqual([OK]);
    expect(client.closed).toBe("after replies");
    expect(engine.pubsub.channels.size).toBe(0);
  });

  test("a selector that allows everything ends all limits", () => {
    const engine = open();
    engine.acl.set("u", ["(~* &* +@all)"]);
    expect(engine.acl.find("u")!.limited).toBe(false);
    engine.acl.set("u", ["clearselectors"]);
    expect(engine.acl.find("u")!.limited).toBe(true);
  });

  test("requirepass and the default user's rules are one thing", () => {
    const engine = open({ config: { requirepass: "one" } });
    expect(engine.passwordRequired).toBe(true);
    engine.acl.set("default", ["nopass"]);
    expect(engine.passwordRequired).toBe(false);
    engine.acl.set("default", ["off"]);
    expect(engine.passwordRequired).toBe(true);
    const client = new TestClient(engine);
    expect(client.client.authenticated).toBe(false);
    engine.acl.set("default", ["on"]);
    expect(client.client.authenticated).toBe(true);
  });
});

describe("the log", () => {
  test("counts the same within a minute, and keeps what is asked for", () => {
    const clock = new ManualClock(1_000_000);
    const engine = open({ clock, config: { "acllog-max-len": "3" }, users: [["u", "on", "nopass", "+@all"]] });
    const client = new TestClient(engine);
    client.call("AUTH u x");
    const seen = () => engine.acl.log.entries.map(({ object, count, at }) => [object, count, at - 1_000_000]);
    client.call("GET a");
    clock.advance(60_000);
    client.call("GET b");
    client.call("GET a");
    expect(seen()).toEqual([
      ["a", 2, 60_000],
      ["b", 1, 60_000],
    ]);
    clock.advance(60_001);
    client.call("GET a");
    client.call("DEL c");
    expect(seen()).toEqual([
      ["c", 1, 120_001],
      ["a", 1, 120_001],
      ["a", 2, 60_000],
    ]);
    engine.acl.log.clear();
    expect(seen()).toEqual([]);
  });

  test("names who, what, how and where", () => {
    const engine = open({ users: [["u", "on", "nopass", "+@all", "-incr"]] });
    const client = new TestClient(engine);
    client.call("AUTH u x");
    client.call("MULTI");
    client.call("INCR n");
    const [entry] = engine.acl.log.entries;
    expect(entry).toMatchObject({ reason: "command", context: "multi", object: "incr", user: "u", count: 1 });
    expect(entry!.clientInfo).toMatch(/^id=\d+ addr=127\.0\.0\.1:\d+ .* cmd=incr user=u /);
  });
});

describe("files", () => {
  test("CONFIG REWRITE keeps users, and a start with that file has them again", () => {
    const folder = mkdtempSync(join(tmpdir(), "cinnabar-users-"));
    try {
      const path = join(folder, "redis.conf");
      writeFileSync(path, "# users\nuser worker on >pw ~jobs:* +@all\n");
      const start = () => {
        const { directives, users } = parseServerArguments([path], () => "", userCheck());
        const engine = open({ config: directives, users });
        engine.config.file = path;
        return engine;
      };
      const engine = start();
      engine.acl.set("worker", ["-@dangerous", "(%R~all:* +get)"]);
      engine.acl.set("other", ["nopass", "+ping"]);
      expect(new TestClient(engine).call("CONFIG REWRITE")).toEqual([OK]);
      const [byDefault, ...others] = engine.acl.lines();
      // As in Redis: a default user that a line describes begins by `reset`, which says this.
      const again = byDefault!.replace("nopass", "nopass sanitize-payload");
      expect(start().acl.lines()).toEqual([again, ...others]);
      expect(readFileSync(path, "latin1")).toMatch(/^# users\nuser default /);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("a name is looked for in dir, and what is saved is there at the next start", () => {
    const config = { dir: mkdtempSync(join(tmpdir(), "cinnabar-users-")), aclfile: "users.acl" };
    try {
      writeFileSync(join(config.dir, "users.acl"), "user default on nopass ~* &* +@all\n");
      const engine = open({ config });
      engine.acl.set("u", ["on", ">pw", "~x", "+get"]);
      engine.acl.save();
      expect(readFileSync(join(config.dir, "users.acl"), "latin1")).toContain("user u on #");
      expect(open({ config }).acl.lines()).toEqual(engine.acl.lines());
      expect(engine.acl.configLines()).toEqual([]);
    } finally {
      rmSync(config.dir, { recursive: true, force: true });
    }
  });

  test("what is wrong with users stops the start", () => {
    expect(() => new Engine({ config: { aclfile: "/nonexistent/users.acl" } })).toThrow(ConfigError);
    expect(() => new Engine({ users: [["u", "+nosuch"]] })).toThrow("Error in user declaration '+nosuch'");
    expect(() => new Engine({ users: [["u"], ["u"]] })).toThrow("Duplicate user found");
    expect(() => new Engine({ config: { aclfile: "/x" }, users: [["u"]] })).toThrow("but not both");
  });
});
