/** What the toolkit exports, read from its built declarations: classes with their members, functions, and plain shapes with their fields. */
import ts from "typescript6";
import {
  buildDeclarations,
  type Entry,
  entriesOf,
  exportsOf,
  isHidden,
  isOurs,
  programOf,
  shown,
} from "../../../scripts/api/exports.ts";

/** Interfaces whose methods are commands. */
const COMMANDS = new Set(["Commands", "BlockingCommands"]);

export interface Parameter {
  readonly name: string;
  readonly isRest: boolean;
  readonly fields: readonly Field[];
}

export interface Field {
  /** `SendOptions.retryMs`, or `Locks.acquire.waitMs` for one of a shape without a name. */
  readonly path: string;
  readonly name: string;
  readonly type: string;
}

export interface Method {
  /** `Queue.add`. */
  readonly path: string;
  readonly name: string;
  readonly parameters: readonly Parameter[];
  /** What a caller gets in the end: of a promise, its value. */
  readonly result: string;
  readonly resultFields: readonly string[];
  /** Text constants that the result may be. */
  readonly words: readonly string[];
}

export interface Class {
  readonly name: string;
  readonly entry: string;
  readonly constructorParameters: readonly string[];
  readonly methods: readonly Method[];
  readonly properties: readonly Field[];
  readonly isError: boolean;
  /** Only its type is exported: it is made by others. */
  readonly isTypeOnly: boolean;
}

export interface Surface {
  /** Paths of the package: "queues", "cache/http". */
  readonly entries: readonly string[];
  readonly classes: readonly Class[];
  /** Of interfaces and of unions of them. */
  readonly fields: readonly Field[];
  /** Values of every field named `status`. */
  readonly statuses: ReadonlyMap<string, readonly string[]>;
}

/** Builds what is out of date, and reads it. */
export function readSurface(): Surface {
  buildDeclarations(["toolkit"]);
  // Adapters keep their framework's names.
  const entries = entriesOf("toolkit").filter(({ file }) => !file.includes("/integrations/"));
  const program = programOf(entries.map(({ file }) => file));
  const reader = new Reader(program);
  for (const entry of entries) reader.read(entry);
  return { entries: entries.map(({ path }) => path), ...reader.found };
}

class Reader {
  readonly #program: ts.Program;
  readonly #checker: ts.TypeChecker;
  readonly #seen = new Set<ts.Symbol>();
  readonly found = {
    classes: [] as Class[],
    fields: [] as Field[],
    statuses: new Map<string, string[]>(),
  };

  constructor(program: ts.Program) {
    this.#program = program;
    this.#checker = program.getTypeChecker();
  }

  read(entry: Entry): void {
    const file = this.#program.getSourceFile(entry.file)!;
    for (const { symbol, isTypeOnly } of exportsOf(this.#program, entry)) {
      // Commands have the names that Redis gave them.
      if (this.#seen.has(symbol) || COMMANDS.has(symbol.name) || symbol.name === "Replies") continue;
      this.#seen.add(symbol);
      if (symbol.flags & ts.SymbolFlags.Class)
        this.found.classes.push({ ...this.#class(entry.path, symbol, file), isTypeOnly });
      else if (symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)) this.#shape(symbol, file);
    }
  }

  #class(entry: string, symbol: ts.Symbol, file: ts.SourceFile): Omit<Class, "isTypeOnly"> {
    const { name } = symbol;
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
    const [made] = this.#checker.getTypeOfSymbol(symbol).getConstructSignatures();
    const statics = this.#checker
      .getPropertiesOfType(this.#checker.getTypeOfSymbol(symbol))
      .filter((each) => each.name !== "prototype" && isOurs(each));
    const own = this.#checker.getPropertiesOfType(type).filter((each) => !isHidden(each) && !isCommand(each));
    const methods: Method[] = [];
    const properties: Field[] = [];
    for (const member of [...statics, ...own]) {
      const memberType = this.#checker.getTypeOfSymbolAtLocation(member, file);
      const calls = memberType.getCallSignatures();
      const path = `${name}.${shown(member)}`;
      if (calls.length > 0) for (const call of calls) methods.push(this.#method(path, shown(member), call, file));
      else properties.push({ path, name: shown(member), type: this.#text(memberType) });
    }
    return {
      name,
      entry,
      constructorParameters: made?.parameters.map((each) => each.name) ?? [],
      methods,
      properties,
      isError: own.some((each) => each.name === "stack"),
    };
  }

  #method(path: string, name: string, call: ts.Signature, file: ts.SourceFile): Method {
    const result = this.#awaited(call.getReturnType());
    const parts = result.isUnion() ? result.types : [result];
    this.#statusOf(path, parts, file);
    return {
      path,
      name,
      parameters: call.parameters.map((each) => this.#parameter(path, each, file)),
      result: this.#text(result),
      resultFields: parts.flatMap((each) => (isShape(each) ? this.#checker.getPropertiesOfType(each).map(shown) : [])),
      words: parts.flatMap((each) => (each.isStringLiteral() ? [each.value] : [])),
    };
  }

  #parameter(path: string, symbol: ts.Symbol, file: ts.SourceFile): Parameter {
    const declaration = symbol.valueDeclaration;
    const isRest = declaration !== undefined && ts.isParameter(declaration) && declaration.dotDotDotToken !== undefined;
    const type = this.#checker.getNonNullableType(this.#checker.getTypeOfSymbolAtLocation(symbol, file));
    // A shape with a name is read where it is exported.
    const isNamed =
      type.aliasSymbol !== undefined || (type.symbol?.flags ?? 0) & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class);
    const fields = isShape(type) && !isNamed ? this.#fields(path, type, file) : [];
    return { name: symbol.name, isRest, fields };
  }

  #shape(symbol: ts.Symbol, file: ts.SourceFile): void {
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
    const parts = type.isUnion() ? type.types : [type];
    this.#statusOf(symbol.name, parts, file);
    for (const part of parts) if (isShape(part)) this.found.fields.push(...this.#fields(symbol.name, part, file));
  }

  #fields(owner: string, type: ts.Type, file: ts.SourceFile): Field[] {
    return this.#checker.getPropertiesOfType(type).flatMap((each) => {
      // Those of arrays and the like are not ours.
      if (!isOurs(each)) return [];
      const fieldType = this.#checker.getTypeOfSymbolAtLocation(each, file);
      return [{ path: `${owner}.${each.name}`, name: each.name, type: this.#text(fieldType) }];
    });
  }

  #statusOf(path: string, parts: readonly ts.Type[], file: ts.SourceFile): void {
    const words = parts.flatMap((part) => {
      const status = isShape(part) ? this.#checker.getPropertyOfType(part, "status") : undefined;
      if (status === undefined) return [];
      const type = this.#checker.getTypeOfSymbolAtLocation(status, file);
      return (type.isUnion() ? type.types : [type]).flatMap((each) => (each.isStringLiteral() ? [each.value] : []));
    });
    if (words.length > 0) this.found.statuses.set(path, words);
  }

  #awaited(type: ts.Type): ts.Type {
    return this.#checker.getAwaitedType(type) ?? type;
  }

  #text(type: ts.Type): string {
    return this.#checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
  }
}

const isShape = (type: ts.Type): boolean =>
  (type.flags & ts.TypeFlags.Object) !== 0 && type.getCallSignatures().length === 0;

/** A command as a method has the name and the words that Redis gave it. */
function isCommand(symbol: ts.Symbol): boolean {
  const parent = symbol.declarations?.[0]?.parent;
  return parent !== undefined && ts.isInterfaceDeclaration(parent) && COMMANDS.has(parent.name.text);
}
