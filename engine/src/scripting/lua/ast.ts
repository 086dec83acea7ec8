/**
 * The syntax tree, with names already resolved. `line` is the line that Lua would give the instruction in question, which is
 * what its errors report.
 */
import type { FunctionScope, Local } from "./scope.ts";

export type Expression =
  | { kind: "nil" | "true" | "false" | "vararg" }
  | { kind: "number"; value: number }
  | { kind: "string"; value: string }
  | { kind: "function"; body: FunctionBody }
  /** `up`: seen from a function other than the one that declared it. */
  | { kind: "local"; local: Local; up: boolean }
  | { kind: "global"; name: string; line: number }
  | { kind: "index"; object: Expression; key: Expression; line: number }
  | Call
  | { kind: "binary"; op: BinaryOp; left: Expression; right: Expression; line: number }
  | { kind: "unary"; op: "-" | "not" | "#"; operand: Expression; line: number }
  | { kind: "logic"; op: "and" | "or"; left: Expression; right: Expression }
  /** Parentheses round something with several values: only the first. */
  | { kind: "single"; operand: Expression }
  | { kind: "table"; items: TableItem[] };

export type BinaryOp = "+" | "-" | "*" | "/" | "%" | "^" | ".." | "==" | "~=" | "<" | "<=" | ">" | ">=";

/** `method` is the name after a colon; `callee` then is the object. */
export interface Call {
  kind: "call";
  callee: Expression;
  method: string | undefined;
  args: Expression[];
  line: number;
}

/** Without a key: the next element. */
export interface TableItem {
  key: Expression | undefined;
  value: Expression;
  line: number;
}

export interface FunctionBody {
  scope: FunctionScope;
  parameters: Local[];
  vararg: boolean;
  block: Block;
  /** The lines of `function` and of its `end`. */
  line: number;
  endLine: number;
}

export type Block = Statement[];

export type Target = Extract<Expression, { kind: "local" | "global" | "index" }>;

export type Statement =
  | { kind: "local"; locals: Local[]; values: Expression[]; line: number }
  | { kind: "assign"; targets: [Target, ...Target[]]; values: Expression[]; line: number }
  | { kind: "call"; call: Call }
  | { kind: "do"; block: Block }
  | { kind: "while"; condition: Expression; block: Block }
  | { kind: "repeat"; block: Block; condition: Expression }
  | { kind: "if"; clauses: { condition: Expression; block: Block }[]; otherwise: Block | undefined }
  | {
      kind: "range";
      local: Local;
      start: Expression;
      limit: Expression;
      step: Expression | undefined;
      block: Block;
      line: number;
      doLine: number;
    }
  | { kind: "each"; locals: [Local, ...Local[]]; values: Expression[]; block: Block; line: number }
  | { kind: "function"; local: Local; body: FunctionBody }
  | { kind: "return"; values: Expression[]; line: number }
  | { kind: "break" };

/** Whether an expression may stand for any number of values at the end of a list. */
export function isOpen(expression: Expression | undefined): boolean {
  return expression?.kind === "call" || expression?.kind === "vararg";
}

export function isTarget(expression: Expression): boolean {
  return expression.kind === "local" || expression.kind === "global" || expression.kind === "index";
}
