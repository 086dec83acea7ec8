/**
 * The samples in all documents: each is a complete program, passes the compiler and runs. A sample that begins with the path of a
 * file is that file, and a suite beside the file runs it. Every other sample runs here, in an empty folder; where it ends a line with
 * `console.log(…); // text`, it must print that text. Translations repeat the samples of their originals: translations.test.ts compares
 * them, and they do not run again.
 */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, type ServerProcess, startRedis } from "./toolkit/tests/kit/servers.ts";

const ROOT = dirname(fileURLToPath(import.meta.url));

const documents = readdirSync(ROOT, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".md") && !/(^|\/)(node_modules|dist|data|\.packages|\.stage)\//.test(file))
  .sort();

const isTranslation = (document: string): boolean => /^docs\/zh\/|\.zh-CN\.md$/.test(document);

interface Sample {
  /** `docs/engine.md:12`. */
  readonly at: string;
  readonly document: string;
  readonly text: string;
  /** The file that it shows, if it shows one. */
  readonly file: string | undefined;
}

const originals = documents.filter((document) => !isTranslation(document));

const placeOf = (document: string, text: string, index: number): string =>
  `${document}:${text.slice(0, index).split("\n").length}`;

const fileOf = (sample: string): string | undefined => /^\/\/ (\S+\.(?:ts|mjs|js))\n/.exec(sample)?.[1];

const samples: readonly Sample[] = originals.flatMap((document) => {
  const text = readFileSync(join(ROOT, document), "utf8");
  return [...text.matchAll(/^```(?:ts|js|tsx|mjs|typescript|javascript)\n([\s\S]*?)^```$/gm)].map((match) => {
    const sample = match[1]!;
    return { at: placeOf(document, text, match.index), document, text: sample, file: fileOf(sample) };
  });
});

/** The modules in samples of HTML: a browser runs them, and the compiler reads them here. */
const modules: readonly Sample[] = originals.flatMap((document) => {
  const text = readFileSync(join(ROOT, document), "utf8");
  return [...text.matchAll(/^```html\n([\s\S]*?)^```$/gm)].flatMap((html) =>
    [...html[1]!.matchAll(/<script type="module">\n([\s\S]*?)<\/script>/g)].map(([, module]) => ({
      at: placeOf(document, text, html.index),
      document,
      text: module!,
      file: undefined,
    })),
  );
});

