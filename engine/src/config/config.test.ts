/** Configuration without a real server: reading, changing, refusing, rewriting. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { TestClient } from "../../tests/kit/test-client.ts";
import { userCheck } from "../core/acl/user-check.ts";
import { Engine } from "../core/engine.ts";
import { OK } from "../core/reply.ts";
import { REDIS_VERSION, VERSION } from "../core/version.ts";
import { Config, ConfigError } from "./config.ts";
import { ConfigFileError, parseConfigText, parseServerArguments } from "./file.ts";
import { BadValue } from "./kinds.ts";
import { rewriteConfigFile, rewrittenConfig } from "./rewrite.ts";

const folder = mkdtempSync(join(tmpdir(), "cinnabar-config-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

test("our version is the package's", () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(VERSION).toBe(version);
});

describe("reading", () => {
  test("comments, case, quotes and repeated lines", () => {
    const text = `# comment
      MaxMemory 10mb
      requirepass "with \\"quotes\\" and \\x41"
      save 900 1
      save 300 10
      client-output-buffer-limit normal 1 2 3
      client-output-buffer-limit replica 4 5 6
      slave-priority 7`;
    expect(parseConfigText(text)).toEqual({
      maxmemory: "10mb",
      requirepass: 'with "quotes" and A',
      save: "900 1 300 10",
      "client-output-buffer-limit": "normal 1 2 3 replica 4 5 6",
      "replica-priority": "7",
    });
  });

  test("an empty save line forgets the lines before it", () => {
    expect(parseConfigText('save 900 1\nsave ""')).toEqual({ save: "" });
    expect(parseConfigText('save ""\nsave 900 1')).toEqual({ save: "900 1" });
  });

  test("include reads another file at that point, wildcards several", () => {
    file("a.inc", "maxmemory 1\ndatabases 3");
    file("b.inc", "maxmemory 2");
    const main = file("main.conf", `maxmemory 0\ninclude ${folder}/*.inc\nhz 20`);
    expect(parseServerArguments([main])).toEqual({
      file: main,
      directives: { maxmemory: "2", databases: "3", hz: "20" },
      renamedCommands: [],
      users: [],
    });
    expect(() => parseConfigText(`include ${folder}/none.conf`)).toThrow(ConfigFileError);
    expect(parseConfigText(`include ${folder}/none*.conf`)).toEqual({});
  });

  test("flags come behind the file, standard input between", () => {
    const main = file("flags.conf", "port 1\nhz 20\n");
    const read = (...argv: string[]) => parseServerArguments(argv, () => "timeout 5\nport 2\n").directives;
    expect(read(main, "--port", "7777", "--save", "", "--appendonly", "yes")).toEqual({
      port: "7777",
      hz: "20",
      save: "",
      appendonly: "yes",
    });
    expect(read("-", "--hz", "30")).toEqual({ timeout: "5", port: "2", hz: "30" });
    expect(read(main, "--hz", "30", "-")).toEqual({ timeout: "5", port: "2", hz: "30" });
    expect(read("--save", "900", "1", "--port 5")).toEqual({ save: "900 1", port: "5" });
    expect(parseServerArguments([])).toEqual({ file: undefined, directives: {}, renamedCommands: [], users: [] });
  });

  test("a wrong line is named with its number", () => {
    const wrong = () => parseConfigText("port 1\n# two\nmaxmemory x");
    expect(wrong).toThrow(
      `*** FATAL CONFIG FILE ERROR (Redis ${REDIS_VERSION}) ***\nReading the configuration file, at line 3\n>>> 'maxmemory x'\nargument must be a memory value`,
    );
  });

  test("what would silently weaken a server is refused", () => {
    expect(() => parseConfigText("loadmodule /m.so")).toThrow("modules are not available");
    expect(() => parseConfigText("syslog-enabled yes")).toThrow(
      ">>> 'syslog-enabled yes'\n'syslog-enabled' cannot be put into force: syslog",
    );
  });

  test("users are read word by word, and a wrong rule is named with its line", () => {
    const main = file("users.conf", 'port 1\nuser alice on ">p w" (~x +get) (~y\t+set)\nuser default off');
    const { users } = parseServerArguments([main], () => "", userCheck());
    expect(users).toEqual([
      ["alice", "on", ">p w", "(~x", "+get)", "(~y", "+set)"],
      ["default", "off"],
    ]);
    const read = (text: string) => () => parseServerArguments([file("wrong.conf", text)], () => "", userCheck());
    const at = (line: string) => `>>> '${line}'\nError in user declaration`;
    expect(read("user a on\nuser b +nosuch")).toThrow(
      `at line 2\n${at("user b +nosuch")} '+nosuch': Unknown command or category name in ACL`,
    );
    expect(read("user a on\nuser a off")).toThrow(`${at("user a off")} 'a': Duplicate user found`);
    expect(read("user a (~x")).toThrow(`${at("user a (~x")} '(~x'`);
    expect(read('user a >one ">t w\\"o" <three on #four +nosuch')).toThrow(
      at("user a >(redacted) >(redacted) <(redacted) on #(redacted) +nosuch"),
    );
    expect(read("requirepass one two")).toThrow(">>> 'requirepass (redacted)'\nwrong number of arguments");
    expect(read("user")).toThrow("Bad directive or wrong number of arguments");
  });

  test("CONFIG REWRITE writes users where they stood, and the others at the end", () => {
    const old = "user a on\nport 1\nuser gone on\n";
    const rewritten = (users: string[], text = old) =>
      rewrittenConfig(text, new Config({ port: "1", save: "" }), { users })
        .split("\n")
        .filter((line) => line !== "");
    expect(rewritten(["user a off", "user default on"]).slice(0, 3)).toEqual([
      "user a off",
      "port 1",
      "user default on",
    ]);
    expect(rewritten(["user a off"], "port 1").at(-1)).toBe("user a off");
    expect(rewritten([]).filter((line) => line.startsWith("user"))).toEqual([]);
  });

  test("commands are renamed and removed", () => {
    const main = file("renames.conf", 'rename-command CONFIG ""\nrename-command flushdb badger\n');
    const { renamedCommands } = parseServerArguments([main]);
    const engine = new Engine({ renamedCommands });
    const client = new TestClient(engine);
    const unknown = (name: string) => [{ text: expect.stringContaining(`unknown command '${name}'`) }];
    expect(client.call("CONFIG GET port")).toMatchObject(unknown("CONFIG"));
    expect(client.call("FLUSHDB")).toMatchObject(unknown("FLUSHDB"));
    expect(client.call("EVAL return(redis.pcall('FLUSHDB')) 0")).toMatchObject([
      { text: expect.stringContaining("Unknown Redis command") },
    ]);
    expect(client.call("SET k v")).toEqual([OK]);
    expect(client.call("BADGER")).toEqual([OK]);
    expect(client.call("DBSIZE")).toEqual([0]);
    engine.stop();
    expect(() => new Engine({ renamedCommands: [["nosuch", "x"]] })).toThrow("No such command in rename-command");
    expect(() => new Engine({ renamedCommands: [["get", "set"]] })).toThrow("Target command name already exists");
  });

  test("an embedder's options are checked too", () => {
    expect(() => new Config({ nosuch: "1" })).toThrow(ConfigError);
    expect(() => new Config({ hz: "x" })).toThrow("hz: argument couldn't be parsed into an integer");
    expect(new Config({ "hash-max-ziplist-entries": "7" }).limits.hashMaxListpackEntries).toBe(7);
    expect(() => new Engine({ config: { activedefrag: "yes" } })).toThrow(ConfigError);
  });
});

describe("changing", () => {
  const privileged = () => true;

  test("a listener may refuse, and then nothing has changed", () => {
    const config = new Config();
    const seen: number[] = [];
    config.onChange(["port"], () => {
      seen.push(config.values.port);
      if (config.values.port === 80) throw new BadValue("Unable to listen on this port. Check server logs.");
    });
    expect(config.set([["port", "7000"]], privileged)).toBeUndefined();
    const both: [string, string][] = [
      ["hz", "50"],
      ["port", "80"],
    ];
    expect(config.set(both, privileged)).toEqual({
      name: "port",
      text: "Unable to listen on this port. Check server logs.",
    });
    expect(config.values).toMatchObject({ port: 7000, hz: 10 });
    expect(seen).toEqual([7000, 80]);
  });

  test("protected ones need permission", () => {
    const config = new Config();
    const before = config.values.dir;
    expect(config.set([["dir", folder]], () => false)).toEqual({ name: "dir", text: "can't set protected config" });
    expect(config.values.dir).toBe(before);
    expect(config.set([["dir", folder]], privileged)).toBeUndefined();
    expect(config.values.dir).toBe(folder);
    expect(config.set([["dir", join(folder, "none")]], privileged)?.text).toBe("No such file or directory");
  });
});

describe("rewriting", () => {
  test("keeps comments and order, replaces in place, adds at the end", () => {
    const old = '# mine\nport 7000\n\n\n# memory\nmaxmemory 1mb\nsave 900 1\nsave 300 10\nbroken "line\n';
    const config = new Config({ ...parseConfigText("port 7000\nmaxmemory 1mb\nsave 900 1"), hz: "20" });
    expect(rewrittenConfig(old, config)).toBe(
      '# mine\nport 7000\n\n# memory\nmaxmemory 1mb\nsave 900 1\n\n# ??? broken "line\n\n# Generated by CONFIG REWRITE\nhz 20\n',
    );
  });

  test("replaces the file in one step, and makes it where there is none", () => {
    const path = join(folder, "new.conf");
    rewriteConfigFile(path, new Config({ port: "7001", save: "" }));
    expect(readFileSync(path, "utf8")).toContain("port 7001\n");
    expect(parseServerArguments([path]).directives).toMatchObject({ port: "7001", save: "" });
  });
});
