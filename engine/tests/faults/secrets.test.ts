/** Passwords, and where they must not be seen: each is sent or configured here, and everything that others can read is searched. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { Engine } from "../../src/core/engine.ts";
import { ReplyError } from "../../src/core/errors.ts";
import { TestCertificates } from "../kit/certificates.ts";
import { TestClient } from "../kit/test-client.ts";
import { PATIENCE_MS, Server, stopAll, until } from "../replication/servers.ts";

vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });

const SECRET = "hunter2";
const engines: Engine[] = [];
const certificates = new TestCertificates();

afterEach(() => {
  for (const engine of engines.splice(0)) engine.stop();
});

afterAll(async () => {
  await stopAll();
  certificates.remove();
});

/** Calls that carry a password: right ones, refused ones, and ones in which something else is wrong. */
const CALLS: readonly (readonly string[])[] = [
  ["ACL", "SETUSER", "bob", "on", `>${SECRET}`, "+@all", "~*"],
  ["ACL", "SETUSER", "bob", `>${SECRET}`, "+nosuch"],
  ["ACL", "SETUSER", "b b", `>${SECRET}`],
  ["ACL", "SETUSER", "bob", `>${SECRET}`, `<${SECRET}`, `>${SECRET}`],
  ["CONFIG", "SET", "requirepass", SECRET],
  ["CONFIG", "SET", "masterauth", SECRET, "masteruser", SECRET],
  ["CONFIG", "SET", "masterauth", SECRET, "nosuch", "1"],
  ["CONFIG", "SET", "maxmemory", "requirepass", SECRET],
  ["CONFIG", "SET", "tls-key-file-pass", SECRET],
  ["CONFIG", "SET", "tls-client-key-file-pass", SECRET],
  ["AUTH", SECRET],
  ["AUTH", "bob", SECRET],
  ["AUTH", "nobody", SECRET],
  ["AUTH", "bob", SECRET, "x"],
  ["AUTH", "a", "b", "c", SECRET],
  ["HELLO", "2", "AUTH", "bob", SECRET],
  ["HELLO", "2", "AUTH", "nobody", SECRET],
  ["HELLO", "2", "auth", "bob", SECRET, "nosuch"],
  ["HELLO", "2", "SETNAME", "me", "AUTH", "bob", SECRET],
  ["HELLO", "9", "AUTH", "bob", SECRET],
  ["HELLO", "x", "AUTH", "bob", SECRET],
  ["HELLO", "2", "nosuch", "AUTH", "bob", SECRET],
  ["HELLO", "2", "AUTH", SECRET],
  ["MIGRATE", "127.0.0.1", "1", "k", "0", "10", "AUTH", SECRET],
  ["MIGRATE", "127.0.0.1", "1", "k", "0", "10", "COPY", "AUTH2", "bob", SECRET],
  ["MIGRATE", "127.0.0.1", "1", "", "0", "10", "AUTH", SECRET, "KEYS", "k", "k2"],
  ["MIGRATE", "127.0.0.1", "1", "k", "0", "10", "nosuch", "AUTH", SECRET],
  ["MIGRATE", "127.0.0.1", "1", "k", "0", "10", "AUTH", SECRET, "nosuch"],
  ["MIGRATE", "127.0.0.1", "1", "k", "0", "10", "AUTH2", SECRET],
  ["MIGRATE", "127.0.0.1", "1", "k", "zero", "ten", "AUTH2", "bob", SECRET],
];

/** Arrays, and what is in maps and errors, as text. */
const text = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (part instanceof ReplyError ? part.text : part));

/** By lines, so that a failure shows the one that has the secret. */
const findings = (shown: string): string[] => shown.split(/\\r\\n|\n|\],?/).filter((line) => line.includes(SECRET));

function scene() {
  const engine = new Engine({ config: { "slowlog-max-len": "1000" } });
  engines.push(engine);
  engine.slowLog.threshold = 0;
  const log: string[] = [];
  engine.log = (_level, message) => log.push(message);
  const admin = new TestClient(engine);
  admin.run("SET k v");
  const monitor = new TestClient(engine);
  monitor.run("MONITOR");
  const shown = () => [
    ...log,
    ...monitor.taken(),
    ...engine.slowLog.entries.map(({ argv }) => argv),
    ...engine.acl.log.entries,
    ...admin.call("ACL LOG"),
    ...admin.call("ACL LIST"),
    ...admin.call("ACL GETUSER bob"),
    ...admin.call("CLIENT LIST"),
    engine.info(["everything"]),
  ];
  return { engine, admin, shown };
}

