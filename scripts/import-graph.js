/**
 * The shape of the code: how files import each other, and how often a type is asserted rather than known.
 *
 *   node scripts/import-graph.js             the working tree
 *   node scripts/import-graph.js <commit>    before and after: a commit beside the working tree
 *
 * Tests are left out. A cycle at run time is one of imports that stay in the compiled code; a type cycle counts `import type` too.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript6";

const PACKAGES = ["engine", "toolkit", "console"];

function sources(root) {
  return PACKAGES.flatMap((name) =>
    readdirSync(join(root, name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !/\.(test|d)\.ts$/.test(entry.name))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .filter((file) => !/(^|\/)(node_modules|dist|tests?|testing|conformance|faults|ui)\//.test(file)),
  );
}

/** What a file imports from its own package, and what it asserts. */
function read(root, file) {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), "utf8"), ts.ScriptTarget.ES2023, true);
  const found = { runtime: new Set(), all: new Set(), casts: 0, nonNull: 0 };
  const visit = (node) => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined) {
      const target = node.moduleSpecifier.text;
      if (target.startsWith(".")) {
        const path = relative(root, resolve(root, dirname(file), target));
        found.all.add(path);
        if (!isTypeOnly(node)) found.runtime.add(path);
      }
    }
    if (ts.isAsExpression(node) && node.type.getText(source) !== "const") found.casts++;
    if (ts.isNonNullExpression(node)) found.nonNull++;
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isTypeOnly(node) {
  if (ts.isExportDeclaration(node)) {
    return node.isTypeOnly || (node.exportClause?.elements?.every((each) => each.isTypeOnly) ?? false);
  }
  const clause = node.importClause;
  if (clause === undefined) return false;
  if (clause.isTypeOnly) return true;
  const named = clause.namedBindings;
  return clause.name === undefined && named?.elements !== undefined && named.elements.every((each) => each.isTypeOnly);
}

/** Sets of files that reach each other, the largest first (Tarjan). */
function cycles(files, edges) {
  const state = new Map();
  const stack = [];
  const found = [];
  let count = 0;
  const walk = (file) => {
    const own = { index: count, low: count++, onStack: true };
    state.set(file, own);
    stack.push(file);
    for (const target of edges.get(file) ?? []) {
      if (!edges.has(target)) continue;
      const other = state.get(target);
      if (other === undefined) own.low = Math.min(own.low, walk(target).low);
      else if (other.onStack) own.low = Math.min(own.low, other.index);
    }
    if (own.low === own.index) {
      const group = [];
      for (let each; each !== file; ) {
        each = stack.pop();
        state.get(each).onStack = false;
        group.push(each);
      }
      if (group.length > 1) found.push(group);
    }
    return own;
  };
  for (const file of files) if (!state.has(file)) walk(file);
  return found.sort((a, b) => b.length - a.length);
}

const layerOf = (file) =>
  file
    .split("/")
    .slice(0, 3)
    .join("/")
    .replace(/\/[^/]+\.ts$/, "");

function measure(root) {
  const files = sources(root);
  const facts = new Map(files.map((file) => [file, read(root, file)]));
  const runtime = new Map(files.map((file) => [file, facts.get(file).runtime]));
  const all = new Map(files.map((file) => [file, facts.get(file).all]));
  const dependents = new Map();
  for (const targets of all.values()) for (const each of targets) dependents.set(each, (dependents.get(each) ?? 0) + 1);
  const layers = files.map((file) => [
    file,
    new Set([...all.get(file)].map(layerOf).filter((each) => each !== layerOf(file))).size,
  ]);
  const top = (pairs) => [...pairs].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 10);
  const sum = (pick) => [...facts.values()].reduce((total, each) => total + pick(each), 0);
  return {
    files: files.length,
    runtimeCycles: cycles(files, runtime).length,
    largestTypeCycle: cycles(files, all)[0]?.length ?? 0,
    manyLayers: layers.filter(([, count]) => count > 3).length,
    layers: top(layers),
    casts: sum((each) => each.casts),
    nonNull: sum((each) => each.nonNull),
    dependents: top(dependents),
    dependencies: top(files.map((file) => [file, all.get(file).size])),
  };
}

function at(commit) {
  const folder = mkdtempSync(join(tmpdir(), "import-graph-"));
  try {
    execFileSync("git", ["worktree", "add", "--quiet", "--detach", folder, commit]);
    return measure(folder);
  } finally {
    execFileSync("git", ["worktree", "remove", "--force", folder]);
    rmSync(folder, { recursive: true, force: true });
  }
}

const [commit] = process.argv.slice(2);
const columns = [
  ...(commit === undefined ? [] : [[commit, at(commit)]]),
  ["now", measure(resolve(import.meta.dirname, ".."))],
];
const row = (what, pick) => `| ${what} | ${columns.map(([, each]) => pick(each)).join(" | ")} |`;
const list = (title, pick) => {
  // Files of another commit are no files of this tree.
  const shown = (name, [file, count]) => (name === "now" ? `\`${file}\` ${count}` : `${file} ${count}`);
  const lines = Array.from(
    { length: 10 },
    (_, nth) => `| ${nth + 1} | ${columns.map(([name, each]) => shown(name, pick(each)[nth])).join(" | ")} |`,
  );
  return [
    `\n${title}\n`,
    `| | ${columns.map(([name]) => name).join(" | ")} |`,
    `| ---: |${" --- |".repeat(columns.length)}`,
    ...lines,
  ];
};
console.log(
  [
    `| | ${columns.map(([name]) => name).join(" | ")} |`,
    `| --- |${" ---: |".repeat(columns.length)}`,
    row("files", (each) => each.files),
    row("cycles at run time", (each) => each.runtimeCycles),
    row("files in the largest type cycle", (each) => each.largestTypeCycle),
    row("files that import from more than three layers", (each) => each.manyLayers),
    row("casts", (each) => each.casts),
    row("non-null assertions", (each) => each.nonNull),
    ...list("Most dependents", (each) => each.dependents),
    ...list("Most dependencies", (each) => each.dependencies),
    ...list("Most layers", (each) => each.layers),
  ].join("\n"),
);
