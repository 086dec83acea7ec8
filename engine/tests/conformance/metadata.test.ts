/** COMMAND, ours and the real server's: every command and subcommand, its arity, flags, keys, categories and tips. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "./answer.ts";
import { redisMissing } from "./redis-server.ts";
import { engineTarget, realTarget, type Target } from "./target.ts";

const ACL = "access control lists are another part of the work";

/** Commands of the real server that the engine does not have, each with its reason; subcommands go with them. */
const leftOut: Record<string, string> = {
  acl: ACL,
};

/** Commands that the engine has beyond Redis 7.0, each with its reason. */
const added: Record<string, string> = {
  "client|setinfo": "clients of today send it on every connection (Redis 7.2)",
  waitaof: "writes that replicas have on disk (Redis 7.2)",
  "client|no-touch": "Redis 7.2; contradicts nothing",
};

interface Row {
  readonly arity: string;
  readonly flags: string[];
  readonly keys: string;
  readonly categories: string[];
  readonly tips: string[];
  readonly specs: unknown;
}

/** By name; subcommands as `config|get`. */
function readTable(answer: Answer, into = new Map<string, Row>()): Map<string, Row> {
  for (const { items } of answer.items) {
    const texts = (i: number): string[] => items[i]!.items.map((item) => item.text).sort();
    into.set(items[0]!.text, {
      arity: items[1]!.text,
      flags: texts(2),
      keys: [items[3], items[4], items[5]].map((item) => item!.text).join(" "),
      categories: texts(6),
      tips: texts(7),
      specs: items[8]!.items.map(readSpec),
    });
    readTable(items[9]!, into);
  }
  return into;
}

/** A flat array of names and values as an object; flags as a set; remarks for people left out. */
function readSpec(answer: Answer): unknown {
  if (answer.tag !== "*") return answer.text;
  const spec: Record<string, unknown> = {};
  for (let i = 0; i + 1 < answer.items.length; i += 2) {
    const name = answer.items[i]!.text;
    const value = answer.items[i + 1]!;
    if (name === "notes") continue;
    spec[name] = name === "flags" ? value.items.map((item) => item.text).sort() : readSpec(value);
  }
  return spec;
}

const isLeftOut = (name: string): boolean => leftOut[name] !== undefined || leftOut[name.split("|")[0]!] !== undefined;

const missing = redisMissing();
if (missing !== undefined) console.warn(`The command table is not compared: ${missing}`);

describe.skipIf(missing !== undefined)("the command table", () => {
  let real: Target;
  let ours: Target;
  let theirTable: Map<string, Row>;
  let ourTable: Map<string, Row>;

  beforeAll(async () => {
    real = await realTarget();
    ours = await engineTarget();
    const [theirs, own] = await Promise.all([ask(real), ask(ours)]);
    theirTable = readTable(theirs);
    ourTable = readTable(own);
  });
  afterAll(async () => {
    await Promise.all([real?.close(), ours?.close()]);
  });

  async function ask(target: Target): Promise<Answer> {
    const wire = await target.connect();
    const answer = await wire.call("COMMAND");
    await wire.close();
    return answer;
  }

  test("has every command but those left out for a reason", () => {
    const absent = [...theirTable.keys()].filter((name) => !ourTable.has(name) && !isLeftOut(name));
    expect(absent).toEqual([]);
  });

  test("has every command that it says it leaves out only if that is still so", () => {
    expect(Object.keys(leftOut).filter((name) => ourTable.has(name) || !theirTable.has(name))).toEqual([]);
  });

  test("has nothing of its own but what is named here", () => {
    expect([...ourTable.keys()].filter((name) => !theirTable.has(name) && added[name] === undefined)).toEqual([]);
  });

  test("describes each command as the real server does", () => {
    const common = [...theirTable.keys()].filter((name) => ourTable.has(name));
    const pick = (table: Map<string, Row>) => Object.fromEntries(common.map((name) => [name, table.get(name)]));
    expect(pick(ourTable)).toEqual(pick(theirTable));
  });
});
