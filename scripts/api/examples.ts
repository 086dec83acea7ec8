/**
 * The `@example`s of the public API, made into programs.
 *
 * The convention, also in CONTRIBUTING.md:
 * - an example is the body of an async function with a parameter `db`, an open, empty store;
 * - what our packages export is imported for it: from the entry that it belongs to, otherwise from the only entry that has the name.
 *   Everything else it imports itself;
 * - `expression; // → text` and `const name = expression; // → text` say what the value looks like. `…` in the text stands for anything.
 */
import ts from "typescript6";
import { type Entry, type Exported, exportsOf } from "./exports.ts";

export interface Example {
  /** `cinnabar/locks Locks.acquire`; with a number behind it where there are several. */
  readonly name: string;
  /** Whose comment it stands in: the class's or another export's name. */
  readonly owner: ts.Symbol;
  readonly entry: Entry;
  readonly text: string;
}

/** Examples in a symbol's comments, each once, though overloads share a comment. */
export function examplesIn(symbol: ts.Symbol): string[] {
  const found = symbol
    .getJsDocTags()
    .filter(({ name }) => name === "example")
    .map(({ text }) => ts.displayPartsToString(text).trim());
  return [...new Set(found)];
}

/** From names to the entries that export them as values or types. */
export class Imports {
  readonly #byName = new Map<string, Exported[]>();

  constructor(program: ts.Program, entries: readonly Entry[]) {
    for (const entry of entries) {
      for (const each of exportsOf(program, entry)) {
        const known = this.#byName.get(each.name) ?? [];
        this.#byName.set(each.name, [...known, each]);
      }
    }
  }

  /** The imports that an example leaves out. */
  for(file: ts.SourceFile, from: Entry): string[] {
    const declared = new Set<string>(["db"]);
    const used = new Set<string>();
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node)) {
        if (isDeclared(node)) declared.add(node.text);
        else if (!isMemberName(node)) used.add(node.text);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
    return [...used].flatMap((name) => {
      const known = this.#byName.get(name);
      if (known === undefined || declared.has(name)) return [];
      const own = known.find(({ entry }) => entry === from) ?? known.find(({ entry }) => entry.name === "cinnabar");
      const only = own ?? (known.length === 1 ? known[0] : undefined);
      if (only === undefined) return []; // The compiler says that the name is not there.
      return [`import ${only.isTypeOnly ? "type " : ""}{ ${name} } from "${only.entry.name}";`];
    });
  }
}

function isDeclared(node: ts.Identifier): boolean {
  const { parent } = node;
  return (
    ((ts.isVariableDeclaration(parent) ||
      ts.isParameter(parent) ||
      ts.isBindingElement(parent) ||
      ts.isFunctionDeclaration(parent) ||
      ts.isClassDeclaration(parent) ||
      ts.isInterfaceDeclaration(parent) ||
      ts.isTypeAliasDeclaration(parent)) &&
      parent.name === node) ||
    ts.isImportSpecifier(parent) ||
    ts.isImportClause(parent)
  );
}

function isMemberName(node: ts.Identifier): boolean {
  const { parent } = node;
  return (
    (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
    (ts.isPropertyAssignment(parent) && parent.name === node) ||
    (ts.isMethodDeclaration(parent) && parent.name === node) ||
    (ts.isBindingElement(parent) && parent.propertyName === node)
  );
}

/** A module with the example as its function, which calls `is` with every value that the example tells. */
export function moduleOf(example: Example, imports: Imports): string {
  const file = ts.createSourceFile("example.ts", example.text, ts.ScriptTarget.ES2023, true);
  const own = file.statements.filter(ts.isImportDeclaration);
  const body = checked(file).slice(own.at(-1)?.end ?? 0);
  return [
    `import type { Store as ExampleStore } from "cinnabar";`,
    ...imports.for(file, example.entry),
    ...own.map((each) => each.getText()),
    `export async function example(db: ExampleStore, is: (value: unknown, text: string) => void): Promise<void> {`,
    "void db, void is;",
    body.trim(),
    "}",
    "",
  ].join("\n");
}

/** The text with a call of `is` wherever a statement is followed by `// → text`. Imports keep their places. */
function checked(file: ts.SourceFile): string {
  const { text } = file;
  const edits: { at: number; insert: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isExpressionStatement(node) || ts.isVariableStatement(node)) {
      const [comment] = ts.getTrailingCommentRanges(text, node.end) ?? [];
      const told = comment === undefined ? undefined : /^\/\/ → (.*)$/.exec(text.slice(comment.pos, comment.end))?.[1];
      if (told !== undefined && ts.isExpressionStatement(node)) {
        edits.push({ at: node.getStart(), insert: "is(" });
        edits.push({ at: node.expression.end, insert: `, ${JSON.stringify(told.trim())})` });
      } else if (told !== undefined && ts.isVariableStatement(node)) {
        const name = node.declarationList.declarations[0]!.name.getText();
        edits.push({ at: node.end, insert: ` is(${name}, ${JSON.stringify(told.trim())});` });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return edits
    .sort((a, b) => b.at - a.at)
    .reduce((edited, { at, insert }) => edited.slice(0, at) + insert + edited.slice(at), text);
}
