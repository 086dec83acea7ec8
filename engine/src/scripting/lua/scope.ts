/**
 * Who declares which name. Resolved while parsing, since a Lua name means the nearest declaration before it; what else the
 * compiler wants to know about a variable is noted on the way.
 */
import type { Expression } from "./ast.ts";

export const MAX_LOCALS = 200;
export const MAX_UPVALUES = 60;

export class Local {
  readonly name: string;
  readonly owner: FunctionScope;
  /** Unique in the chunk: the generated name is made of it. */
  readonly id: number;
  /** Mentioned after its declaration. */
  used = false;
  /** Used by a function inside its own. */
  captured = false;
  /** Assigned to after its declaration. */
  assigned = false;
  /** Everything that is ever stored in it, as far as it is known; undefined stands for something unknown. */
  readonly stored: (Expression | undefined)[] = [];
  /** Holds a number whenever it is read: decided by inference.ts. */
  numeric = false;

  constructor(name: string, owner: FunctionScope, id: number) {
    this.name = name;
    this.owner = owner;
    this.id = id;
  }
}

export class FunctionScope {
  readonly parent: FunctionScope | undefined;
  vararg: boolean;
  readonly line: number;
  /** The locals in sight, innermost last. */
  readonly active: Local[] = [];
  readonly upvalues = new Set<Local>();
  /** Uses `...`, so that there is no table `arg`. */
  usesVararg = false;
  /** The hidden local `arg` of a function that takes `...`. */
  arg: Local | undefined = undefined;

  constructor(parent: FunctionScope | undefined, vararg: boolean, line: number) {
    this.parent = parent;
    this.vararg = vararg;
    this.line = line;
  }

  find(name: string): Local | undefined {
    return this.active.findLast((local) => local.name === name);
  }
}
