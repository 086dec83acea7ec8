/** The `cinnabar` command, as a user types it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { open } from "cinnabar";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { nodeWords } from "../../scripts/program.ts";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { readArguments } from "../src/commands/flags.ts";
import { readOptions, START_FLAGS, UsageError, withoutCredentials } from "../src/options.ts";
import { temporaryFolder } from "./support.ts";

const BIN = fileURLToPath(new URL("../src/bin.ts", import.meta.url));
const folder = temporaryFolder();
const running = new Set<ChildProcess>();

class Command {
  readonly child: ChildProcess;
  out = "";
  err = "";

  constructor(...args: string[]) {
    const env = { ...process.env, CINNABAR_PASSWORD: undefined };
    this.child = spawn(process.execPath, [...nodeWords(BIN), ...args], {
      cwd: folder.path,
      env,
    });
    running.add(this.child);
    this.child.stdout!.on("data", (chunk) => {
      this.out += chunk;
    });
    this.child.stderr!.on("data", (chunk) => {
      this.err += chunk;
    });
    this.child.once("exit", () => running.delete(this.child));
  }

  /** Resolves with the match once the output has it. */
  async says(what: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = what.exec(this.out);
      if (match !== null) return match;
      if (this.child.exitCode !== null) throw new Error(`ended without saying ${what}: ${this.out}${this.err}`);
      await Promise.race([once(this.child.stdout!, "data"), once(this.child, "exit")]);
    }
  }

  async ended(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "close");
    return this.child.exitCode;
  }
}

afterEach(async () => {
  for (const child of running) child.kill("SIGKILL");
});
afterAll(() => folder.remove());

describe("options", () => {
  const read = (...argv: string[]) => readOptions(readArguments(argv, START_FLAGS), {});

  test("have sensible defaults", () => {
    const usual = {
      dir: "./data",
      url: undefined,
      host: "127.0.0.1",
      password: undefined,
      port: undefined,
      httpPort: undefined,
      readOnly: false,
      examples: true,
      users: undefined,
      connections: new Map(),
      allowConnections: false,
      auditLog: undefined,
      trustProxy: false,
    };
    expect(read()).toEqual(usual);
    expect(read("--read-only")).toEqual({ ...usual, readOnly: true });
    expect(read("--memory")).toMatchObject({ dir: undefined });
    expect(read("--url", "redis://h:1")).toMatchObject({ dir: undefined, url: "redis://h:1" });
    const open = readArguments(["--host", "0.0.0.0"], START_FLAGS);
    expect(readOptions(open, { CINNABAR_PASSWORD: "p" })).toMatchObject({ password: "p" });
  });

  test.each([
    [["--port", "x"], "--port takes a number from 0 to 65535, not 'x'"],
    [["--http-port", "70000"], "--http-port takes a number from 0 to 65535, not '70000'"],
    [["--host", "0.0.0.0"], "--host 0.0.0.0 opens the store to other machines: give a --password"],
    [["--host", "127.evil.example"], "--host 127.evil.example opens the store to other machines: give a --password"],
    [["--memory", "--dir", "d"], "--memory keeps nothing on disk: leave --dir out"],
    [["--url", "localhost:6379"], "--url takes a URL such as redis://127.0.0.1:6379, not 'localhost:6379'"],
    [["--url", "redis://h", "--dir", "d"], "--url shows another store: leave --dir, --memory and --port out"],
    [["--nonsense"], "unknown option '--nonsense'"],
    [["--http-prot", "1"], "unknown option '--http-prot'; did you mean '--http-port'?"],
    [["stop"], "start takes no 'stop'"],
    [["--password", ""], "the password is empty"],
  ])("%j is refused in words", (argv, text) => {
    expect(() => read(...argv)).toThrow(new UsageError(text));
  });

  test("credentials come from files and the environment, too", () => {
    const folder = temporaryFolder();
    const secret = (name: string, text: string, mode = 0o600) => {
      const path = join(folder.path, name);
      writeFileSync(path, text, { mode });
      return path;
    };
    const url = secret("url", "redis://u:p@h:1\n");
    const password = secret("password", "from a file\n");
    const others = secret("others", '{ "staging": "redis://h:2" }');
    expect(read("--url-file", url)).toMatchObject({ url: "redis://u:p@h:1", examples: false });
    expect(read("--url-file", url, "--examples")).toMatchObject({ examples: true });
    expect(read("--no-examples")).toMatchObject({ examples: false });
    expect(read("--password-file", password)).toMatchObject({ password: "from a file" });
    expect(read("--connections", others).connections).toEqual(new Map([["staging", "redis://h:2"]]));
    const env = { CINNABAR_URL: "redis://h:3" };
    expect(readOptions(readArguments([], START_FLAGS), env)).toMatchObject({ url: "redis://h:3", dir: undefined });
    expect(readOptions(readArguments(["--memory"], START_FLAGS), env)).toMatchObject({ url: undefined });
    expect(() => read("--password-file", password, "--password", "p")).toThrow("not both");
    expect(() => read("--password-file", secret("open", "p", 0o644))).toThrow("chmod 600");
    expect(() => read("--connections", secret("odd", "[secret"))).toThrow(/is no JSON$/);
    expect(() => read("--password-file", join(folder.path, "none"))).toThrow("--password-file");
    folder.remove();
  });

  test("credentials of a URL are not shown", () => {
    expect(withoutCredentials("redis://user:secret@h1,h2/0")).toBe("redis://h1,h2/0");
  });
});

