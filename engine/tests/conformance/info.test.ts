/** INFO beside a real server: the same sections, the same fields, in the same order; values of the same shape. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisMissing } from "./redis-server.ts";
import { engineTarget, realTarget, type Target } from "./target.ts";
import type { Wire } from "./wire.ts";

const missing = redisMissing();
if (missing !== undefined) console.warn(`The comparison of INFO is skipped: ${missing}`);

/** Ours alone. */
const EXTRA = new Set([
  "cinnabar_version",
  "node_version",
  "byte_order",
  "heap_limit",
  "heap_limit_human",
  "heap_write_limit",
  "heap_live",
  "heap_full",
]);

/** Sections whose fields depend on what was called, and in Redis on a hash table. */
const BY_COMMAND = new Set(["Commandstats", "Latencystats"]);

type Sections = Map<string, Map<string, string>>;

function parse(text: string): Sections {
  const sections: Sections = new Map();
  let section = new Map<string, string>();
  for (const line of text.split("\r\n")) {
    if (line.startsWith("# ")) {
      section = new Map();
      sections.set(line.slice(2), section);
    } else if (line !== "") {
      const colon = line.indexOf(":");
      section.set(line.slice(0, colon), line.slice(colon + 1));
    }
  }
  return sections;
}

/** What kind of thing a value is, as a tool that reads it would see. */
function shape(value: string): string {
  if (/^-?\d+$/.test(value)) return "integer";
  if (/^-?\d+\.\d+$/.test(value)) return "decimal";
  if (/^\d+(?:\.\d+)?%$/.test(value)) return "percent";
  if (/^[\d.]+[BKMGT]$/.test(value)) return "bytes";
  return "text";
}

describe.skipIf(missing !== undefined)("INFO", () => {
  let targets: Target[];
  let wires: Wire[];

  beforeAll(async () => {
    targets = [await realTarget(), await engineTarget()];
    wires = await Promise.all(targets.map((target) => target.connect()));
    for (const wire of wires) {
      await wire.pipeline([
        ["CONFIG", "RESETSTAT"],
        ["SET", "a", "1"],
        ["SET", "b", "2", "EX", "1000"],
        ["GET", "a"],
        ["GET"],
        ["NOSUCH"],
        ["LPUSH", "a", "1"],
      ]);
    }
  });
  afterAll(() => Promise.all((targets ?? []).map((target) => target.close())));

  async function ask(...sections: string[]): Promise<[string, string]> {
    const answers = await Promise.all(wires.map((wire) => wire.pipeline([["INFO", ...sections]])));
    return [answers[0]![0]!.text, answers[1]![0]!.text];
  }

  test("has every section and field, in order", async () => {
    const [real, ours] = (await ask("everything")).map(parse) as [Sections, Sections];
    expect([...ours.keys()]).toEqual([...real.keys()]);
    for (const [title, fields] of real) {
      const mine = [...ours.get(title)!.keys()].filter((name) => !EXTRA.has(name));
      const theirs = [...fields.keys()];
      if (BY_COMMAND.has(title)) expect(mine.sort()).toEqual(theirs.sort());
      else expect(mine).toEqual(theirs);
    }
  });

  test("has values of the same shape", async () => {
    const [real, ours] = (await ask("all")).map(parse) as [Sections, Sections];
    const wrong: string[] = [];
    for (const [title, fields] of real) {
      for (const [name, value] of fields) {
        const mine = ours.get(title)!.get(name)!;
        if (shape(mine) !== shape(value)) wrong.push(`${name}: ${mine} (Redis: ${value})`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test.each([
    [],
    ["default"],
    ["all"],
    ["everything"],
    ["server", "KEYSPACE"],
    ["keyspace", "cpu"],
    ["nosuch"],
    ["default", "commandstats"],
  ])("INFO %s %s shows the sections that Redis shows", async (...names: string[]) => {
    const [real, ours] = await ask(...names);
    expect([...parse(ours).keys()]).toEqual([...parse(real).keys()]);
    // The blank lines between sections count, too.
    const frame = (text: string) => text.replace(/^[^#\r].*\r\n/gm, "");
    expect(frame(ours)).toBe(frame(real));
  });

  test("counts what is freed in the background as Redis does", async () => {
    const many = Array.from({ length: 65 }, (_, i) => `${"m".repeat(100)}${i}`);
    const each = (wrap: (member: string) => string[]) => many.flatMap(wrap);
    const commands = [
      ["SADD", "small", "a", "b"],
      ["UNLINK", "small"],
      ["SADD", "s", ...many],
      ["HSET", "h", ...each((m) => [m, "v"])],
      ["ZADD", "z", ...each((m) => ["1", m])],
      ["SET", "string", "x".repeat(100_000)],
      ["UNLINK", "s", "h", "string", "nosuch"],
      ["DEL", "z"],
      ["SADD", "s", ...many],
      ["CONFIG", "SET", "lazyfree-lazy-user-del", "yes"],
      ["DEL", "s"],
      ["SELECT", "5"],
      ["MSET", "x", "1", "y", "2"],
      ["FLUSHDB", "SYNC"],
      ["MSET", "x", "1", "y", "2", "z", "3"],
      ["FLUSHDB", "ASYNC"],
      ["CONFIG", "SET", "lazyfree-lazy-user-flush", "yes"],
      ["MSET", "x", "1", "y", "2"],
      ["FLUSHDB"],
      ["SELECT", "0"],
      ["CONFIG", "SET", "lazyfree-lazy-user-flush", "no", "lazyfree-lazy-user-del", "no"],
    ];
    await Promise.all(wires.map((wire) => wire.pipeline(commands)));
    const freed = (text: string) => parse(text).get("Memory")!.get("lazyfreed_objects");
    await expect.poll(async () => (await ask("memory")).map(freed)).toEqual(["8", "8"]);
  });

  test("counts calls, errors and keys as Redis does", async () => {
    const [real, ours] = (await ask("commandstats", "errorstats", "keyspace")).map(parse) as [Sections, Sections];
    const counts = (text: string) => text.replace(/usec=\d+,usec_per_call=[\d.]+,/, "").replace(/avg_ttl=\d+/, "");
    for (const title of ["Commandstats", "Errorstats", "Keyspace"]) {
      const plain = (sections: Sections) =>
        Object.fromEntries([...sections.get(title)!].map(([name, value]) => [name, counts(value)]));
      expect(plain(ours)).toEqual(plain(real));
    }
  });
});
