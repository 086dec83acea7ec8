/** COMMAND, ours and the real server's: every command and subcommand, its arity, flags, keys, categories and tips. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "./answer.ts";
import { isLater } from "./later.ts";
import { redisMissing } from "./redis-server.ts";
import { engineTarget, realTarget, type Target } from "./target.ts";

/** Commands of the real server that the engine does not have, each with its reason; subcommands go with them. */
const leftOut: Record<string, string> = {};

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

/** The version that each command came with, from COMMAND DOCS: by name, subcommands as `config|get`. */
function readVersions(answer: Answer, into = new Map<string, string>()): Map<string, string> {
  for (let i = 0; i + 1 < answer.items.length; i += 2) {
    const { items } = answer.items[i + 1]!;
    const field = (name: string) => items[items.findIndex((item, at) => at % 2 === 0 && item.text === name) + 1];
    into.set(answer.items[i]!.text, field("since")!.text);
    if (items.some((item, at) => at % 2 === 0 && item.text === "subcommands"))
      readVersions(field("subcommands")!, into);
  }
  return into;
}

const isLeftOut = (name: string): boolean => leftOut[name] !== undefined || leftOut[name.split("|")[0]!] !== undefined;

const missing = redisMissing();
if (missing !== undefined) console.warn(`The command table is not compared: ${missing}`);

describe.skipIf(missing !== undefined)("the command table", () => {
  let real: Target;
  let ours: Target;
  let theirTable: Map<string, Row>;
  let ourTable: Map<string, Row>;
  let theirVersions: Map<string, string>;
  let ourVersions: Map<string, string>;

  beforeAll(async () => {
    real = await realTarget();
    ours = await engineTarget();
    theirTable = readTable(await ask(real, "COMMAND"));
    ourTable = readTable(await ask(ours, "COMMAND"));
    theirVersions = readVersions(await ask(real, "COMMAND", "DOCS"));
    ourVersions = readVersions(await ask(ours, "COMMAND", "DOCS"));
  });
  afterAll(async () => {
    await Promise.all([real?.close(), ours?.close()]);
  });

  async function ask(target: Target, ...words: string[]): Promise<Answer> {
    const wire = await target.connect();
    const answer = await wire.call(...words);
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

  test("has nothing of its own but what came with a later Redis", () => {
    const own = [...ourTable.keys()].filter((name) => !theirTable.has(name));
    expect(own.filter((name) => !isLater({ since: ourVersions.get(name)! }))).toEqual([]);
    expect(own.length).toBeGreaterThan(0);
  });

  test("is listed with all subcommands where nothing is filtered", async () => {
    const list = async (target: Target) => (await ask(target, "COMMAND", "LIST")).items.map(({ text }) => text).sort();
    const [theirs, own] = [await list(real), await list(ours)];
    expect(theirs).toEqual([...theirTable.keys()].sort());
    expect(own).toEqual([...ourTable.keys()].sort());
    expect(theirs.filter((name) => !own.includes(name))).toEqual([]);
  });

  test("says which version each command came with as the real server does", () => {
    const common = [...theirVersions.keys()].filter((name) => ourVersions.has(name));
    const pick = (versions: Map<string, string>) => common.map((name) => `${name} ${versions.get(name)}`);
    expect(common.length).toBeGreaterThan(200);
    expect(pick(ourVersions)).toEqual(pick(theirVersions));
  });

  test("describes each command as the real server does", () => {
    const common = [...theirTable.keys()].filter((name) => ourTable.has(name));
    const pick = (table: Map<string, Row>) => Object.fromEntries(common.map((name) => [name, table.get(name)]));
    expect(pick(ourTable)).toEqual(pick(theirTable));
  });
});
