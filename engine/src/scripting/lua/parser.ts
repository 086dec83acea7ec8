/**
 * Lua 5.1's grammar, by recursive descent in the order in which the reference reads, so that errors are its own: same text,
 * same line, same token.
 */
import {
  type BinaryOp,
  type Block,
  type Call,
  type Expression,
  type FunctionBody,
  isOpen,
  isTarget,
  type Statement,
  type TableItem,
  type Target,
} from "./ast.ts";
import { choose, fold } from "./fold.ts";
import { Lexer, type Token, type TokenKind } from "./lexer.ts";
import { FunctionScope, Local, MAX_LOCALS, MAX_UPVALUES } from "./scope.ts";
import type { LuaError } from "./value.ts";

/** Nesting of statements and expressions: Lua allows 200 C calls, those around the parser included. */
export const MAX_LEVELS = 200;

/** Registers that one function may use; arguments and values of a list take one each. */
const MAX_REGISTERS = 250;

type Operator = BinaryOp | "and" | "or";

/** Left and right binding power. */
const PRIORITY: Readonly<Record<Operator, readonly [number, number]>> = {
  "+": [6, 6],
  "-": [6, 6],
  "*": [7, 7],
  "/": [7, 7],
  "%": [7, 7],
  "^": [10, 9],
  "..": [5, 4],
  "~=": [3, 3],
  "==": [3, 3],
  "<": [3, 3],
  "<=": [3, 3],
  ">": [3, 3],
  ">=": [3, 3],
  and: [2, 2],
  or: [1, 1],
};
const UNARY_PRIORITY = 8;

const isOperator = (kind: string): kind is Operator => Object.hasOwn(PRIORITY, kind);

const BLOCK_ENDS = new Set<TokenKind>(["else", "elseif", "end", "until", "<eof>"]);

export interface ParsedChunk {
  main: FunctionBody;
  /** All variables that the chunk declares. */
  locals: Local[];
}

export function parse(source: string, chunkName: string, maxLevels = MAX_LEVELS): ParsedChunk {
  return new Parser(source, chunkName, maxLevels).chunk();
}

class Parser {
  readonly #lexer: Lexer;
  #token: Token;
  #ahead: Token | undefined;
  /** The line of the token before the current one. */
  #lastLine = 1;
  #scope: FunctionScope;
  #levels = 0;
  readonly #maxLevels: number;
  /** Values of unfinished lists in the function at hand. */
  #registers = 0;
  /** Loops around the current statement, within its function. */
  #loops = 0;
  readonly #locals: Local[] = [];

  constructor(source: string, chunkName: string, maxLevels: number) {
    this.#maxLevels = maxLevels;
    this.#lexer = new Lexer(source, chunkName);
    this.#scope = new FunctionScope(undefined, true, 0);
    this.#token = this.#lexer.next();
  }

  chunk(): ParsedChunk {
    const scope = this.#scope;
    const block = this.#block();
    this.#check("<eof>");
    const endLine = this.#lexer.line;
    return { main: { scope, parameters: [], vararg: true, block, line: 0, endLine }, locals: this.#locals };
  }

  // Tokens

  #next(): void {
    this.#lastLine = this.#token.line;
    this.#token = this.#ahead ?? this.#lexer.next();
    this.#ahead = undefined;
  }

