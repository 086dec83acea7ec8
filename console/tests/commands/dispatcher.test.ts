/** Help, mistyped names, completion, and the server as a subcommand. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { open } from "cinnabar";
import { describe, expect, test } from "vitest";
import { freePort, installed } from "../../../toolkit/tests/kit/servers.ts";
import { COMMANDS } from "../../src/commands/index.ts";
import { temporaryFolder } from "../support.ts";
import { cinnabar, startCinnabar } from "./kit.ts";

describe("help", () => {
  test("lists every command", async () => {
    const { code, out } = await cinnabar(["--help"]);
    expect(code).toBe(0);
    for (const { name, summary } of COMMANDS)
      expect(out).toMatch(new RegExp(`^  ${name} +${summary.slice(0, 20)}`, "m"));
    expect(await cinnabar(["help"])).toEqual({ code: 0, out, err: "" });
  });

  test.each(COMMANDS.map(({ name }) => name))("of %s has its usage and every flag", async (name) => {
    const { flags } = COMMANDS.find((each) => each.name === name)!;
    const { code, out } = await cinnabar([name, "--help"]);
    expect(code).toBe(0);
    expect(out).toContain(`Usage: cinnabar ${name}`);
    for (const flag of flags) expect(out).toContain(`--${flag.name}`);
    expect((await cinnabar(["help", name])).out).toBe(out);
  });
});

describe("a mistyped", () => {
  test.each([
    [["sevrer"], "unknown command 'sevrer'; did you mean 'server'?"],
    [["zzz"], "unknown command 'zzz' (commands: start, server,"],
    [["start", "--memroy"], "unknown option '--memroy'; did you mean '--memory'?"],
    [["completion", "bsh"], "there is no completion for 'bsh'; did you mean 'bash'?"],
    [["completion"], "name one shell: bash, zsh or fish"],
    [["backup"], "say what to do: cinnabar backup take|list|verify|restore"],
    [["doctor", "db:main"], "'db:main' is neither a folder nor a URL"],
    [["start", "--port"], "--port needs a value: --port N"],
    [["start", "--memory=yes"], "--memory takes no value"],
  ])("%j names the nearest", async (argv, text) => {
    const { code, out, err } = await cinnabar(argv);
    expect(code).toBe(1);
    expect(out).toBe("");
    expect(err).toContain(text);
    expect(err).toMatch(/Try `cinnabar( \w+)? --help`\.\n$/);
  });
});

describe("completion", () => {
  const script = async (shell: string): Promise<string> => (await cinnabar(["completion", shell])).out;

  /** What bash itself would offer for these words, the last of which is unfinished. */
  async function offered(...words: string[]): Promise<string[]> {
    const list = words.map((word) => `'${word}'`).join(" ");
    const ask = `COMP_WORDS=(${list}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _cinnabar; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const run = spawnSync("bash", ["-c", `${await script("bash")}\n${ask}`], { encoding: "utf8" });
    expect(run.stderr).toBe("");
    return run.stdout.split("\n").filter((each) => each !== "");
  }

  test("of bash offers commands, flags and words", async () => {
    expect(await offered("cinnabar", "ser")).toEqual(["server"]);
    expect(await offered("cinnabar", "start", "--mem")).toEqual(["--memory"]);
    expect(await offered("cinnabar", "completion", "f")).toEqual(["fish"]);
    expect(await offered("cinnabar", "start", "--port", "")).toEqual([]);
    expect(await offered("cinnabar", "bench", "--workload", "s")).toEqual(["set", "script"]);
    expect(await offered("cinnabar", "bench", "-w", "s")).toEqual(["set", "script"]);
    // A shell cuts at the sign.
    expect(await offered("cinnabar", "bench", "--workload", "=", "s")).toEqual(["set", "script"]);
    expect(await offered("cinnabar", "bench", "--workload", "=")).toContain("queue");
    expect(await offered("cinnabar", "help", "ba")).toEqual(["backup"]);
    expect(await offered("cinnabar", "--mem")).toEqual(["--memory"]);
    expect(await offered("cinnabar", "--read-only", "--mem")).toEqual(["--memory"]);
    // Flags are offered to somebody who has begun one.
    expect((await offered("cinnabar", "backup", "")).slice(0, 4)).toEqual(["take", "list", "verify", "restore"]);
    expect(await offered("cinnabar", "backup", "")).not.toContain("--every");
  });

  test.each(["zsh", "fish"])("of %s is a script that the shell can read", async (shell) => {
    const text = await script(shell);
    for (const { name } of COMMANDS) expect(text).toContain(name);
    if (installed(shell)) expect(spawnSync(shell, ["-n"], { input: text, encoding: "utf8" }).stderr).toBe("");
  });
});

test.each([
  ["doctor", "./nowhere"],
  ["export", "./nowhere", "-", "--format", "jsonl"],
  ["backup", "take", "./nowhere", "./backups"],
  ["move", "./nowhere", "./elsewhere"],
])("%s of a folder that is not there does not make one", async (...argv) => {
  const folder = temporaryFolder();
  const named = argv.map((word) => (word.startsWith("./") ? join(folder.path, word) : word));
  const { code, err } = await cinnabar(named);
  expect([code, err]).toEqual([1, expect.stringMatching(/there is no folder .*nowhere/)]);
  expect(existsSync(join(folder.path, "nowhere"))).toBe(false);
  folder.remove();
});

test("server is cinnabar-server, with its pid and its signals", async () => {
  const port = await freePort();
  const child = startCinnabar(["server", "--port", String(port), "--save", ""]);
  let out = "";
  child.stdout!.on("data", (text) => {
    out += text;
  });
  await expect.poll(() => out).toContain("Ready to accept connections");
  const store = await open(`redis://127.0.0.1:${port}`);
  expect(String(await store.call("INFO", "server"))).toContain(`process_id:${child.pid}\r\n`);
  await store.close();
  child.kill("SIGTERM");
  await once(child, "exit");
  expect(child.exitCode).toBe(0);
});
