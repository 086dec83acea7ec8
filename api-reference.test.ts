/**
 * The API reference: everything that the packages export is documented, and every example compiles, runs on the embedded store, and gives
 * what it says. scripts/api/reference.ts has the rules. What is missing still is in scripts/api/gaps.txt, by name: a name that is not in
 * that file fails here, and so does one that is no longer missing, so that the list can only become shorter.
 * `UPDATE_GAPS=1 npx vitest run api-reference.test.ts` takes out what is done.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript6";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Example, Imports, moduleOf } from "./scripts/api/examples.ts";
import { buildDeclarations, entriesOf, programOf } from "./scripts/api/exports.ts";
import { examplesOf, gapsOf, readReference, usedBy } from "./scripts/api/reference.ts";

const ROOT = import.meta.dirname;
const GAPS = join(ROOT, "scripts/api/gaps.txt");

/** How many are missing at most. Lower it with the list; it never goes up. */
const MISSING = 0;

// Below the root, so that packages are found.
const folder = mkdtempSync(join(ROOT, ".samples-"));
let examples: Example[];
let program: ts.Program;
let gaps: string[];

const fileOf = (at: number): string => join(folder, `${at}.ts`);

beforeAll(() => {
  buildDeclarations(["engine", "toolkit", "console"]);
  const entries = [...entriesOf("engine"), ...entriesOf("toolkit"), ...entriesOf("console")];
  const files = entries.map(({ file }) => file);
  const declarations = programOf(files);
  examples = examplesOf(readReference(declarations, entries));
  const imports = new Imports(declarations, entries);
  for (const [at, example] of examples.entries()) writeFileSync(fileOf(at), moduleOf(example, imports));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  program = programOf([...files, ...examples.map((_each, at) => fileOf(at))], declarations);
  const checker = program.getTypeChecker();
  const reference = readReference(program, entries);
  const used = examplesOf(reference).map(({ owner }, at) => ({
    owner,
    nodes: usedBy(program.getSourceFile(fileOf(at))!, checker),
  }));
  gaps = gapsOf(
    reference,
    checker,
    (owner) => new Set(used.filter((each) => each.owner === owner).flatMap(({ nodes }) => [...nodes])),
  );
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test("everything that is exported is documented, and every method has an example", () => {
  const listed = readFileSync(GAPS, "utf8").split("\n").filter(Boolean);
  if (process.env.UPDATE_GAPS === "1") {
    const left = listed.filter((each) => gaps.includes(each));
    writeFileSync(GAPS, left.map((each) => `${each}\n`).join(""));
    return;
  }
  expect(gaps.filter((each) => !listed.includes(each))).toEqual([]);
  expect(
    listed.filter((each) => !gaps.includes(each)),
    "done, and still in the list",
  ).toEqual([]);
  expect(listed.length).toBeLessThanOrEqual(MISSING);
});

test("every example passes the compiler", () => {
  const found = examples.flatMap(({ name }, at) => {
    const file = program.getSourceFile(fileOf(at))!;
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ messageText, start }) => {
        const line = file.text.slice(0, start).split("\n").length - 1;
        return `${name}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}, in: ${file.text.split("\n")[line]!.trim()}`;
      },
    );
  });
  expect(found).toEqual([]);
});

test("every example runs and gives what it says", () => {
  for (const at of examples.keys()) program.emit(program.getSourceFile(fileOf(at)));
  const runner = join(ROOT, "scripts/api/run-examples.js");
  const cwd = join(folder, "cwd");
  mkdirSync(cwd);
  const said = execFileSync(process.execPath, [runner, folder], { cwd, encoding: "utf8" });
  const failed = said
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { readonly file: string; readonly why: string })
    .map(({ file, why }) => `${examples[Number.parseInt(file, 10)]!.name}: ${why}`);
  expect(failed).toEqual([]);
});
