import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Prng } from "../prng.ts";
import { redisMissing } from "../redis-server.ts";
import { realTarget, type Target } from "../target.ts";
import type { Wire } from "../wire.ts";
import { damage, Generator, type Node, print, smaller, tableProgram } from "./generator.ts";
import { compileOurs, compileReal, makeRuntime, runOurs, runReal, scriptFiles, scriptsOf } from "./harness.ts";

const MODES = ["script", "chunk"] as const;
const PROGRAMS = 600;
const TABLES = 1000;
const DAMAGED = 3000;

describe.skipIf(redisMissing() !== undefined)("Lua beside a real server", () => {
  let target: Target;
  let wire: Wire;

  beforeAll(async () => {
    target = await realTarget();
    wire = await target.connect();
  });
  afterAll(() => target?.close());

  for (const file of scriptFiles()) {
    it(`gives the answers of the real one: ${file}`, async () => {
      const scripts = scriptsOf(file);
      const real = await runReal(wire, scripts);
      const rt = makeRuntime();
      for (const mode of MODES) {
        const wrong = scripts.flatMap((source, i) => {
          const ours = runOurs(rt, source, mode);
          return ours === real[i] ? [] : [{ source, real: real[i], ours }];
        });
        expect(wrong).toEqual([]);
      }
    });
  }

  it("stops at the limits of the real one", async () => {
    for (const [shape, make] of Object.entries(NESTED)) {
      const sizes = [50, 60, 61, 190, 196, 197, 198, 199, 200, 201, 249, 251, 300];
      const real = await runReal(wire, sizes.map(make));
      const rt = makeRuntime();
      const ours = sizes.map((size) => runOurs(rt, make(size), "chunk"));
      expect({ shape, answers: ours }).toEqual({ shape, answers: real });
    }
  });

  it("runs random programs alike", { timeout: 120_000 }, async () => {
    for (let seed = 1; seed <= PROGRAMS; seed += 50) {
      const programs = Array.from({ length: 50 }, (_, i) => new Generator(new Prng(seed + i)).program(12));
      const real = await runReal(wire, programs.map(print));
      for (const [i, program] of programs.entries()) {
        for (const mode of MODES) {
          if (runOurs(makeRuntime(), print(program), mode) === real[i]) continue;
          const source = print(await shrink(program, mode));
          expect({ seed: seed + i, source, ours: runOurs(makeRuntime(), source, mode) }).toEqual({
            seed: seed + i,
            source,
            ours: (await runReal(wire, [source]))[0],
          });
        }
      }
    }
  });

  /** The smallest program found that still differs. */
  async function shrink(program: Node[], mode: (typeof MODES)[number]): Promise<Node[]> {
    let best = program;
    let tries = 0;
    for (let found = true; found && tries < 2000; ) {
      found = false;
      for (const candidate of smaller(best)) {
        if (++tries > 2000) break;
        const source = print(candidate);
        const [real] = await runReal(wire, [source]);
        if (real === runOurs(makeRuntime(), source, mode)) continue;
        best = candidate;
        found = true;
        break;
      }
    }
    return best;
  }

  it("refuses damaged sources with the same words", async () => {
    const rt = makeRuntime();
    const sources = scriptFiles()
      .flatMap(scriptsOf)
      .filter((source) => source.length < 2000);
    const random = new Prng(7);
    for (let i = 0; i < DAMAGED; i += 200) {
      const damaged = Array.from({ length: 200 }, () => damage(random.pick(sources), random));
      const real = await compileReal(wire, damaged);
      for (const [n, source] of damaged.entries()) {
        expect({ source, answer: compileOurs(rt, source) }).toEqual({ source, answer: real[n] });
      }
    }
  });

  it("lays tables out alike", async () => {
    const rt = makeRuntime();
    for (let seed = 1; seed <= TABLES; seed += 100) {
      const sources = Array.from({ length: 100 }, (_, i) => tableProgram(new Prng(seed + i)));
      const real = await runReal(wire, sources);
      for (const [i, source] of sources.entries()) {
        expect({ source, answer: runOurs(rt, source, "script") }).toEqual({ source, answer: real[i] });
      }
    }
  });
});

const repeat = (text: string, n: number, separator = "") => Array(n).fill(text).join(separator);
const numbered = (n: number, make: (i: number) => string, separator: string) =>
  Array.from({ length: n }, (_, i) => make(i)).join(separator);

/** Sources that nest or list n of something. */
const NESTED: Record<string, (n: number) => string> = {
  parentheses: (n) => `return ${repeat("(", n)}1${repeat(")", n)}`,
  tables: (n) => `return #${repeat("{", n)}1${repeat("}", n)}`,
  functions: (n) => `local f = ${repeat("function() return ", n)}1${repeat(" end", n)} return 1`,
  blocks: (n) => `${repeat("do ", n)}${repeat(" end", n)} return 1`,
  concatenations: (n) => `return #(${repeat("'a'", n, "..")})`,
  negations: (n) => `return ${repeat("not ", n)}1`,
  powers: (n) => `return ${repeat("1", n, "^")}`,
  sums: (n) => `local a = 1 return ${repeat("a", n, "+")}`,
  conditions: (n) => `${repeat("if 1 then ", n)}${repeat(" end", n)} return 1`,
  calls: (n) => `local function f(x) return x end return ${repeat("f(", n)}1${repeat(")", n)}`,
  indices: (n) => `local t = {} t[1] = 1 return ${repeat("t[", n)}1${repeat("]", n)}`,
  locals: (n) => `${numbered(n, (i) => `local v${i} = ${i}`, " ")} return 1`,
  parameters: (n) => `return (function(${numbered(n, (i) => `v${i}`, ",")}) return v0 end)(7)`,
  upvalues: (n) =>
    `${numbered(n, (i) => `local v${i} = ${i}`, " ")} return (function() return ${numbered(n, (i) => `v${i}`, "+")} end)()`,
  values: (n) => `return #{${repeat("1", n, ",")}}`,
  arguments: (n) => `return select('#',${repeat("1", n, ",")})`,
  targets: (n) => `local t = {} ${numbered(n, (i) => `t[${i}]`, ",")} = 1 return 1`,
};
