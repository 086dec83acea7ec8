/** `cinnabar cli` in a real terminal, beside redis-cli in another: the same keys, the same screen. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { installed, type ServerProcess, startRedis } from "../../../toolkit/tests/kit/servers.ts";
import { temporaryFolder } from "../support.ts";
import { PROGRAM } from "./kit.ts";
import { Terminal } from "./terminal.ts";

const LINES = [
  "FLUSHALL",
  "SET greeting hello",
  "GET greeting",
  'SET bytes "a\\x00\\r\\n\\xff"',
  "GET bytes",
  "RPUSH l 1 2 3 4 5 6 7 8 9 10 11",
  "LRANGE l 0 -1",
  "HSET h f v g w",
  "HGETALL h",
  "ZADD z 1.5 a 2 b",
  "ZRANGE z 0 -1 WITHSCORES",
  "EVAL 'return {1,{2,{3,false}},{}}' 0",
  "NOSUCH x",
  "GET",
  '"unbalanced',
  "GET nokey",
  "MULTI",
  "INCR n",
  "LPUSH greeting x",
  "EXEC",
  "3 INCR n",
  "SELECT 3",
  "SET here 1",
  "SELECT 0",
  "HELLO 3",
  "HGETALL h",
  "SMEMBERS none",
  "ZSCORE z a",
  "OBJECT ENCODING l",
  "PING",
];

describe.runIf(installed("tmux") && installed("redis-server") && installed("redis-cli"))("in a terminal", () => {
  const folder = temporaryFolder();
  const history = join(folder.path, "history");
  const open = new Set<Terminal>();
  let redis: ServerProcess;
  let prompt: string;

  beforeAll(async () => {
    redis = await startRedis();
    prompt = `127.0.0.1:${redis.port}> `.trimEnd();
  });
  afterEach(() => {
    for (const each of open) each.close();
    open.clear();
  });
  afterAll(async () => {
    await redis.stop();
    folder.remove();
  });

  async function started(command: readonly string[]): Promise<Terminal> {
    const terminal = new Terminal(command, { CINNABAR_HISTORY: history, HOME: folder.path });
    open.add(terminal);
    await expect.poll(() => terminal.screen).toContain(prompt);
    return terminal;
  }
  const ours = (): Promise<Terminal> => started([...PROGRAM, "cli", "-p", String(redis.port)]);

  /** Types lines, each when the prompt for it is there. */
  async function typed(terminal: Terminal, lines: readonly string[]): Promise<string> {
    const prompts = (): number => terminal.screen.split("\n").filter((line) => /^127\.0\.0\.1:\S+>/.test(line)).length;
    for (const line of lines) {
      const before = prompts();
      terminal.type(line);
      terminal.press("Enter");
      await expect.poll(prompts).toBe(before + 1);
    }
    // The number of the connection is its own.
    return terminal.screen.replace(/"id" => \(integer\) \d+/, '"id" => N');
  }

  test("it answers as redis-cli does", { timeout: 120_000 }, async () => {
    const theirs = await typed(await started(["redis-cli", "-p", String(redis.port)]), LINES);
    const screen = await typed(await ours(), LINES);
    expect(screen.split("\n")).toEqual(theirs.split("\n"));
    expect(screen).toContain('1# "f" => "v"');
  });

  test("it hints, completes, keeps its history without secrets, and ends", async () => {
    const terminal = await ours();
    await expect
      .poll(() => {
        terminal.press("C-u");
        terminal.type("SETEX k");
        return terminal.screen.split("\n").at(-1);
      })
      .toBe(`${prompt} SETEX k seconds value`);
    terminal.press("C-u");
    terminal.type("geti");
    terminal.press("Tab");
    await expect.poll(() => terminal.screen.split("\n").at(-1)).toMatch(/> getbit|> geti/);
    terminal.press("C-u");
    await typed(terminal, ["AUTH secret", "SET kept yes"]);
    terminal.press("Up");
    await expect.poll(() => terminal.screen.split("\n").at(-1)).toContain(`${prompt} SET kept yes`);
    terminal.press("C-u");
    terminal.type("SUBSCRIBE news");
    terminal.press("Enter");
    await expect.poll(() => terminal.screen).toContain('1) "subscribe"');
    terminal.press("C-c");
    await expect.poll(() => terminal.screen.split("\n").at(-1)).toBe(prompt);
    expect(await typed(terminal, ["GET kept"])).toContain('"yes"');
    expect(existsSync(history)).toBe(true);
    expect(readFileSync(history, "utf8")).toContain("SET kept yes\n");
    expect(readFileSync(history, "utf8")).not.toContain("secret");
  });

  test("it says that the server is gone, and is there again when that is", async () => {
    const terminal = await ours();
    await typed(terminal, ["SET a 1"]);
    await redis.kill();
    terminal.type("GET a");
    terminal.press("Enter");
    await expect.poll(() => terminal.screen.split("\n").at(-1)).toBe("not connected>");
    await redis.restart();
    await expect
      .poll(() => {
        terminal.type("PING");
        terminal.press("Enter");
        return terminal.screen;
      })
      .toContain("PONG");
  });
});