test("opens the store and the console, and keeps the data over Ctrl-C", async () => {
  const first = new Command("--dir", "d", "--port", "0", "--http-port", "0");
  const [, port] = await first.says(/Store +redis:\/\/127\.0\.0\.1:(\d+)/);
  const [, page] = await first.says(/Console +(http:\/\/127\.0\.0\.1:\d+)/);
  await first.says(/Stop +Ctrl-C/);
  const info = (await (await fetch(`${page}/api/info`)).json()) as { topology: string };
  expect(info.topology).toBe("embedded");
  const client = await open(`redis://127.0.0.1:${port}`);
  await client.call("SET", "kept", "yes");
  await client.close();
  // A page that listens to live figures must not hold the stop up.
  const stream = await fetch(`${page}/api/live`);
  expect(stream.ok).toBe(true);
  first.child.kill("SIGINT");
  expect(await first.ended()).toBe(0);
  expect(first.out).toContain("Stopping.");

  const second = new Command("--dir", "d", "--port", "0", "--http-port", "0");
  const [, again] = await second.says(/Store +redis:\/\/127\.0\.0\.1:(\d+)/);
  const reader = await open(`redis://127.0.0.1:${again}`);
  expect(await reader.call("GET", "kept")).toBe("yes");
  await reader.close();
  const taken = new Command("--memory", "--port", again!, "--http-port", "0");
  expect(await taken.ended()).toBe(1);
  expect(taken.err).toContain(`port ${again} is taken; choose another with --port`);
  second.child.kill("SIGTERM");
  expect(await second.ended()).toBe(0);
});

test("takes the next free ports and says so", async () => {
  const first = new Command("--memory");
  await first.says(/Stop/);
  const second = new Command("--memory", "--password", "secret");
  await second.says(/Stop/);
  expect(second.out).toMatch(/Port 8080 is taken; the console uses 80\d\d\./);
  expect(second.out).toMatch(/Port 6379 is taken; the store uses 6\d\d\d\./);
  const [, page] = await second.says(/Console +(http:\/\/127\.0\.0\.1:\d+)/);
  expect((await fetch(`${page}/api/info`)).status).toBe(401);
  const login = await fetch(`${page}/api/login`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-cinnabar": "1" },
    body: JSON.stringify({ password: "secret" }),
  });
  const cookie = login.headers.get("set-cookie")!.split(";")[0]!;
  expect((await fetch(`${page}/api/keys`, { headers: { cookie } })).status).toBe(200);
  for (const { child } of [first, second]) child.kill("SIGINT");
  expect(await Promise.all([first.ended(), second.ended()])).toEqual([0, 0]);
});

test.runIf(installed("redis-server"))("shows a store elsewhere, and tells when there is none", async () => {
  const redis = await startRedis();
  try {
    const command = new Command("--url", redis.url, "--http-port", "0");
    const [, page] = await command.says(/Console +(http:\/\/127\.0\.0\.1:\d+)/);
    await command.says(/Stop/);
    expect(((await (await fetch(`${page}/api/info`)).json()) as { topology: string }).topology).toBe("single");
    command.child.kill("SIGINT");
    expect(await command.ended()).toBe(0);
  } finally {
    await redis.stop();
  }
  const none = new Command("--url", "nonsense://127.0.0.1:1", "--http-port", "0");
  expect(await none.ended()).toBe(1);
  expect(none.err).toContain("cinnabar: no store is at 'nonsense://' (known: redis, ");
});

test("prints its help and its version", async () => {
  const [help, version] = [new Command("--help"), new Command("--version")];
  expect(await help.ended()).toBe(0);
  for (const option of ["--url", "--dir", "--memory", "--port", "--http-port", "--host", "--password"])
    expect(help.out).toContain(option);
  expect(await version.ended()).toBe(0);
  expect(version.out).toMatch(/^\d+\.\d+\.\d+\n$/);
});