describe.each([
  ["alone", (words: readonly string[]) => [words]],
  ["in a transaction", (words: readonly string[]) => [["MULTI"], words, ["EXEC"]]],
])("%s", (_, around) => {
  test.each(CALLS.map((words) => [words.join(" "), words] as const))("%s is shown to nobody", (_line, words) => {
    const { engine, shown } = scene();
    // MIGRATE may wait for its target: everybody else must not see it meanwhile either.
    const caller = new TestClient(engine);
    for (const call of around(words)) {
      const before = engine.slowLog.entries.length;
      const reply = engine.execute(caller.client, call);
      expect(findings(text(reply) ?? "")).toEqual([]);
      const isLogged = call === words ? engine.slowLog.entries.length > before : true;
      // Otherwise nothing would be tried here.
      if (around(words).length === 1 && call[0] !== "MIGRATE") expect(isLogged).toBe(true);
    }
    expect(findings(text(shown()))).toEqual([]);
  });
});

test("what hides a password leaves the rest of a call to be read", () => {
  const { engine, admin } = scene();
  const last = (...words: string[]) => {
    engine.execute(admin.client, words);
    return engine.slowLog.entries[0]!.argv.join(" ");
  };
  expect(last("CONFIG", "SET", "maxmemory", "0", "masterauth", "x")).toBe(
    "CONFIG SET maxmemory 0 masterauth (redacted)",
  );
  expect(last("HELLO", "2", "AUTH", "a", "b", "SETNAME", "me")).toBe("HELLO 2 AUTH (redacted) (redacted) SETNAME me");
  expect(last("MIGRATE", "h", "1", "", "0", "1", "COPY", "AUTH", "KEYS", "KEYS", "auth", "no")).toBe(
    "MIGRATE h 1 '' 0 1 COPY AUTH (redacted) KEYS auth no".replace("''", ""),
  );
});

test("a server's log, command line, INFO and rewritten redis.conf: only the lines that set a password have it", async () => {
  const { key } = certificates.authority.issue({ name: "server", hosts: ["127.0.0.1"], passphrase: SECRET });
  const file = certificates.folder.write("secret.key", key);
  const server = await Server.start("ours", {
    "slowlog-log-slower-than": "0",
    "slowlog-max-len": "1000",
    loglevel: "debug",
    masterauth: `${SECRET}-primary`,
    // A primary that cannot be reached, again and again.
    replicaof: "127.0.0.1 1",
  });
  const wire = await server.wire();
  const answers: string[] = [];
  const call = async (...words: string[]) => answers.push(JSON.stringify(await wire.call(...words)));
  await call("CONFIG", "SET", "requirepass", SECRET);
  await call("CONFIG", "SET", "tls-key-file-pass", `${SECRET}-wrong`, "tls-key-file", file);
  await call(
    "CONFIG",
    "SET",
    "tls-cert-file",
    file,
    "tls-key-file",
    file,
    "tls-key-file-pass",
    `${SECRET}-wrong`,
    "tls-port",
    "1",
  );
  await call("CONFIG", "SET", "tls-key-file-pass", SECRET);
  await call("ACL", "SETUSER", "bob", "on", `>${SECRET}-bob`, "+@all");
  for (const words of CALLS.filter(([name]) => name !== "CONFIG")) await call(...words);
  await call("CONFIG", "REWRITE");
  expect(answers.at(-1)).toContain("OK");
  await until(
    "the link was tried",
    () => server.log.includes("MASTER <-> REPLICA sync started") || server.log.includes("Connecting to MASTER"),
  );
  for (const words of [
    ["INFO", "everything"],
    ["CLIENT", "LIST"],
    ["ACL", "LIST"],
    ["ACL", "LOG"],
    ["SLOWLOG", "GET", "-1"],
  ])
    await call(...words);
  expect(findings(answers.join("\n"))).toEqual([]);
  expect(findings(server.log)).toEqual([]);
  if (process.platform === "linux") expect(readFileSync(`/proc/${server.pid}/cmdline`, "latin1")).not.toContain(SECRET);
  const lines = readFileSync(join(server.folder, "server.conf"), "latin1").split("\n");
  const names = lines.filter((line) => line.includes(SECRET)).map((line) => line.split(" ")[0]);
  expect(names.toSorted()).toEqual(["masterauth", "requirepass", "tls-key-file-pass"]);
  await wire.close();
  await server.stop();
});

test("a server that does not start for a user's line does not show the password in it", async () => {
  for (const rule of [`<${SECRET}`, `>${SECRET} +nosuch`, `">${SECRET} x" !${SECRET}`]) {
    const failed = await Server.start("ours", { user: `bob on ${rule}` }).then(
      () => "",
      (error: Error) => error.message,
    );
    expect(failed).toMatch(/Error in user declaration '[^']*'/);
    expect(failed).not.toContain(SECRET);
  }
});