  #error(message: string): LuaError {
    return this.#lexer.error(message, this.#token.text);
  }

  #accept(kind: TokenKind): boolean {
    if (this.#token.kind !== kind) return false;
    this.#next();
    return true;
  }

  #check(kind: TokenKind): void {
    if (this.#token.kind !== kind) throw this.#error(`'${kind}' expected`);
  }

  #expect(kind: TokenKind): void {
    this.#check(kind);
    this.#next();
  }

  /** The end of something that another token opened. */
  #close(kind: TokenKind, opener: string, line: number): void {
    if (this.#token.kind === kind) {
      this.#next();
      return;
    }
    if (line === this.#lexer.line) throw this.#error(`'${kind}' expected`);
    throw this.#error(`'${kind}' expected (to close '${opener}' at line ${line})`);
  }

  #name(): string {
    if (this.#token.kind !== "<name>") throw this.#error("'<name>' expected");
    const { word } = this.#token;
    this.#next();
    return word;
  }

  #enter(): void {
    if (++this.#levels > this.#maxLevels) throw this.#lexer.error("chunk has too many syntax levels");
  }

  #leave(): void {
    this.#levels--;
  }

  // Names

  #declare(name: string, pending = 0): Local {
    if (this.#scope.active.length + pending + 1 > MAX_LOCALS)
      throw this.#limit(this.#scope, MAX_LOCALS, "local variables");
    const local = new Local(name, this.#scope, this.#locals.length);
    this.#locals.push(local);
    return local;
  }

  #limit(scope: FunctionScope, limit: number, what: string): LuaError {
    const where = scope.line === 0 ? "main function" : `function at line ${scope.line}`;
    return this.#lexer.error(`${where} has more than ${limit} ${what}`);
  }

  #hidden(count: number): void {
    for (let i = 0; i < count; i++) this.#scope.active.push(this.#declare("(for)"));
  }

  #variable(name: string): Target {
    const line = this.#lastLine;
    let scope: FunctionScope | undefined = this.#scope;
    while (scope !== undefined) {
      const local = scope.find(name);
      if (local !== undefined) {
        const up = scope !== this.#scope;
        local.used = true;
        if (up) this.#capture(local);
        return { kind: "local", local, up };
      }
      scope = scope.parent;
    }
    return { kind: "global", name, line };
  }

  /** Every function between a use and the declaration holds the variable as an upvalue. */
  #capture(local: Local): void {
    local.captured = true;
    const between: FunctionScope[] = [];
    let within: FunctionScope | undefined = this.#scope;
    for (; within !== undefined && within !== local.owner; within = within.parent) between.push(within);
    for (const scope of between.reverse()) {
      if (scope.upvalues.has(local)) continue;
      if (scope.upvalues.size >= MAX_UPVALUES) throw this.#limit(scope, MAX_UPVALUES, "upvalues");
      scope.upvalues.add(local);
    }
  }

  // Statements

  /** Statements up to what ends a block; the names declared in it go out of sight. */
  #block(): Block {
    const outer = this.#scope.active.length;
    const block = this.#statements();
    this.#scope.active.length = outer;
    return block;
  }

  #statements(): Block {
    const block: Block = [];
    let last = false;
    this.#enter();
    while (!last && !BLOCK_ENDS.has(this.#token.kind)) {
      last = this.#token.kind === "return" || this.#token.kind === "break";
      block.push(this.#statement());
      this.#accept(";");
    }
    this.#leave();
    return block;
  }

  #statement(): Statement {
    const line = this.#lexer.line;
    switch (this.#token.kind) {
      case "if":
        return this.#if(line);
      case "while":
        return this.#while(line);
      case "do": {
        this.#next();
        const block = this.#block();
        this.#close("end", "do", line);
        return { kind: "do", block };
      }
      case "for":
        return this.#for(line);
      case "repeat":
        return this.#repeat(line);
      case "function":
        return this.#functionStatement(line);
      case "local":
        this.#next();
        return this.#accept("function") ? this.#localFunction() : this.#local();
      case "return":
        return this.#return();
      case "break":
        this.#next();
        if (this.#loops === 0) throw this.#error("no loop to break");
        return { kind: "break" };
      default:
        return this.#expressionStatement();
    }
  }

  #loopBlock(): Block {
    this.#loops++;
    const block = this.#block();
    this.#loops--;
    return block;
  }

  #if(line: number): Statement {
    const clauses: { condition: Expression; block: Block }[] = [];
    do {
      this.#next();
      const condition = this.#expression();
      this.#expect("then");
      clauses.push({ condition, block: this.#block() });
    } while (this.#token.kind === "elseif");
    const otherwise = this.#accept("else") ? this.#block() : undefined;
    this.#close("end", "if", line);
    return { kind: "if", clauses, otherwise };
  }

  #while(line: number): Statement {
    this.#next();
    const condition = this.#expression();
    this.#expect("do");
    const block = this.#loopBlock();
    this.#close("end", "while", line);
    return { kind: "while", condition, block };
  }

  #repeat(line: number): Statement {
    this.#next();
    const outer = this.#scope.active.length;
    this.#loops++;
    const block = this.#statements();
    this.#loops--;
    this.#close("until", "repeat", line);
    const condition = this.#expression();
    this.#scope.active.length = outer;
    return { kind: "repeat", block, condition };
  }

  #for(line: number): Statement {
    this.#next();
    const name = this.#name();
    const outer = this.#scope.active.length;
    let statement: Statement;
    if (this.#token.kind === "=") statement = this.#range(name, line);
    else if (this.#token.kind === "," || this.#token.kind === "in") statement = this.#each(name);
    else throw this.#error("'=' or 'in' expected");
    this.#close("end", "for", line);
    this.#scope.active.length = outer;
    return statement;
  }

  #range(name: string, line: number): Statement {
    this.#next();
    this.#hidden(3);
    const local = this.#declare(name);
    const hidden = this.#scope.active.splice(-3);
    const start = this.#expression();
    this.#expect(",");
    const limit = this.#expression();
    const step = this.#accept(",") ? this.#expression() : undefined;
    const doLine = this.#lexer.line;
    this.#expect("do");
    local.stored.push({ kind: "number", value: 1 });
    this.#scope.active.push(...hidden, local);
    const block = this.#loopBlock();
    return { kind: "range", local, start, limit, step, block, line, doLine };
  }

  #each(name: string): Statement {
    this.#hidden(3);
    const locals: [Local, ...Local[]] = [this.#declare(name)];
    while (this.#accept(",")) locals.push(this.#declare(this.#name(), locals.length));
    const hidden = this.#scope.active.splice(-3);
    this.#expect("in");
    const eachLine = this.#lexer.line;
    const values = this.#list();
    this.#expect("do");
    for (const local of locals) local.stored.push(undefined);
    this.#scope.active.push(...hidden, ...locals);
    const block = this.#loopBlock();
    return { kind: "each", locals, values, block, line: eachLine };
  }

  #functionStatement(line: number): Statement {
    this.#next();
    let target: Target = this.#variable(this.#name());
    let method = false;
    while (this.#token.kind === "." || this.#token.kind === ":") {
      method = this.#token.kind === ":";
      this.#next();
      const key: Expression = { kind: "string", value: this.#name() };
      target = { kind: "index", object: target, key, line: this.#lastLine };
      if (method) break;
    }
    const body = this.#body(method, line);
    const value: Expression = { kind: "function", body };
    if (target.kind === "local") {
      target.local.assigned = true;
      target.local.stored.push(undefined);
    }
    return { kind: "assign", targets: [target], values: [value], line };
  }

  #localFunction(): Statement {
    const name = this.#name();
    const local = this.#declare(name);
    this.#scope.active.push(local);
    const body = this.#body(false, this.#lexer.line);
    local.stored.push({ kind: "function", body });
    return { kind: "function", local, body };
  }

  #local(): Statement {
    const locals: Local[] = [];
    do locals.push(this.#declare(this.#name(), locals.length));
    while (this.#accept(","));
    const values = this.#accept("=") ? this.#list() : [];
    locals.forEach((local, i) => {
      const open = isOpen(values.at(-1)) && i >= values.length - 1;
      local.stored.push(open ? undefined : (values[i] ?? { kind: "nil" }));
    });
    this.#scope.active.push(...locals);
    return { kind: "local", locals, values, line: this.#lastLine };
  }

  #return(): Statement {
    this.#next();
    const none = BLOCK_ENDS.has(this.#token.kind) || this.#token.kind === ";";
    const values = none ? [] : this.#list();
    return { kind: "return", values, line: this.#lastLine };
  }

  #expressionStatement(): Statement {
    const expression = this.#suffixed();
    if (expression.kind === "call") return { kind: "call", call: expression };
    return this.#assignment(expression);
  }

  #target(expression: Expression): Target {
    if (expression.kind === "local" || expression.kind === "global" || expression.kind === "index") return expression;
    throw this.#error("syntax error");
  }

  #assignment(first: Expression): Statement {
    const targets: [Target, ...Target[]] = [this.#target(first)];
    while (this.#accept(",")) {
      const next = this.#suffixed();
      const most = this.#maxLevels - this.#levels;
      if (targets.length > most) throw this.#limit(this.#scope, most, "variables in assignment");
      targets.push(this.#target(next));
    }
    this.#expect("=");
    const values = this.#list();
    targets.forEach((one, i) => {
      if (one.kind !== "local") return;
      one.local.assigned = true;
      const open = isOpen(values.at(-1)) && i >= values.length - 1;
      one.local.stored.push(open ? undefined : (values[i] ?? { kind: "nil" }));
    });
    return { kind: "assign", targets, values, line: this.#lastLine };
  }

  // Expressions

  #list(): Expression[] {
    const values = [this.#expression()];
    const outer = this.#registers;
    while (this.#accept(",")) {
      this.#hold();
      values.push(this.#expression());
    }
    if (values.length > 1 && !isOpen(values.at(-1))) this.#hold();
    this.#registers = outer;
    return values;
  }

  /** One more value waits in a register. */
  #hold(): void {
    if (this.#scope.active.length + ++this.#registers >= MAX_REGISTERS) {
      throw this.#error("function or expression too complex");
    }
  }

  #expression(limit = 0): Expression {
    this.#enter();
    let left: Expression;
    const unary: string = this.#token.kind;
    if (unary === "not" || unary === "-" || unary === "#") {
      this.#next();
      const operand = this.#expression(UNARY_PRIORITY);
      left = fold({ kind: "unary", op: unary, operand, line: this.#lastLine });
    } else left = this.#simple();
    let op: string = this.#token.kind;
    while (isOperator(op) && PRIORITY[op][0] > limit) {
      this.#next();
      const right = this.#expression(PRIORITY[op][1]);
      if (op === "and" || op === "or") left = choose(op, left, right);
      else left = fold({ kind: "binary", op, left, right, line: this.#lastLine });
      op = this.#token.kind;
    }
    this.#leave();
    return left;
  }

  #simple(): Expression {
    const { word, number } = this.#token;
    const kind: string = this.#token.kind;
    switch (kind) {
      case "<number>":
        this.#next();
        return { kind: "number", value: number };
      case "<string>":
        this.#next();
        return { kind: "string", value: word };
      case "nil":
      case "true":
      case "false":
        this.#next();
        return { kind };
      case "...":
        if (!this.#scope.vararg) throw this.#error("cannot use '...' outside a vararg function");
        this.#scope.usesVararg = true;
        this.#next();
        return { kind: "vararg" };
      case "{":
        return this.#table();
      case "function":
        this.#next();
        return { kind: "function", body: this.#body(false, this.#lastLine) };
      default:
        return this.#suffixed();
    }
  }

  #suffixed(): Expression {
    let expression = this.#prefix();
    for (;;) {
      switch (this.#token.kind) {
        case ".": {
          this.#next();
          const key: Expression = { kind: "string", value: this.#name() };
          expression = { kind: "index", object: expression, key, line: this.#lastLine };
          break;
        }
        case "[": {
          this.#next();
          const key = this.#expression();
          this.#expect("]");
          expression = { kind: "index", object: expression, key, line: this.#lastLine };
          break;
        }
        case ":": {
          this.#next();
          const method = this.#name();
          expression = this.#call(expression, method);
          break;
        }
        case "(":
        case "{":
        case "<string>":
          expression = this.#call(expression, undefined);
          break;
        default:
          return expression;
      }
    }
  }

  #prefix(): Expression {
    if (this.#token.kind === "<name>") return this.#variable(this.#name());
    if (this.#token.kind !== "(") throw this.#error("unexpected symbol");
    const line = this.#lexer.line;
    this.#next();
    const operand = this.#expression();
    this.#close(")", "(", line);
    // Parentheses make anything a value, to which nothing can be assigned.
    return isOpen(operand) || isTarget(operand) ? { kind: "single", operand } : operand;
  }

  #call(callee: Expression, method: string | undefined): Call {
    const line = this.#lexer.line;
    let args: Expression[] = [];
    const outer = this.#registers;
    this.#registers += method === undefined ? 1 : 2;
    switch (this.#token.kind) {
      case "(":
        if (line !== this.#lastLine) throw this.#error("ambiguous syntax (function call x new statement)");
        this.#next();
        if (this.#token.kind !== ")") args = this.#list();
        this.#close(")", "(", line);
        break;
      case "{":
        args = [this.#table()];
        break;
      case "<string>":
        args = [{ kind: "string", value: this.#token.word }];
        this.#next();
        break;
      default:
        throw this.#error("function arguments expected");
    }
    this.#registers = outer;
    return { kind: "call", callee, method, args, line };
  }

  #table(): Expression {
    const line = this.#lexer.line;
    const items: TableItem[] = [];
    this.#expect("{");
    while (this.#token.kind !== "}") {
      items.push(this.#item());
      if (!this.#accept(",") && !this.#accept(";")) break;
    }
    this.#close("}", "{", line);
    return { kind: "table", items };
  }

  #item(): TableItem {
    if (this.#token.kind === "<name>") {
      this.#ahead = this.#lexer.next();
      if (this.#ahead.kind === "=") {
        const key: Expression = { kind: "string", value: this.#name() };
        this.#next();
        return { key, value: this.#expression(), line: this.#lastLine };
      }
    } else if (this.#token.kind === "[") {
      this.#next();
      const key = this.#expression();
      this.#expect("]");
      this.#expect("=");
      return { key, value: this.#expression(), line: this.#lastLine };
    }
    return { key: undefined, value: this.#expression(), line: this.#lastLine };
  }

  /** Parameters and block of a function, after its name. */
  #body(method: boolean, line: number): FunctionBody {
    const outer = this.#scope;
    const loops = this.#loops;
    const registers = this.#registers;
    this.#loops = 0;
    this.#registers = 0;
    const parameters: Local[] = [];
    let vararg = false;
    this.#expect("(");
    const scope = new FunctionScope(outer, false, line);
    this.#scope = scope;
    if (method) parameters.push(this.#declare("self"));
    if (this.#token.kind !== ")") {
      do {
        if (this.#accept("...")) vararg = true;
        else if (this.#token.kind === "<name>") parameters.push(this.#declare(this.#name(), parameters.length));
        else throw this.#error("<name> or '...' expected");
      } while (!vararg && this.#accept(","));
    }
    for (const parameter of parameters) parameter.stored.push(undefined);
    scope.active.push(...parameters);
    if (vararg) this.#takeVararg(scope);
    this.#expect(")");
    const block = this.#block();
    const endLine = this.#lexer.line;
    this.#close("end", "function", line);
    this.#scope = outer;
    this.#loops = loops;
    this.#registers = registers;
    return { scope, parameters, vararg, block, line, endLine };
  }

  /** A function that takes `...` has a local named `arg`, too. */
  #takeVararg(scope: FunctionScope): void {
    scope.vararg = true;
    scope.arg = this.#declare("arg");
    scope.arg.stored.push(undefined);
    scope.active.push(scope.arg);
  }
}
