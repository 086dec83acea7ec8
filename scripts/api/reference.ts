/**
 * What the reference of the public API must say, and where it does not:
 *
 * - `undocumented`: an export, a public member of a class, or a field of a shape has no comment;
 * - `no default`: an optional field of an `…Options` does not tell its default (the word "default" is in its comment). Its unit is in its
 *   name, or in the comment where the vocabulary has no suffix for it;
 * - `no example`: an exported function has no `@example`; or a public method of an exported class is called by no example of that class,
 *   which are those in the comments of the class and of its members. The compiler resolves the calls. Methods that the language calls
 *   (`[Symbol.asyncDispose]`) need none; and a class that implements an interface of a framework needs one example for itself, since
 *   the framework calls its methods.
 */
import ts from "typescript6";
import { type Example, examplesIn } from "./examples.ts";
import { type Entry, exportsOf, isHidden, isOurs, shown } from "./exports.ts";

interface Member {
  readonly symbol: ts.Symbol;
  readonly isMethod: boolean;
}

/** An export, with its members. */
export interface Documented {
  readonly entry: Entry;
  readonly name: string;
  readonly symbol: ts.Symbol;
  readonly kind: "class" | "function" | "shape" | "value";
  readonly members: readonly Member[];
}

/** Each export once, where it is exported first. */
export function readReference(program: ts.Program, entries: readonly Entry[]): Documented[] {
  const checker = program.getTypeChecker();
  const seen = new Set<ts.Symbol>();
  return entries.flatMap((entry) =>
    exportsOf(program, entry).flatMap(({ name, symbol }) => {
      if (seen.has(symbol) || !isOurs(symbol)) return [];
      seen.add(symbol);
      const kind = kindOf(symbol);
      const members = membersOf(checker, symbol, kind)
        .filter((each) => isOurs(each) && !isHidden(each) && !isOfCommands(each, symbol))
        .map((each) => ({
          symbol: each,
          isMethod: checker.getTypeOfSymbol(each).getCallSignatures().length > 0,
        }));
      return [{ entry, name, symbol, kind, members }];
    }),
  );
}

function kindOf({ flags }: ts.Symbol): Documented["kind"] {
  if (flags & ts.SymbolFlags.Class) return "class";
  if (flags & ts.SymbolFlags.Function) return "function";
  return flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias) ? "shape" : "value";
}

function membersOf(checker: ts.TypeChecker, symbol: ts.Symbol, kind: Documented["kind"]): ts.Symbol[] {
  if (kind === "function" || kind === "value") return [];
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  const own = (type.isUnion() ? type.types : [type]).flatMap((part) =>
    part.flags & ts.TypeFlags.Object ? checker.getPropertiesOfType(part) : [],
  );
  if (kind === "shape") return own;
  const made = checker.getPropertiesOfType(checker.getTypeOfSymbol(symbol)).filter(({ name }) => name !== "prototype");
  return [...made, ...own];
}

/** Commands are read where they are declared, not in every class that has them; what they answer needs no words. */
function isOfCommands(member: ts.Symbol, owner: ts.Symbol): boolean {
  const parent = member.declarations?.[0]?.parent;
  if (parent === undefined || !ts.isInterfaceDeclaration(parent)) return false;
  const { text } = parent.name;
  return text === "Replies" || (["Commands", "BlockingCommands"].includes(text) && owner.name !== text);
}

const isCommands = ({ symbol }: Documented): boolean => ["Commands", "BlockingCommands"].includes(symbol.name);

/** Every example of the reference. */
export function examplesOf(reference: readonly Documented[]): Example[] {
  const seen = new Set<string>();
  return reference.flatMap(({ entry, name, symbol, members }) => {
    const all = [
      ...examplesIn(symbol).map((text) => ({ of: name, text })),
      ...members.flatMap((each) =>
        examplesIn(each.symbol).map((text) => ({ of: `${name}.${shown(each.symbol)}`, text })),
      ),
    ];
    return all.flatMap(({ of, text }, at) => {
      // One that is inherited is run once.
      if (seen.has(text)) return [];
      seen.add(text);
      const count = all.slice(0, at).filter((each) => each.of === of).length;
      return [{ name: `${entry.name} ${of}${count === 0 ? "" : ` (${count + 1})`}`, owner: symbol, entry, text }];
    });
  });
}

/** The declarations that a file calls or reads. */
export function usedBy(file: ts.SourceFile, checker: ts.TypeChecker): Set<ts.Node> {
  const used = new Set<ts.Node>();
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) {
      const symbol = checker.getSymbolAtLocation(node.name);
      for (const each of symbol?.declarations ?? []) used.add(each);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return used;
}

/** Everything that is missing, as lines: what, of what. */
export function gapsOf(
  reference: readonly Documented[],
  checker: ts.TypeChecker,
  usesOf: (owner: ts.Symbol) => ReadonlySet<ts.Node>,
): string[] {
  const isSaid = (symbol: ts.Symbol): boolean => symbol.getDocumentationComment(checker).length > 0;
  const gaps = reference.flatMap((each) => {
    const { entry, name, symbol, kind, members } = each;
    const found: string[] = [];
    const path = `${entry.name} ${name}`;
    if (!isSaid(symbol)) found.push(`${path}: undocumented`);
    if (kind === "function" && examplesIn(symbol).length === 0) found.push(`${path}: no example`);
    const isAdapter = kind === "class" && entry.file.includes("/integrations/");
    if (isAdapter && examplesIn(symbol).length === 0) found.push(`${path}: no example`);
    const uses = usesOf(symbol);
    for (const member of members) {
      const of = `${path}.${shown(member.symbol)}`;
      if (!isSaid(member.symbol)) found.push(`${of}: undocumented`);
      else if (name.endsWith("Options") && lacksDefault(member.symbol, checker)) found.push(`${of}: no default`);
      const needsExample =
        member.isMethod &&
        (isCommands(each) || (kind === "class" && !isAdapter)) &&
        !shown(member.symbol).startsWith("[");
      if (needsExample && !member.symbol.declarations!.some((one) => uses.has(one))) found.push(`${of}: no example`);
    }
    return found;
  });
  return [...new Set(gaps)].sort();
}

const lacksDefault = (symbol: ts.Symbol, checker: ts.TypeChecker): boolean =>
  (symbol.flags & ts.SymbolFlags.Optional) !== 0 &&
  !/default/i.test(ts.displayPartsToString(symbol.getDocumentationComment(checker)));