/** Fences without a language whose lines look like TypeScript, not like a shell's or a drawing. */
const CODE =
  /^\s*(?:(?:import|export)\b.*["'];?$|(?:const|let|class|interface|function|await|async)\b.*[;{(]$|.*(?:=> ?[{(]?|\);)\s*(?:\/\/.*)?$)/m;

const shown = samples.filter(({ file }) => file !== undefined);
const programs = samples.filter(({ file }) => file === undefined);

test("samples are found", () => {
  expect(shown.length).toBeGreaterThan(30);
  expect(programs.length).toBeGreaterThan(10);
  expect(modules.length).toBeGreaterThan(1);
});

test("every fence that looks like code has a language", () => {
  const untagged = documents.flatMap((document) => {
    const text = readFileSync(join(ROOT, document), "utf8");
    return [...text.matchAll(/^(```+)([^\n]*)\n([\s\S]*?)^\1 *$/gm)].flatMap(({ index, 2: language, 3: body }) =>
      language === "" && CODE.test(body!) ? [placeOf(document, text, index)] : [],
    );
  });
  expect(untagged).toEqual([]);
  expect(CODE.test("await engine.listen({ port: 6380 });\n")).toBe(true);
  expect(CODE.test("kept.end();          // given back\n")).toBe(true);
  expect(CODE.test('import { open } from "cinnabar";\n')).toBe(true);
  expect(CODE.test("cinnabar import users.jsonl redis://127.0.0.1:6379\n")).toBe(false);
});

describe("a sample that shows a file", () => {
  test.each(shown)("$at is $file", ({ file, text }) => {
    expect(text).toBe(`// ${file}\n${readFileSync(join(ROOT, file!), "utf8")}`);
  });

  test.each(shown)("$file is run by a suite beside it", ({ file }) => {
    const folder = join(ROOT, dirname(file!));
    const suites = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
    const name = relative(folder, join(ROOT, file!));
    const runs = (suite: string): boolean =>
      suite === name || readFileSync(join(folder, suite), "utf8").includes(`"${name}"`);
    // An application of several files is built and asked by a suite beside its folder.
    const [application = "", of = ""] = /^examples\/([\w-]+)(?=\/)/.exec(file!) ?? [];
    const beside = readdirSync(join(ROOT, "examples")).filter((each) => each.endsWith(".test.ts"));
    const builds = (suite: string): boolean =>
      readFileSync(join(ROOT, "examples", suite), "utf8").includes(`build("${of}")`);
    expect(suites.some(runs) || (application !== "" && beside.some(builds))).toBe(true);
  });
});

describe("a sample", () => {
  // Below the root, so that packages are found.
  const folder = mkdtempSync(join(ROOT, ".samples-"));
  let redis: ServerProcess;
  let free: number;

  beforeAll(async () => {
    redis = await startRedis();
    free = await freePort();
    for (const [i, { text }] of [...programs, ...modules].entries()) writeFileSync(join(folder, `${i}.ts`), text);
    const options = {
      extends: "../tsconfig.json",
      compilerOptions: { moduleDetection: "force" },
      include: ["*.ts", "../engine/src/**/*.d.ts"],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(options));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await redis.stop();
  });

  test("passes the compiler", () => {
    const tsc = join(ROOT, "node_modules/.bin/tsc");
    const { stdout } = spawnSync(tsc, ["-p", folder, "--pretty", "false"], { encoding: "utf8", cwd: folder });
    // Modules of pages reach sources that want a browser's types: engine/tsconfig.browser.json compiles those.
    const own = stdout.split("\n").filter((line) => !line.startsWith("../"));
    const named = own.map((line) => line.replace(/^(\d+)\.ts/, (_all, i) => [...programs, ...modules][Number(i)]!.at));
    expect(named.filter(Boolean)).toEqual([]);
  });

  /** The same program with ports that are free here: a Redis listens on the first. */
  const placed = (text: string): string =>
    text
      .replaceAll("localhost:6379", `127.0.0.1:${redis.port}`)
      .replaceAll('"localhost", 6379', `"127.0.0.1", ${redis.port}`)
      .replaceAll(/\b7777\b/g, String(free));

  test.each(programs.map((sample, i) => ({ ...sample, i })))("$at runs and prints what it says", async (sample) => {
    const cwd = mkdtempSync(join(tmpdir(), "cinnabar-sample-"));
    const file = join(folder, `placed-${sample.i}.ts`);
    writeFileSync(file, placed(sample.text));
    const args = ["--import", join(ROOT, "node_modules/tsx/dist/esm/index.mjs"), file];
    const said = await promisify(execFile)(process.execPath, args, { cwd, timeout: 50_000 });
    rmSync(cwd, { recursive: true, force: true });
    expect(said.stderr).toBe("");
    const promised = [...sample.text.matchAll(/^ *console\.log\(.*\);? *\/\/ (.*)$/gm)].map(([, line]) => line);
    expect(said.stdout.trimEnd().split("\n").filter(Boolean)).toEqual(promised);
  });
});

test("documents link to files and headings that exist", () => {
  const headings = (text: string): Set<string> =>
    new Set(
      [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
        heading!
          .toLowerCase()
          .replace(/[^\p{L}\p{N} _-]/gu, "")
          .replaceAll(" ", "-"),
      ),
    );
  const broken = documents.flatMap((document) => {
    const text = readFileSync(join(ROOT, document), "utf8").replace(/^```[\s\S]*?^```$/gm, "");
    return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => {
      if (/^[a-z]+:/.test(link!)) return [];
      const [path, anchor] = link!.split("#");
      const target = path === "" ? join(ROOT, document) : join(ROOT, dirname(document), path!);
      if (!existsSync(target)) return [`${document} links to ${link}`];
      if (anchor === undefined || !target.endsWith(".md")) return [];
      return headings(readFileSync(target, "utf8")).has(anchor) ? [] : [`${document} links to ${link}`];
    });
  });
  expect(broken).toEqual([]);
});

/** Links to a test, with its title as text: those that name no test that is there. */
function absentTests(document: string, text: string): string[] {
  return [...text.matchAll(/\["([^\]]+)"\]\(([^)\s]+\.test\.ts)\)/g)].flatMap(([, title, link]) => {
    const suite = join(ROOT, dirname(document), link!);
    return existsSync(suite) && readFileSync(suite, "utf8").includes(`"${title}"`) ? [] : [`${document}: ${title}`];
  });
}

test("comparisons name tests that exist", () => {
  const comparisons = documents.filter((document) => document.startsWith("docs/comparisons/"));
  expect(comparisons.flatMap((document) => absentTests(document, readFileSync(join(ROOT, document), "utf8")))).toEqual(
    [],
  );
});

test("every invariant of ARCHITECTURE.md names the tests that show it", () => {
  const [, section] = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8").split("\n## Invariants\n");
  const invariants = section!.match(/^\d+\. .*$/gm)!;
  expect(invariants.length).toBeGreaterThan(7);
  expect(invariants.filter((line) => !/\["[^\]]+"\]\([^)]+\.test\.ts\)/.test(line))).toEqual([]);
  expect(absentTests("ARCHITECTURE.md", section!)).toEqual([]);
});

test("documents name files and folders that exist", () => {
  const absent = documents.flatMap((document) => {
    if (document === "CHANGELOG.md") return []; // It names what was there.
    // A translation names what is beside its original.
    const original = document.replace(/^docs\/zh\/components\/([\w-]+)\.md$/, "toolkit/src/components/$1/README.md");
    const text = readFileSync(join(ROOT, document), "utf8").replace(/^```[\s\S]*?^```$/gm, "");
    const named = text.matchAll(/`((?:engine|toolkit|console|bench|docs|scripts)\/[\w./-]+)`/g);
    return [...named]
      .filter(([, path]) => ["", dirname(original)].every((from) => !existsSync(join(ROOT, from, path!))))
      .map(([, path]) => `${document} names ${path}`);
  });
  expect(absent).toEqual([]);
});
