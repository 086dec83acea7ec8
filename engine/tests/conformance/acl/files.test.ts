/** Files of users on the engine and on a real server: the same faults, the same users, and the same file written. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "../answer.ts";
import { redisMissing } from "../redis-server.ts";
import { engineTarget, realTarget, type Target } from "../target.ts";

const missing = redisMissing();
if (missing !== undefined) console.warn(`Files of users are not compared: ${missing}`);

const START = "user default on nopass ~* &* +@all\n";

describe.skipIf(missing !== undefined)("aclfile", () => {
  const folder = mkdtempSync(join(tmpdir(), "cinnabar-acl-"));
  const paths = [join(folder, "real.acl"), join(folder, "ours.acl")] as const;
  let targets: readonly Target[] = [];

  beforeAll(async () => {
    for (const path of paths) writeFileSync(path, START);
    targets = [await realTarget(["--aclfile", paths[0]]), await engineTarget({ aclfile: paths[1] })];
  });
  afterAll(async () => {
    await Promise.all(targets.map((target) => target.close()));
    rmSync(folder, { recursive: true, force: true });
  });

  /** An answer without the file's name, which differs. */
  function texts(answer: Answer, path: string): unknown {
    return answer.items.length > 0
      ? answer.items.map((item) => texts(item, path))
      : answer.tag + answer.text.replaceAll(path, "FILE");
  }

  /** What both answer to these commands with this file. */
  async function both(text: string, ...commands: string[][]): Promise<unknown[]> {
    return Promise.all(
      targets.map(async (target, i) => {
        writeFileSync(paths[i]!, text, "latin1");
        const wire = await target.connect();
        const answers = await wire.pipeline(commands);
        await wire.close();
        return answers.map((answer) => texts(answer, paths[i]!));
      }),
    );
  }

  const LOAD_AND_LIST = [
    ["ACL", "LOAD"],
    ["ACL", "LIST"],
    ["ACL", "WHOAMI"],
  ];

  // A parenthesis that is never closed is not among them: the real server ends there.
  test.each([
    ["", "no users: the default user is as it was in the beginning"],
    ["user one on >pw ~* +@all\n\n  user three on nopass ~k (~a +get) (%R~b +set)\t\r\nuser eight\n", "users"],
    ['user si"x on >a"b\nuser default on nopass ~* +@all', "quotes mean themselves, channels are not implied"],
    ["nonsense\nuser \nuser  two\nUSER a on\n# remark\n", "lines that are none"],
    ["user two on +nosuch +nosuch2 foo bar ~* ~a #x\nuser two off\n", "several faults in a line, and a name twice"],
    ["user a (~a +nosuch)\nuser b (+get)\nuser c on\t+get\nuser d ~a\t\n", "selectors and tabs"],
    ["user a on nopass +@all ~*\nuser default on nopass ~* &* +@all -acl|genpass\n", "a default user with a rule less"],
  ])("%j: %s", async (text) => {
    const [theirs, mine] = await both(text, ...LOAD_AND_LIST);
    expect(mine).toEqual(theirs);
    const [before, after] = await both(START, ["ACL", "LOAD"], ["ACL", "LIST"]);
    expect(after).toEqual(before);
  });

  test("a parenthesis that is never closed is a fault", async () => {
    writeFileSync(paths[1], "user a (~x\n");
    const wire = await targets[1]!.connect();
    expect((await wire.call("ACL", "LOAD")).text).toContain(
      `${paths[1]}:1: Unmatched parenthesis in selector definition. WARNING: ACL errors detected`,
    );
    await wire.close();
  });

  test("ACL SAVE writes what ACL LIST shows, and reading it changes nothing", async () => {
    await both(START, ["ACL", "LOAD"]);
    const rules = ["on", ">pw", "~a*", "%R~b", "&c*", "+@all", "-@admin", "(~x +get)"];
    const [theirs, mine] = await both(START, ["ACL", "SETUSER", "a", ...rules], ["ACL", "SAVE"]);
    expect(mine).toEqual(theirs);
    expect(readFileSync(paths[1], "latin1")).toBe(readFileSync(paths[0], "latin1"));
    const [before, after] = await both(readFileSync(paths[1], "latin1"), ...LOAD_AND_LIST);
    expect(after).toEqual(before);
  });

  test("ACL LOAD ends the connections of all users but the default one", async () => {
    const text = `${START}user a on >pw ~* +@all\n`;
    await both(text, ["ACL", "LOAD"]);
    const wires = await Promise.all(targets.map((target) => target.connect()));
    for (const wire of wires) await wire.call("AUTH", "a", "pw");
    await both(text, ["ACL", "LOAD"]);
    const answers = await Promise.all(wires.map((wire) => wire.call("PING")));
    expect(answers.map(({ tag }) => tag)).toEqual(["closed", "closed"]);
  });

  test("a file that is gone, or cannot be written, changes nothing", async () => {
    await both(START, ["ACL", "LOAD"]);
    for (const path of paths) rmSync(path);
    const answers = await Promise.all(
      targets.map(async (target, i) => {
        const wire = await target.connect();
        const [load, list] = await wire.pipeline([
          ["ACL", "LOAD"],
          ["ACL", "LIST"],
        ]);
        await wire.close();
        return [texts(load!, paths[i]!), texts(list!, paths[i]!)];
      }),
    );
    expect(answers[1]).toEqual(answers[0]);
  });
});
