/**
 * What the packages export, read from their built declarations with the compiler API of TypeScript 6 (7 has none): the vocabulary's test
 * and the test of the API reference both start here.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import ts from "typescript6";

const ROOT = join(import.meta.dirname, "../..");

type Package = "engine" | "toolkit" | "console";

/** One path that a program may import. */
export interface Entry {
  /** `cinnabar/locks`. */
  readonly name: string;
  /** Its path in the package, without `./`: `locks`, or nothing for the main one. */
  readonly path: string;
  /** Its declarations. */
  readonly file: string;
}

export interface Exported {
  readonly entry: Entry;
  /** What a program imports; the symbol may have another name. */
  readonly name: string;
  readonly symbol: ts.Symbol;
  /** Only its type is exported. */
  readonly isTypeOnly: boolean;
}

/** Builds the declarations of packages where they are out of date. */
export function buildDeclarations(packages: readonly Package[]): void {
  const tsc = join(createRequire(import.meta.url).resolve("typescript/package.json"), "../bin/tsc");
  execFileSync(process.execPath, [tsc, "--build", ...packages.map((each) => join(ROOT, each))], { stdio: "inherit" });
}

/** Every path of a package. The engine's entry for browsers is another build of the same sources, which has no declarations here. */
export function entriesOf(directory: Package): Entry[] {
  const { name, exports } = JSON.parse(readFileSync(join(ROOT, directory, "package.json"), "utf8")) as {
    readonly name: string;
    readonly exports: Readonly<Record<string, { readonly types: string } | string>>;
  };
  return Object.entries(exports).flatMap(([key, target]) => {
    const path = key.replace(/^\.\/?/, "");
    if (typeof target === "string" || path === "browser") return [];
    return [{ name: join(name, path), path, file: join(ROOT, directory, target.types) }];
  });
}

/** A program over declarations, and over files that use them. */
export function programOf(files: readonly string[], old?: ts.Program): ts.Program {
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    experimentalDecorators: true,
    skipLibCheck: true,
  };
  return ts.createProgram(files, options, undefined, old);
}

/** Everything that can be imported from an entry. */
export function exportsOf(program: ts.Program, entry: Entry): Exported[] {
  const checker = program.getTypeChecker();
  const file = checker.getSymbolAtLocation(program.getSourceFile(entry.file)!)!;
  return checker.getExportsOfModule(file).map((each) => ({
    entry,
    name: each.name,
    symbol: each.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each,
    isTypeOnly: isTypeOnly(each),
  }));
}

/** Of this project, not of the language or of a framework. */
export const isOurs = (symbol: ts.Symbol): boolean =>
  symbol.declarations?.some((each) => each.getSourceFile().fileName.startsWith(ROOT) && isBuilt(each)) === true;

const isBuilt = (node: ts.Node): boolean =>
  /^\/(engine|toolkit|console)\/dist\//.test(node.getSourceFile().fileName.slice(ROOT.length));

/** `[asyncDispose]` for what the compiler calls `__@asyncDispose@123`. */
export const shown = (symbol: ts.Symbol): string => symbol.name.replace(/^__@(\w+)@\d+$/, "[$1]");

/** A private field, as declarations have it. */
export const isHidden = (symbol: ts.Symbol): boolean => symbol.name.startsWith("__#") || symbol.name === "#private";

const isTypeOnly = (exported: ts.Symbol): boolean =>
  exported.declarations?.some(
    (each) => ts.isExportSpecifier(each) && (each.isTypeOnly || each.parent.parent.isTypeOnly),
  ) === true;
